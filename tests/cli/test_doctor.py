"""``cfgen doctor``: what is here and what is missing, and no key's value."""

import importlib.metadata

import pytest

from cfgen.cli.main import main
from cfgen.core import machine


def told(capsys) -> str:
    assert main(["doctor"]) == 0
    return capsys.readouterr().out


def test_keys_are_told_present_and_never_what_they_are(monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    out = told(capsys)
    assert "OPENAI_API_KEY  set, for openai" in out
    assert "GEMINI_API_KEY  not set, for gemini" in out
    assert "secret" not in out


def test_what_is_missing_or_of_another_version_is_named_with_what_it_is_for(monkeypatch, capsys):
    real = importlib.metadata.version

    def other(name: str) -> str:
        if name == "gradio":
            raise importlib.metadata.PackageNotFoundError(name)
        return "2.4.0" if name == "openai" else real(name)

    monkeypatch.setattr(importlib.metadata, "version", other)
    lines = {line.split()[0]: line for line in told(capsys).splitlines() if line.startswith("  ")}
    assert "no: gradio missing | for cfgen app" in lines["app"]
    assert 'pip install ".[app]" (in your copy of cfgen)' in lines["app"]
    assert "openai 2.4.0, expected <4,>=3.54" in lines["openai"]
    assert " numpy 2." in lines["base"]


def test_model_files_are_there_or_to_be_had_by_a_command(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("CFGEN_MODELS", str(tmp_path))
    out = told(capsys)
    assert f"model files in {tmp_path}" in out
    assert "cfgen models get twinlitenet" in out


def test_folders_that_are_set_but_not_there_are_told(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("CFGEN_MODELS", str(tmp_path))
    lines = {line.split()[0]: line for line in told(capsys).splitlines() if line.startswith("  ")}
    assert "set, but nothing is there: set it to what is, for weights of hubs" in lines["HF_HOME"]
    assert "set, for model files" in lines["CFGEN_MODELS"]


def test_places_that_are_of_another_kind_are_told(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    (tmp_path / "twinlitenet.onnx").mkdir()
    monkeypatch.setenv("HF_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("CFGEN_MODELS", str(tmp_path))
    lines = {line.split()[0]: line for line in told(capsys).splitlines() if line.startswith("  ")}
    assert "set, but a file is there, no folder: set it to what is, for weights" in lines["HF_HOME"]
    assert "broken: a folder is in its place" in lines["twinlitenet"]


def test_gpus_are_those_that_the_driver_names(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "generative inpainting and local models want one" in told(capsys)
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, Card of Ours, 24564 MiB, 23000 MiB, 550.1'\n")
    program.chmod(0o755)
    assert "Card of Ours, 24564 MiB" in told(capsys)
    program.write_text("#!/bin/sh\nexit 9\n")
    assert machine.gpus() == []


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [("2.4.6", ">=1.26,<3", True), ("3.0.0", ">=1.26,<3", False), ("1.9", "<3,>=1.26", False),
     ("2.12.0+cu126", ">=2.12,<3", True), ("", ">=1", False)],
)  # fmt: skip
def test_a_version_is_held_against_its_range(found, wanted, fits):
    assert machine.Package("x", wanted, found).fits is fits


def test_every_extra_of_the_package_has_a_purpose_here():
    ours = {"dev", "docs"}  # for building cfgen
    extras = set(importlib.metadata.metadata(machine.DISTRIBUTION).get_all("Provides-Extra") or [])
    assert extras - ours == set(machine.PURPOSES)


def test_a_model_file_that_was_cut_short_is_told_as_broken(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CFGEN_MODELS", str(tmp_path))
    (tmp_path / "twinlitenet.onnx").write_bytes(b"garbage")
    assert main(["doctor"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("twinlitenet")]
    assert len(lines) == 1
    assert "broken: another size" in lines[0]
    assert "cfgen models get twinlitenet" in lines[0]
