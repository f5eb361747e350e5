"""Within the library nothing imports in a circle, not for types alone either."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "cfgen" / "library"


def imported(file: Path) -> set[str]:
    """Modules of the library that ``file`` imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cfgen.library"):
            inside = (node.module or "").removeprefix("cfgen.library").removeprefix(".")
            found |= {inside} if inside else {alias.name for alias in node.names}
    return {name for name in found if (LIBRARY / f"{name}.py").is_file()}


def test_no_circle():
    # the package itself is the door to all of them: its functions import what they need when they are called
    graph = {file.stem: imported(file) for file in LIBRARY.glob("*.py") if file.stem != "__init__"}
    assert len(graph) >= 6
    assert "benchmark" in graph["comparison"]
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError where there is one
    assert order.index("cases") < order.index("benchmark") < order.index("execution")
