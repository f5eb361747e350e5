"""What is added by entry point is found, listed with where it is from, and, when broken, stops nothing else."""

import re
import warnings
from pathlib import Path

import pytest

from cfgen.benchmark.gates import GATES
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.core.registry import Extra, Registry
from cfgen.inpaint.registry import INPAINTERS
from cfgen.judge.registry import JUDGES
from cfgen.judge.rubrics.registry import RUBRICS
from cfgen.metrics.registry import METRICS
from cfgen.models.registry import MODELS
from cfgen.perception.detection import DETECTORS, SEGMENTERS
from cfgen.planners.registry import PLANNERS
from cfgen.reporting.registry import SECTIONS
from cfgen.scenes.readers.registry import READERS
from tests.plugins import install

COMMANDS = {
    "inpainters": INPAINTERS,
    "segmenters": SEGMENTERS,
    "detectors": DETECTORS,
    "rubrics": RUBRICS,
    "gates": GATES,
    "metrics": METRICS,
    "sections": SECTIONS,
    "judges": JUDGES,
    "planners": PLANNERS,
}
ALL = [*COMMANDS.values(), READERS]


@pytest.fixture
def _plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that works and one that breaks on import, of every kind; and names that nobody may take."""
    groups = [registry.group for registry in ALL]
    code = 'def made():\n    """Third words.\n\n    More.\n    """\n'
    install(tmp_path, monkeypatch, "theirs", code, "".join(f"[{g}]\ntheirs = theirs:made\n" for g in groups))
    broken = "".join(f"[{g}]\nbroken = broken_one:made\n" for g in groups)
    install(tmp_path, monkeypatch, "broken_one", "import sys\nsys.exit('no licence')\n", broken)


@pytest.mark.usefixtures("_plugins")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_list_tells_ours_theirs_and_the_broken(command: str, capsys):
    assert main(["list", command]) == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert lines["theirs"] == "theirs theirs 1.0 - Third words."
    assert lines["broken"].startswith("broken broken_one 1.0 broken ")
    assert "failed to import: SystemExit: no licence" in lines["broken"]
    registry = COMMANDS[command]
    assert registry.builtin
    for name in registry.builtin:
        entry = next(e for e in registry.entries() if e.name == name)
        assert " built-in " in lines[name]
        assert entry.summary.endswith((".", ":")), f"{name}: {entry.summary!r}"
        assert f"'{registry.group}'" in out


def test_the_nearest_name_is_offered():
    with pytest.raises(InputError, match=r"'compsite' is not known; .* \(did you mean 'composite'\?\)"):
        INPAINTERS.get("compsite")


@pytest.mark.parametrize("registry", [*ALL, MODELS], ids=lambda r: r.group)
def test_names_are_spelt_alike(registry: Registry):
    assert [n for n in registry.builtin if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", n)] == []


@pytest.mark.usefixtures("_plugins")
def test_one_of_a_list_says_all(capsys):
    for name, words in (
        ("theirs", "    Third words."),
        ("broken", "needs: broken"),
        ("argoverse2", "from: built-in"),
    ):
        assert main(["list", "readers", name]) == 0
        assert words in capsys.readouterr().out
    assert main(["list", "readers", "argovers2"]) == 2
    assert "did you mean 'argoverse2'?" in capsys.readouterr().err


@pytest.mark.usefixtures("_plugins")
@pytest.mark.parametrize("registry", ALL, ids=lambda r: r.group)
def test_a_broken_one_is_warned_of_by_its_name_and_left_out(registry: Registry):
    with pytest.warns(UserWarning, match=f"left out: {registry.kind} plug-in 'broken'"):
        found, broken = registry.load_each()
    assert list(found) == [name for name in registry.ordered() if name != "broken"]
    assert {*registry.builtin, "theirs"} <= set(found)
    assert list(broken) == ["broken"]
    with pytest.raises(InputError, match="fix or uninstall the package that provides it"):
        registry.get("broken")


def test_names_that_cannot_be_taken_are_ignored_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    points = "[cfgen.gates]\nseam = theirs2:made\nup/../here = theirs2:made\n"
    install(tmp_path, monkeypatch, "theirs2", "def made(): ...\n", points)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert GATES.names() == sorted(GATES.builtin)
    said = {str(w.message) for w in seen}
    assert any("'seam' (theirs2:made) has a built-in's name" in words for words in said)
    assert any("'up/../here'" in words and "expected a name of letters" in words for words in said)


def test_what_an_extra_lacks_is_named_by_the_command_that_installs_it():
    extras = {"a": Extra("sam", "no_such_package.inner"), "b": Extra("sam", "json")}
    registry = Registry("thing", "cfgen.things", {"a": "json:loads", "b": "json:dumps"}, extras=extras)
    assert registry.missing_extra("a") == 'pip install ".[sam]" (in your copy of cfgen)'
    assert registry.missing_extra("b") == ""


@pytest.mark.parametrize(
    ("registry", "name", "options", "told"),
    [
        (JUDGES, "openai", {"model": 122}, "'model': expected text, found 122; text .* model='\"122\"'"),
        (MODELS, "gemini", {"model": ["a"]}, r"'model': expected text, found \['a'\]"),
        (MODELS, "openai", {"model": "a", "max_tokens": "many"}, "'max_tokens': expected a whole number"),
        (MODELS, "openai", {"model": "a", "timeout_s": "3s"}, "'timeout_s': expected a number, found '3s'"),
    ],
)
def test_an_option_of_another_kind_is_named(registry: Registry, name: str, options: dict, told: str):
    with pytest.raises(InputError, match=f"^model provider '{name}': option {told}"):
        registry.create(name, options)
