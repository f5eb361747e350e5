"""The first run on a GPU, on tiny weights: every model answers, what is done is kept, what is out of range is told."""

import dataclasses
import json

import pytest

from cfgen.core.files import read_image

pytest.importorskip("diffusers", reason='needs pip install ".[sdxl]"')

from tools import gpu_smoke


@pytest.fixture(autouse=True)
def _the_pipeline_as_it_was(monkeypatch):
    """A tiny run makes it work on small pictures: the next test has it back."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as qwen

    monkeypatch.setattr(qwen, "calculate_dimensions", qwen.calculate_dimensions)


def test_every_model_runs_once_and_a_second_run_takes_what_is_there(tmp_path, capsys, monkeypatch):
    out = tmp_path / "smoke"
    assert gpu_smoke.main(["--tiny", "--out", str(out)]) == 0
    report = (out / "report.md").read_text()
    names = [m.name for m in gpu_smoke.MODELS]
    assert all(f"| {name} | yes |" in report for name in names)
    assert "no GPU" in report
    assert "Tiny random weights" in report
    frame, *pictures = ("composite", *(m.name for m in gpu_smoke.MODELS if m.kind == "painter"))
    assert read_image(out / "sheet.jpg").shape[1] == 324 * (2 + len(pictures))
    looked = json.loads((out / "grounding-dino.json").read_text())["rows"]
    assert [(r["of"], r["picture"]) for r in looked] == [(n, i) for n in (frame, *pictures) for i in (0, 1)]
    monkeypatch.setattr(gpu_smoke, "run_one", lambda *_: pytest.fail("asked again"))
    capsys.readouterr()
    assert gpu_smoke.main(["--tiny", "--out", str(out)]) == 0
    assert capsys.readouterr().out.count("done before") == len(names)

    def broken(*_):
        raise RuntimeError("no memory")

    # another option: this one is asked again, breaks, and leaves the others as they were
    other = dataclasses.replace(gpu_smoke.MODELS[0], options={"model": "another"})
    monkeypatch.setattr(gpu_smoke, "MODELS", (other, *gpu_smoke.MODELS[1:]))
    monkeypatch.setattr(gpu_smoke, "run_one", broken)
    assert gpu_smoke.main(["--tiny", "--out", str(out), "--only", "sdxl,flux2-klein"]) == 1
    report = (out / "report.md").read_text()
    assert "| sdxl | not run |" in report
    assert "| flux2-klein | yes |" in report
    assert "- sdxl: RuntimeError: no memory" in report


def test_what_is_out_of_range_is_named_and_missing_values_are_no_pass():
    model = next(m for m in gpu_smoke.MODELS if m.name == "sdxl")
    row = {"outside": 0, "height": 1.0}
    good = {"rows": [row, row], "seconds": 3.0, "peak_gb": 9.0}
    assert gpu_smoke.faults(model, good, tiny=False) == []
    bad = {"rows": [{"outside": 1, "height": None}, row], "seconds": 99.0}
    assert gpu_smoke.faults(model, bad, tiny=False) == [
        "its picture 0: outside 1, expected 0 to 0",
        "its picture 0: height None, expected 0.75 to 1.25",
        "seconds 99.0, expected 0 to 20",
        "its picture 0: peak_gb None, expected 5 to 16",
        "its picture 1: peak_gb None, expected 5 to 16",
    ]
    assert gpu_smoke.faults(model, bad, tiny=True) == ["its picture 0: outside 1, expected 0 to 0"]


def test_a_run_whose_minutes_are_over_says_what_is_left(tmp_path):
    assert gpu_smoke.main(["--tiny", "--out", str(tmp_path), "--only", "sdxl", "--minutes", "0"]) == 1
    report = (tmp_path / "report.md").read_text()
    assert "| sdxl | not run |" in report
    assert "Not run, or broken off:" in report
    assert "Out of range" not in report
    assert "the 0 minutes are over; run the same command again" in report
    for minutes in ("-1", "nan", "1e9"):
        with pytest.raises(SystemExit):
            gpu_smoke.main(["--tiny", "--out", str(tmp_path), "--minutes", minutes])


def test_a_damaged_result_is_told_and_none(tmp_path, capsys):
    file = tmp_path / "sam2.json"
    kept = gpu_smoke.store(file, {"rows": [{"overlap": 0.7}]}, "key")
    assert gpu_smoke.stored(file, "key") == kept
    assert gpu_smoke.stored(file, "another") is None
    assert capsys.readouterr().out == ""
    for damaged in ('{"garbage', "[]", file.read_text().replace("0.7", "0.9")):
        file.write_text(damaged)
        assert gpu_smoke.stored(file, "key") is None
        assert "is damaged or was changed: it is run again" in capsys.readouterr().out
    (tmp_path / "cut.png").write_bytes(b"\x89PNG")
    assert not gpu_smoke.whole(tmp_path / "cut.png")


def test_without_a_gpu_or_weights_it_ends_with_a_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(gpu_smoke, "sees_gpu", lambda: False)
    with pytest.raises(SystemExit):
        gpu_smoke.main(["--out", str(tmp_path / "out"), "--only", "sam2"])
    assert "expected a GPU that torch can use, found none" in capsys.readouterr().err
    told = gpu_smoke.no_weights("segmenter", {"model": "nobody/nothing", "revision": "0" * 40})
    assert "get them with --download" in told
