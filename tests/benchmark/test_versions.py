"""A benchmark of another version of cfgen, or with a record that was edited: told before anybody goes on with it."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import cfgen
from cfgen.benchmark.folders import check_settings_match
from cfgen.core.files import write_record
from cfgen.storage.store import MARKER, Store
from cfgen.version import __version__
from tests.benches import build_arguments, copy, run

NEXT = ".".join((*__version__.split(".")[:2], "99"))


@pytest.fixture
def built_by(bench: Path, tmp_path: Path) -> Callable[[str], Path]:
    def made(version: str) -> Path:
        out = copy(bench, tmp_path / version)
        record = Store(out).benchmark
        write_record(out / MARKER, record.model_copy(update={"cfgen_version": version}))
        return out

    return made


def test_a_build_goes_on_by_its_own_version_alone(real: Path, built_by):
    other = built_by("9.9.0")
    before = (other / MARKER).read_bytes()
    code, _, err = run(*build_arguments(real, other))
    assert (code, err.count("\n")) == (2, 1)
    assert f"{other}: was built by cfgen 9.9.0, found cfgen {__version__}" in err
    assert "go on with cfgen 9.9.0, or use another folder" in err
    assert (other / MARKER).read_bytes() == before


def test_a_build_goes_on_by_another_mend_of_its_version(bench: Path):
    found = Store(bench).benchmark
    near = found.model_copy(update={"cfgen_version": NEXT})
    with pytest.warns(UserWarning, match=f"was begun by cfgen {NEXT} and goes on with {__version__}"):
        check_settings_match(bench, near, found)


def asking(out: Path, replies: Path) -> tuple[tuple[object, ...], ...]:
    """Commands that end before anything is asked."""
    replies.write_text(json.dumps({"default": "{}"}))
    return (
        ("score", out, "--planner", "nobody", "--judge", "none"),
        ("judge", "run", out, "--planners", "nobody"),
        (
            "analyze",
            "traces",
            "check",
            out,
            "--planner",
            "nobody",
            "--judge",
            "scripted",
            "--judge-options",
            f"file={replies}",
        ),
    )


def test_whoever_asks_and_judges_is_told_of_both_versions(built_by, tmp_path: Path):
    out = built_by("9.9.0")
    told = f"{out}: was built by cfgen 9.9.0, this is {__version__}: figures may differ"
    for command in asking(out, tmp_path / "replies.json"):
        with warnings.catch_warnings():
            warnings.simplefilter("always")  # one process says each once
            _, _, err = run(*command)
        assert err.count(told) == 1, err


def test_an_edited_record_is_told_at_once(real: Path, bench: Path, tmp_path: Path):
    out = copy(bench, tmp_path / "b")
    record = out / MARKER
    edited = record.read_text().replace(f'"{__version__}"', f'"{NEXT}"')
    record.write_text(edited)
    for command in (build_arguments(real, out), *asking(out, tmp_path / "replies.json")):
        code, _, err = run(*command)
        assert (code, err.count("\n")) == (2, 1), err
        assert f"{record}: content does not match its own sha256" in err
        assert "restore it" in err
    assert record.read_text() == edited


def test_parts_of_two_versions_are_not_merged(bench: Path, built_by, tmp_path: Path):
    with pytest.raises(
        cfgen.CfgenError, match=f"by cfgen {__version__} and .* by cfgen 9.9.0 are of two versions"
    ):
        cfgen.merge(tmp_path / "out", [bench, built_by("9.9.0")])
