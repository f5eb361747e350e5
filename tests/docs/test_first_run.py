"""The commands of docs/first-run.md, in their order, on a video made of demo scenes: each ends well and says what the
page shows."""

import re
import shlex
import shutil
import threading
from pathlib import Path

import pytest

from cfgen.storage.store import Store
from tests.benches import run
from tests.docs.dashcam import dashcam
from tools import tiny_server

pytest.importorskip("openai", reason='needs pip install ".[openai]"')
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "first-run.md").read_text()
#: What the page does in a terminal, or in a browser, and other tests do.
ELSEWHERE = ("python3.11 -m venv", "pip install", "python ../cfgen/tools/tiny_server.py", "cfgen app", "cp ")


@pytest.fixture
def address():
    server = tiny_server.serve()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_every_command_of_the_page_ends_well(tmp_path, monkeypatch, address):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    dashcam(tmp_path / "dash.mp4")
    shutil.copy(ROOT / "docs" / "examples" / "my_planner.py", tmp_path)
    said = ""
    commands = re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE)
    asked = [c for c in commands if not c.startswith(ELSEWHERE)]
    assert len(asked) == len(commands) - len(ELSEWHERE) == 11
    for command in asked:
        words = shlex.split(command.replace("localhost:8000", address))
        assert words.pop(0) == "cfgen"
        code, out, err = run(*words)
        # too few cases to test a judge on: the page says so
        assert code == ("judge validate" in command), (command, out, err)
        said += out + err
    for line in (
        "4 scenes written to drives, 0 were there already",
        "4 scenes: 0 without fault, 4 with warnings, 0 unusable",
        "answers are stored, none was judged",
        "Too little to call the judge tested",
        "tiny-random: 4 scored",
        "bench: 125 files, all as cfgen wrote them",
        "my_planner.Careful: 20 answers, 0 failed",
        "my_planner.Careful: 4 cases are too few for a rate, which takes 10: build more with cfgen build --n.",
    ):
        assert line in said
        assert line in re.sub(r"\n(> )?", " ", PAGE)
    cases = Store(tmp_path / "bench").cases()
    assert len(cases) == 4
    assert all(case.scene_id.startswith("dash_") for case in cases)
    assert (tmp_path / "bench-report" / "index.html").is_file()


def test_the_random_model_answers_in_the_tags_it_is_asked_for_and_looks_at_the_pictures():
    model = tiny_server.TinyRandom()
    words = "Write <thinking></thinking> and <element_type>words</element_type> <overall_score>0 or 1</overall_score>"
    pictures = [tiny_server.np.full((8, 8, 3), level, "uint8") for level in range(0, 256, 15)]
    found = {model.answer([picture], words) for picture in pictures}
    assert len(found) > 1
    assert all(
        re.fullmatch(r"<element_type>.*</element_type>\n<overall_score>[012]</overall_score>", f)
        for f in found
    )
    assert model.answer(pictures[:1], words) == model.answer(pictures[:1], words)
