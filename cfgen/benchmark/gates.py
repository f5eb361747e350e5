"""Every gate on an edit: ours, then the detector's, then third parties' by name."""

from collections.abc import Callable, Mapping

import numpy as np

from cfgen.benchmark.quality_gates import GateInput
from cfgen.core.errors import InputError
from cfgen.core.registry import Registry
from cfgen.records import GateResult

#: What a gate says of an edit; None where it does not apply.
Gate = Callable[[GateInput], GateResult | None]

GATES = Registry(
    "gate",
    "cfgen.gates",
    {
        "outside-mask": "cfgen.benchmark.quality_gates:outside_mask",
        "seam": "cfgen.benchmark.quality_gates:seam",
        "visibility": "cfgen.benchmark.quality_gates:visibility",
        "contrast": "cfgen.benchmark.quality_gates:contrast",
        "base": "cfgen.benchmark.quality_gates:base",
        "height": "cfgen.benchmark.height:height",
        "seen-again": "cfgen.benchmark.seen_again:seen_again",
        "scale-beside": "cfgen.benchmark.scale_beside:scale_beside",
    },
)


class GateError(Exception):
    """A third party's gate broke, or answered with something else: the edit can neither pass nor be refused."""


def extra_gates() -> dict[str, str]:
    """Third parties' gates that can be run here, by name: whose they are. A broken one is warned of and left out."""
    loaded, _ = GATES.load_each()
    return {name: GATES.source(name) for name in loaded if name not in GATES.builtin}


def own_gates() -> dict[str, Gate]:
    """Ours, in their order."""
    return {name: GATES.get(name) for name in GATES.builtin}


def load_gates(sources: Mapping[str, str]) -> dict[str, Gate]:
    """The third parties' gates that a benchmark was begun with.

    Raises:
        InputError: one of them is not installed here, cannot be imported, or is another version of it.
    """
    gates = {}
    for name, source in sources.items():
        gates[name] = GATES.get(name)
        if GATES.source(name) != source:
            raise InputError(
                f"gate '{name}': the benchmark was built with that of {source}, found {GATES.source(name)}; "
                "install that one"
            )
    return gates


def read_only(array: np.ndarray) -> np.ndarray:
    """The same values, so that no gate changes what is stored."""
    view = array.view()
    view.flags.writeable = False
    return view


def run_gates(edit: GateInput, gates: Mapping[str, Gate]) -> tuple[GateResult, ...]:
    """What each gate that applies says, under its registered name.

    Raises:
        GateError: one broke, or returned something else than a result.
    """
    results = []
    for name, gate in gates.items():
        try:
            result = gate(edit)
        except Exception as error:
            raise GateError(f"gate '{name}': {error!r}") from error
        if result is not None and not isinstance(result, GateResult):
            raise GateError(f"gate '{name}': expected a GateResult or None, found {result!r}"[:300])
        if result is not None:
            results.append(result.model_copy(update={"gate": name}))
    return tuple(results)
