"""cfgen: counterfactual hazards for driving planners that explain themselves.

    bench = cfgen.build("bench", n=66, scenes="drives", seed=7)
    run = cfgen.score(bench, planner=MyPlanner())
    print(run.table())
    cfgen.report(bench, out="page")

Names are loaded when they are first used.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cfgen.version import __version__

if TYPE_CHECKING:
    from cfgen.core.errors import CfgenError, InputError, Shortfall, ShortfallWarning, StoreError
    from cfgen.library import (
        anonymize_scenes,
        build,
        calibrate,
        check_scenes,
        export_inputs,
        import_scenes,
        judge_answers,
        merge,
        open_benchmark,
        probe,
        report,
        rescore,
        score,
        try_picture,
        verify,
    )
    from cfgen.library.analysis import compare, stability, study
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.library.cases import BenchmarkCase
    from cfgen.library.comparison import Comparison
    from cfgen.library.run_experiment import run
    from cfgen.library.sharing import (
        add_bundles,
        export_bundle,
        export_definition,
        export_hf,
        export_recipe,
        open_board,
        rebuild,
        rejudge_entries,
        rerun_planner,
        write_leaderboard,
    )
    from cfgen.library.traces import check_traces, export_traces, probe_traces
    from cfgen.planners.protocol import Observation, Planner, Requirements, Response

__all__ = [
    "Benchmark",
    "BenchmarkCase",
    "CfgenError",
    "Comparison",
    "InputError",
    "Observation",
    "Planner",
    "Requirements",
    "Response",
    "Run",
    "Shortfall",
    "ShortfallWarning",
    "StoreError",
    "__version__",
    "add_bundles",
    "anonymize_scenes",
    "build",
    "calibrate",
    "check_scenes",
    "check_traces",
    "compare",
    "export_bundle",
    "export_definition",
    "export_hf",
    "export_inputs",
    "export_recipe",
    "export_traces",
    "import_scenes",
    "judge_answers",
    "merge",
    "open_benchmark",
    "open_board",
    "probe",
    "probe_traces",
    "rebuild",
    "rejudge_entries",
    "report",
    "rerun_planner",
    "rescore",
    "run",
    "score",
    "stability",
    "study",
    "try_picture",
    "verify",
    "write_leaderboard",
]

_HOMES = {
    "Benchmark": "cfgen.library.benchmark",
    "BenchmarkCase": "cfgen.library.cases",
    "CfgenError": "cfgen.core.errors",
    "Comparison": "cfgen.library.comparison",
    "InputError": "cfgen.core.errors",
    "Observation": "cfgen.planners.protocol",
    "Planner": "cfgen.planners.protocol",
    "Requirements": "cfgen.planners.protocol",
    "Response": "cfgen.planners.protocol",
    "Run": "cfgen.library.benchmark",
    "Shortfall": "cfgen.core.errors",
    "ShortfallWarning": "cfgen.core.errors",
    "StoreError": "cfgen.core.errors",
    "add_bundles": "cfgen.library.sharing",
    "export_bundle": "cfgen.library.sharing",
    "export_definition": "cfgen.library.sharing",
    "export_hf": "cfgen.library.sharing",
    "export_recipe": "cfgen.library.sharing",
    "open_board": "cfgen.library.sharing",
    "rebuild": "cfgen.library.sharing",
    "rejudge_entries": "cfgen.library.sharing",
    "rerun_planner": "cfgen.library.sharing",
    "write_leaderboard": "cfgen.library.sharing",
    "compare": "cfgen.library.analysis",
    "stability": "cfgen.library.analysis",
    "study": "cfgen.library.analysis",
    "check_traces": "cfgen.library.traces",
    "export_traces": "cfgen.library.traces",
    "probe_traces": "cfgen.library.traces",
    "run": "cfgen.library.run_experiment",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cfgen' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES.get(name, "cfgen.library")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Library(ModuleType):
    # ``build``, ``score``, ``report`` and ``verify`` are also modules of this package. Python makes a module that is
    # imported an attribute of its package; here the function keeps the name, whichever is asked for first. The module
    # is reached by ``from cfgen.build import check_build``, as ever.
    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library
