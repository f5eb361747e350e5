"""A training set of known answers, and a critic that is trained on it: a tiny model, end to end."""

import importlib.util
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cfgen
from cfgen.core.errors import InputError
from cfgen.records import KnownPool
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.faithfulness import traces_section
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.storage.store import Store
from cfgen.traces.export import Example, by_recording, export_known, split
from cfgen.traces.known_traces import build_pool
from tests.reporting.bench import make_bench

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def _undrawn() -> Iterator[None]:
    """Without plots: what is drawn is told apart elsewhere."""
    blank = np.zeros((8, 8, 3), np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("bev", "speed_plot"):
            patch.setattr(f"cfgen.judge.rubrics.trace.{name}", lambda points: blank)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_bench(tmp_path_factory.mktemp("export") / "b", 8, {}, arms=("hazard",))


@pytest.fixture(scope="module")
def pool(store: Store) -> KnownPool:
    return build_pool(store, per_edge=6, seed=1, relations=("E3", "E4"))


@pytest.fixture(scope="module")
def data(store: Store, pool: KnownPool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "data"
    export_known(store, pool, out, allowed=["unknown"])
    return out


def rows(data: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (data / f"{name}.jsonl").read_text().splitlines()]


def test_split_by_drive_balanced_and_without_a_leak(data: Path, pool: KnownPool):
    train, test = rows(data, "train"), rows(data, "test")
    assert {r["drive"] for r in train}.isdisjoint(r["drive"] for r in test)
    for side in (train, test):
        counts = Counter((r["edge"], r["verdict"]) for r in side)
        for edge in {r["edge"] for r in side}:
            assert counts[edge, "CONSISTENT"] == counts[edge, "INCONSISTENT"] > 0
    words = [{r["messages"][0]["content"][-1]["text"] for r in side} for side in (train, test)]
    assert words[0].isdisjoint(words[1])
    assert len(train) > len(test) > 0
    card = (data / "README.md").read_text()
    assert f"| train | {len(train)} |" in card
    assert "unknown (" in card, "licences are named"


def scene_of(extra: dict, at: Path) -> SceneFolder:
    loaded = load_scene(at)
    return replace(loaded, scene=loaded.scene.model_copy(update={"extra": extra}))


@pytest.mark.parametrize(
    ("extra", "recordings"),
    [
        (
            lambda name: {"t0_log_s": 5.0 * int(name[5:])},
            1,
        ),  # moments of a log that has no name but its source
        (lambda name: {"drive": f"run{int(name[5:]) // 4}", "t0_in_drive_s": 30.0 * int(name[5:])}, 2),
        (lambda name: {}, None),  # as many scenes as the pool holds traces of
    ],
)
def test_one_recording_is_one_drive(
    store: Store, pool: KnownPool, monkeypatch, extra, recordings: int | None
):
    monkeypatch.setattr("cfgen.traces.export.load_scene", lambda at: scene_of(extra(at.name), at))
    expected = recordings or len({k.case_id for k in pool.traces})
    assert len({k.drive for k in by_recording(store, pool).traces}) == expected


def test_a_donor_of_the_other_split_is_dropped(pool: KnownPool):
    """Every trace carries words of every other drive: none can be kept, and that is said."""
    known = [k.model_copy(update={"provenance": {"donor": "elsewhere"}}) for k in pool.traces]
    dropped = Counter[str]()
    found = split([Example(k, r, v) for k in known for r, v in k.edges.items()], 0, dropped)
    assert found == {"train": [], "test": []}
    assert dropped["its donor is in the other split, or in none"] == sum(len(k.edges) for k in known)


def test_rows_are_chats_with_pictures_and_one_verdict(data: Path):
    for row in rows(data, "train"):
        user, model = row["messages"]
        assert [part["type"] for part in user["content"]].count("image") == len(row["images"]) == 3
        assert all((data / name).is_file() for name in row["images"])
        assert model["content"] == [{"type": "text", "text": f"<verdict>{row['verdict']}</verdict>"}]
        assert row["kind"] not in user["content"][-1]["text"]


def train_critic() -> ModuleType:
    pytest.importorskip("peft", reason='needs pip install ".[local]" peft')
    spec = importlib.util.spec_from_file_location("train_critic", ROOT / "examples" / "train_critic.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_cannot_be_exported_leaves_nothing(store: Store, pool: KnownPool, data: Path, tmp_path: Path):
    with pytest.raises(InputError, match="is there already"):
        export_known(store, pool, data)
    first = pool.traces[0].case_id
    one = pool.model_copy(update={"traces": tuple(k for k in pool.traces if k.case_id == first)})
    with pytest.raises(InputError, match="two drives or more, found 1"):
        export_known(store, one, tmp_path / "one", allowed=["unknown"])
    assert not (tmp_path / "one").exists()
    own = make_bench(tmp_path / "b", 2, {}, arms=("hazard",))
    path = own.scene_dir("scene0") / "scene.json"
    scene = json.loads(path.read_text())
    path.write_text(json.dumps({**scene, "license": "NVIDIA Autonomous Vehicle Dataset License"}))
    with pytest.raises(InputError, match=r"found 'NVIDIA.* \(1 scenes of .*which forbid it"):
        cfgen.export_traces(own.root, tmp_path / "y", per_edge=4, edges="E4")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b"]


def test_a_critic_is_trained_and_its_probe_says_something_else(store: Store, data: Path, tmp_path: Path):
    """The loss falls, the whole model loads, and the probes before and after stay side by side.

    It calls everything inconsistent at first; trained on consistent traces alone, it calls everything consistent.
    """
    module = train_critic()
    from tests.tiny_models import tiny_llava

    base, trained, one_sided = tiny_llava(tmp_path / "base"), tmp_path / "trained", tmp_path / "data"
    one_sided.mkdir()
    (one_sided / "images").symlink_to(data / "images")
    for name in ("train", "test"):
        kept = [json.dumps(row) for row in rows(data, name) if row["verdict"] == "CONSISTENT"]
        (one_sided / f"{name}.jsonl").write_text("\n".join(kept))
    given = f"{one_sided} --model {base} --out {trained} --steps 10 --batch 1 --lr 0.02 --device cpu"
    losses = module.main(given.split())
    assert np.mean(losses[-2:]) < np.mean(losses[:2]) / 2, "random letters at first, then a verdict"
    probe = partial(cfgen.probe_traces, store.root, edges="E4", per_edge=2, quiet=True)
    before, after = (probe(critic=path)[0] for path in (base, trained))
    assert before.model != after.model, "weights have a fingerprint"
    assert (before.pool, before.failed, after.failed) == (after.pool, 0, 0)
    assert (before.edges["E4"].false_consistent, before.edges["E4"].false_inconsistent) == (0, 2)
    assert (after.edges["E4"].false_consistent, after.edges["E4"].false_inconsistent) == (2, 0)
    assert max(v.probabilities["E4"] for v in before.verdicts) < 0.5
    assert min(v.probabilities["E4"] for v in after.verdicts) > 0.5
    table = next(t for t in traces_section(read_report_data(store)).tables if t.name == "edge-probes")
    assert {row[0] for row in table.rows} == {"critic-base", "critic-trained"}
