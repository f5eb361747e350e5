"""``cfgen build --inpainter nano-banana`` on demo scenes: gates, money, interruptions, and no key anywhere."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cfgen.benchmark.frames import frame_file, frame_path
from cfgen.core.files import read_image
from cfgen.core.paths import scenarios_dir
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from tests.benches import kill_when, run, tree
from tests.inpaint.gemini_image.conftest import KEY
from tests.inpaint.gemini_image.fake_images import (
    ImageServer,
    answer_with,
    draw,
    is_critic,
    painted,
)

pytest.importorskip("google.genai")
N = 3
#: One more, and a barrier has a place in each.
SCENES = ("lane_day_01", "residential_clear_04", "residential_day_05", "street_day_02")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    for name in SCENES:
        shutil.copytree(scenarios_dir() / "scenes" / name, folder / name)
    return folder


def arguments(server, scenes, out, *more, n=N, controls="none"):
    # the perceiver is named as commands in processes of their own have another default (tests/conftest.py)
    where = ["--scenes", scenes, "--perception", "colour"]
    fixed = ["build", "--n", n, "--out", out, *where, "--hazards", "work_barrier", "--seed", 6]
    fixed += ["--controls", controls]
    options = [f"base_url={server.url}", "concurrency=2", "batch_size=2"]
    return [
        *fixed,
        "--inpainter",
        "nano-banana",
        *(x for o in options for x in ("--inpainter-options", o)),
        *more,
    ]


def priced(*more):
    return ("--inpainter-options", "usd_image=0.1", *more)


def everything_written(out):
    return b"".join(p.read_bytes() for p in out.rglob("*") if p.is_file())


def test_cases_pass_the_gates_and_the_bill_is_shown(scenes, tmp_path):
    out = tmp_path / "b"
    with ImageServer(lambda r, n: painted(r, n) if is_critic(r) else answer_with(draw(r, tone=5))) as server:
        more = priced("--inpainter-options", "usd_in=1")
        code, said, err = run(*arguments(server, scenes, out, *more, controls="null"))
    assert code == 0, err
    assert f"spent on inpainting so far: {2 * N} requests, {2 * N} pictures" in said
    assert "$0.60" in said
    assert "pictures" in err, "progress shows what it costs"
    spent = json.loads((out / "build.json").read_text())["spent"]
    assert spent == {
        "requests": 2 * N,
        "declined": 0,
        "images": 2 * N,
        "tokens_in": 800 * 2 * N,
        "tokens_out": 1200 * 2 * N,
        "usd": pytest.approx(0.6 + 800 * 2 * N / 1e6),
        "unpriced": 0,
    }
    for case in Store(out).cases():
        folder = Store(out).case_dir(case.case_id)
        original, augmented, mask = (
            read_image(folder / f"{n}.png") for n in ("original", "augmented", "mask")
        )
        assert (original == augmented)[mask == 0].all()
        assert (original != augmented).any(-1).sum() > 300
        assert len(list((folder / "frames" / "hazard").iterdir())) >= 3, "carried to the past frames"
        told = case.provenance.report["inpainter"]
        assert told["calls"][0]["usage"]["usd"] > 0.1
        assert told["residual"]["correlation"] > 0.9
        assert case.provenance.report["arms"]["null"]["calls"]
        # the null edit is redrawn, in all frames, and looks as before
        for frame in load_scene(scenes / case.scene_id).scene.frames:
            redrawn = frame_file(Store(out), case, frame_path("null", "front", frame.t)).read()
            before = read_image(scenes / case.scene_id / frame.image)
            changed = np.abs(redrawn.astype(int) - before).max(2)
            assert (0.001 if frame.t == 0 else 0.0002) < (changed > 0).mean() < 0.3
            assert np.percentile(changed[changed > 0], 99) < 40
        assert set(case.provenance.options) >= {"model", "image_size", "critic_model"}
        assert "base_url" not in json.dumps(case.provenance.options)
    assert run("bench", "verify", out)[0] == 0
    assert KEY.encode() not in everything_written(out) + (said + err).encode()


def test_a_budget_stops_cleanly_and_a_larger_one_goes_on(scenes, tmp_path):
    out = tmp_path / "b"
    with ImageServer() as server:
        code, said, err = run(*arguments(server, scenes, out, *priced("--budget", "0.25", "--quiet")))
        assert code == 1
        assert (
            "2 of 3 cases, the rest is open: inpainter 'nano-banana': the budget is spent (2 requests, "
            in err
        )
        assert "larger --budget" in err
        assert "$0.20" in said
        assert len(Store(out).cases()) == 2
        assert "is planned but missing" in run("bench", "verify", out)[1]
        assert "budget is spent" in json.loads((out / "build.json").read_text())["stopped"]
        before = tree(out, "cases/**/*")
        code, said, _ = run(*arguments(server, scenes, out, *priced("--budget", "$0.35", "--quiet")))
        assert code == 0
        assert "3 requests" in said
    assert len(server.asked) == N
    assert before.items() <= tree(out, "cases/**/*").items()


def test_a_killed_build_goes_on_and_pays_nothing_twice(scenes, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "b"
    with ImageServer() as server:
        assert run(*arguments(server, scenes, whole, "--quiet"))[0] == 0
        needed = len(server.asked)
    kept = ("cases/**/*.png", "benchmark.json", "plan.jsonl", "rejected/**/*")
    with ImageServer(latency=0.4) as server:
        command = [str(a) for a in arguments(server, scenes, out, "--quiet")]
        kill_when(command, lambda: len(list(out.glob("cache/inpaint/*/*.json"))) >= 2)
        paid = len(list(out.glob("cache/inpaint/*/*.json")))
        assert paid >= 2
        server.requests.clear()
        assert run(*command)[0] == 0
        assert len(server.asked) == needed - paid
    assert tree(out, *kept) == tree(whole, *kept)


def test_a_guided_build_sends_the_insert_along(scenes, tmp_path):
    with ImageServer() as server:
        code, _, err = run(*arguments(server, scenes, tmp_path / "b", "--guide", "composite", "--quiet", n=1))
    assert code == 0, err
    parts = server.asked[0].json["contents"][0]["parts"]
    assert sum("inlineData" in p for p in parts) == 2
