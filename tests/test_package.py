"""What the two archives hold, and what the distribution says of itself."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import cfgen
from cfgen.core.errors import install_command

hatchling = pytest.importorskip("hatchling.builders.wheel", reason='needs pip install ".[dev]"')
ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def sdist() -> set[str]:
    from hatchling.builders.sdist import SdistBuilder

    return _files(SdistBuilder(str(ROOT)))


@pytest.fixture(scope="module")
def wheel() -> set[str]:
    return _files(hatchling.WheelBuilder(str(ROOT)))


def _files(builder) -> set[str]:
    """The paths in the archive, without packing 50 MB."""
    with builder.config.set_build_data({"artifacts": [], "force_include": {}, "build_hooks": ()}):
        return {Path(one.distribution_path).as_posix() for one in builder.recurse_included_files()}


def test_from_the_sdist_all_commands_of_the_pages_work(sdist: set[str]):
    needed = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "constraints.txt", "pyproject.toml"}
    assert needed <= sdist | {"pyproject.toml"}
    for folder in ("cfgen", "tests", "docs", "benchmarks", "tools", "scenarios"):
        there = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts
        }
        there.discard("docs/commands.md")  # written by docs/conf.py whenever the pages are built
        assert {path for path in there if not Path(path).name.startswith(".")} <= sdist


def test_the_wheel_brings_what_a_build_needs_and_nothing_else(wheel: set[str]):
    for path in (
        "cfgen/py.typed",
        "cfgen/planners/template/pyproject.toml.txt",
        "cfgen/planners/openapi.yaml",
        "cfgen/perception/weights/road_net.onnx",
        "cfgen/perception/weights/road_net.json",
        "cfgen/reporting/assets/page.html",
        "cfgen/_scenarios/scene.schema.json",
        "cfgen/_scenarios/taxonomy/debris.yaml",
        "cfgen/_scenarios/scenes/rural_day_01/frame.jpg",
    ):
        assert path in wheel
    assert {path.split("/")[0] for path in wheel} == {"cfgen"}
    assert {p.relative_to(ROOT).as_posix() for p in (ROOT / "cfgen").rglob("*.py")} <= wheel


def test_the_version_is_in_one_place():
    assert "version" in PROJECT["dynamic"]
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    assert ProjectMetadata(str(ROOT), PluginManager()).version == cfgen.__version__


def test_every_extra_that_a_message_names_is_there():
    extras = set(PROJECT["optional-dependencies"])
    assert install_command("app").startswith('pip install ".[app]"')
    named = {
        node.args[1].value
        for path in (ROOT / "cfgen").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MissingExtraError"
        if isinstance(node.args[1], ast.Constant)
    }
    assert len(named) > 3
    assert named <= extras


def test_dev_names_every_extra():
    extras = PROJECT["optional-dependencies"]
    everything = next(one for one in extras["dev"] if one.startswith(PROJECT["name"]))
    inherited = set(everything.split("[")[1].rstrip("]").split(","))
    assert set(extras) - inherited - {"dev", "app"} == set()
    assert set(extras["app"]) <= set(extras["dev"])


def test_pins_cover_the_dependencies_and_name_no_index():
    pins = (ROOT / "constraints.txt").read_text()
    assert "://" not in pins
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins.splitlines() if "==" in line}
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["docs"]]
    assert {one.split(">")[0].lower() for one in wanted} <= pinned


def test_the_python_that_runs_here_is_one_that_is_named():
    named = {c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if "Python :: 3." in c}
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in named
