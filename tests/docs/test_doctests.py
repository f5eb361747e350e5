"""Examples in docstrings run, one after the other in one folder, and every public function has one."""

import doctest
import importlib
import inspect
import warnings
from pathlib import Path

import pytest

import cfgen

PACKAGE = Path(cfgen.__file__).parent

#: what makes the files that the examples after it read
FIRST = (
    "build", "score", "report", "export_recipe", "export_bundle", "add_bundles", "write_leaderboard", "rejudge_entries",
    "rerun_planner",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _in_a_folder_of_its_own(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.chdir(tmp_path_factory.mktemp("examples"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    patch.undo()


def public_functions() -> list[str]:
    names = [name for name in cfgen.__all__ if inspect.isfunction(getattr(cfgen, name))]
    return [*FIRST, *(name for name in names if name not in FIRST)]


@pytest.mark.parametrize("name", public_functions())
def test_the_example_of_a_public_function_runs(name: str):
    doc = getattr(cfgen, name).__doc__
    example = doctest.DocTestParser().get_doctest(doc, {"cfgen": cfgen}, name, None, 0)
    assert example.examples, f"cfgen.{name} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


@pytest.mark.parametrize("path", sorted(p for p in PACKAGE.rglob("*.py") if ">>>" in p.read_text()), ids=str)
def test_the_examples_of_other_modules_run(path: Path):
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if "library" not in module:  # they run above, in their order
        assert doctest.testmod(importlib.import_module(module)).failed == 0
