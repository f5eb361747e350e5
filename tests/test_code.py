"""The code keeps the house rules: lint, format, types, no import cycles."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)],
    ids=" ".join,
)
def test_tools_are_content(command: tuple[str, ...]):
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _imports(path: Path, package: str) -> set[str]:
    """Modules of cfgen that a file imports, anywhere in it, for types too."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
    return {module for module in modules if module.startswith(f"{package}.")}


def test_no_two_subpackages_import_each_other():
    """Data flows one way: nothing that a subpackage reaches through imports leads back to it."""
    package = ROOT / "cfgen"
    arrows: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        source = path.relative_to(package).with_suffix("").parts[0]
        goals = {module.split(".")[1] for module in _imports(path, "cfgen")} - {source}
        is_part = [g for g in goals if (package / g).is_dir() or (package / f"{g}.py").is_file()]
        arrows.setdefault(source, set()).update(is_part)
    del arrows["__init__"]
    order = graphlib.TopologicalSorter(arrows)
    assert len(list(order.static_order())) > 20  # CycleError names the circle


def test_no_two_classes_share_a_name():
    """A name in a message or a traceback says which class it is; a planner's client stands alone, outside cfgen."""
    package = ROOT / "cfgen"
    files: dict[str, list[str]] = {}
    for path in set(package.rglob("*.py")) - {package / "planners" / "client.py"}:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(path.relative_to(package)))
    assert {name: where for name, where in files.items() if len(where) > 1} == {}
