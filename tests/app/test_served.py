"""What the app serves over HTTP: frames of the benchmark by their address, and no other file by any spelling."""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("gradio", reason="serving needs gradio: pip install 'cfgen-bench[app]'")

from cfgen.app.api import Api
from cfgen.app.server import serve
from tests.app.asking import ask
from tests.app.asking_http import Browser, Reply, send

SECRET = b"SECRET-7f3a"


@pytest.fixture(scope="module")
def api(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Api:
    root = shutil.copytree(scored, tmp_path_factory.mktemp("served") / "b")
    api = Api(root)
    refused = api.store.cases()[-1].case_id
    ask(api, "decide", id=refused, decision="reject", reason="SECRET-7f3a")
    token = ask(api, "rate_progress")["tokens"][0]
    scores = dict.fromkeys(("reasoning", "waypoints", "overall"), 1)
    ask(api, "rate", token=token, scores=scores, note="SECRET-7f3a")
    (root.parent / "outside.png").write_bytes(SECRET)
    case = api.store.case_dir(api.store.cases()[0].case_id)
    (case / "frames" / "linked.png").symlink_to(root.parent / "outside.png")
    (case / "frames" / "record.png").symlink_to(case / "case.json")
    (api.store.scene_dir(api.store.cases()[0].scene_id) / "linked.png").symlink_to("/etc/hostname")
    return api


@pytest.fixture(scope="module")
def url(api: Api):
    app = serve(api, port=0, block=False)
    yield app.local_url
    app.close()


@lru_cache(maxsize=4)
def anna(url: str) -> Browser:
    return Browser(url, "anna").begin()


def get(url: str, target: str, method: str = "GET") -> Reply:
    return send(url, target, method, cookie=anna(url).cookie)


def test_frames_are_served_as_the_files_are(api: Api, url: str) -> None:
    case = api.store.cases()[0]
    item = ask(api, "item", id=case.case_id)
    status, data, headers = get(url, "/" + item["augmented"])
    assert status == 200
    assert data == (api.store.case_dir(case.case_id) / "augmented.png").read_bytes()
    assert headers["content-type"] == "image/png"
    assert headers["x-content-type-options"] == "nosniff"
    shown = [item["original"], *(f[k] for f in item["strip"] for k in ("path", "original"))]
    shown.append(ask(api, "scene", scene=case.scene_id)["frame"])
    assert {get(url, "/" + address)[0] for address in shown} == {200}


def spellings(api: Api) -> list[str]:
    """Requests for everything in the benchmark that is no shown frame, and for files beside it."""
    root = api.store.root.resolve()
    case = api.store.cases()[0]
    folder = api.store.case_dir(case.case_id).resolve()
    up = "/".join(8 * [".."])
    kinds = ("*.json", "cases/*/*/*.json", "rejected/*/*.json", "runs/*/*/*.json", "verdicts/*/*/*/*.json")
    kinds += ("ratings/*/*/*.json", "reviews/*/*.json", "scenes/*/*.json")
    wanted = [next(root.glob(pattern)) for pattern in kinds]
    wanted += [root.parent / "outside.png", folder / "mask.png", folder / "layer.png", Path("/etc/hostname")]
    names = [
        "case.json",
        "frames/../case.json",
        "frames/linked.png",
        "frames/record.png",
        "frames/../mask.png",
        "mask.png",
        "layer.png",
        "../" + case.case_id + "/case.json",
        f"../../../../{root.parent.name}/outside.png",
        "original.png/../case.json",
        "original.png\0.json",
        "frames",
        "",
    ]
    asked = [f"/picture/case/{case.case_id}/{name}" for name in names]
    asked += [f"/picture/case/{case.case_id}/{quote(name, safe='')}" for name in names]
    asked += [f"/picture/case/{case.case_id}/{name.replace('..', '%2e%2e')}" for name in names]
    asked += [f"/picture/case/{case.case_id}/{name.replace('..', '%252e%252e')}" for name in names]
    asked += [
        f"/picture/scene/{case.scene_id}/{name}"
        for name in ("scene.json", "linked.png", "../../benchmark.json")
    ]
    for owner in ("..", "%2e%2e", "..%2f..", ".", "x"):
        asked += [
            f"/picture/{kind}/{owner}/benchmark.json" for kind in ("case", "scene", "rate", "runs", "..")
        ]
    for path in wanted:
        inside = os.path.relpath(path, root)
        asked += [
            f"/gradio_api/file={quote(str(path))}",
            f"/gradio_api/file/{quote(str(path))}",
            f"/gradio_api/file={quote(str(root / 'cases' / '..' / inside))}",
            f"/picture/case/{case.case_id}/{quote(str(path))}",
            f"/picture/case/{case.case_id}/{up}{quote(str(path))}",
            f"/picture/case/{case.case_id}/frames/{up.replace('..', '%2e%2e')}{quote(str(path))}",
            f"/picture/scene/{case.scene_id}/{quote(inside, safe='')}",
            f"/{quote(inside)}",
            f"/static/{up}{quote(str(path))}",
            f"/assets/{up.replace('..', '%2e%2e')}{quote(str(path))}",
        ]
    return [target.replace("\0", "%00").replace(" ", "%20") for target in asked]


def test_no_other_file_is_served_by_any_spelling(api: Api, url: str) -> None:
    told = [SECRET, b"taxonomy_hash", b"waypoints", b'"case_id"', Path("/etc/hostname").read_bytes()]
    page = get(url, "/")[1]
    for target in spellings(api):
        status, data, headers = get(url, target)
        kind = headers.get("content-type", "")
        assert status >= 300 or data == page or kind.startswith("text/html"), target
        assert not [word for word in told if word in data], target
        assert not kind.startswith("image/"), target


def test_nothing_is_taken_in_or_fetched_from_elsewhere(url: str) -> None:
    for target in ("upload", "file=http://127.0.0.1:1/x", "proxy=http://127.0.0.1:1/x"):
        for method in ("GET", "POST"):
            status, data, _ = get(url, f"/gradio_api/{target}", method)
            assert (status, data) == (404, b"not here"), target


def test_a_rater_sees_frames_under_addresses_that_tell_nothing(api: Api, url: str) -> None:
    for token in ask(api, "rate_progress")["tokens"]:
        question = ask(api, "rate_question", token=token)
        before, after = (get(url, "/" + question[k])[1] for k in ("original", "augmented"))
        assert before != after
        assert not [c.case_id for c in api.store.cases() if c.case_id in question["augmented"]]
    assert get(url, f"/picture/rate/{token}/case.json")[0] == 404
    assert get(url, f"/picture/rate/{token}/../after")[0] == 404
    assert get(url, "/picture/rate/nothing/after")[0] == 404


def test_with_only_the_rating_room_open_nothing_names_a_hazard(api: Api) -> None:
    alone = Api(api.store.root, rooms=("rate",))
    case = api.store.cases()[0]
    for do, fields in (("item", {"id": case.case_id}), ("queue", {}), ("scenes", {})):
        assert "which is nothing" in alone.call({"do": do, "name": "anna", **fields})["error"]
    app = serve(alone, port=0, block=False)
    try:
        assert get(app.local_url, f"/picture/case/{case.case_id}/augmented.png")[0] == 404
        question = ask(alone, "rate_question", token=ask(alone, "rate_progress")["tokens"][0])
        assert get(app.local_url, "/" + question["augmented"])[0] == 200
        page = get(app.local_url, "/")[1].decode()
        assert "Rate" in page
        assert "room-curate" not in page
    finally:
        app.close()
