"""Known answers about the edges of a trace: judges probed on them, training sets made of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.core.errors import InputError
from cfgen.core.network import Network, limited
from cfgen.library.arguments import Names, Options, Place, checked, names

if TYPE_CHECKING:
    from cfgen.judge.checker import Checker
    from cfgen.records import EdgeProbe, KnownPool, Relation
    from cfgen.storage.store import Store
    from cfgen.traces.export import Exported


@checked
def probe_traces(
    bench: Place,
    judge: str | None = None,
    *,
    critic: Place | None = None,
    verifier: str | None = None,
    judge_options: Options = None,
    rubric: str = "faithfulness",
    sources: Names = (),
    edges: Names = (),
    per_edge: int = 50,
    seed: int = 0,
    corruptor: str | None = None,
    corruptor_options: Options = None,
    second: str | None = None,
    second_options: Options = None,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Names = (),
    quiet: bool = False,
) -> "tuple[EdgeProbe, KnownPool]":
    """Test a judge of edges, a critic or a verifier on traces whose right verdicts are known.

    Args:
        judge: a model judge. critic: the folder of a local model. verifier: one of ``verified:`` planners. One of them.
        sources: "scripted", planners that were scored, files of answers; empty: scripted and every planner.
        edges: of E1, E2, E2-scene, E3, E4, E5; empty: those that the rubric asks about. per_edge: of either verdict.
        corruptor: a model that also writes corruptions. second: a judge model that confirms what geometry cannot tell.

    Returns:
        The figures and a verdict per trace, which ``traces/<checker>/probes/`` holds too, and the pool of them.

    Raises:
        InputError: no such judge, source or edge, not exactly one of three, or an edge that cannot be balanced.
        Shortfall: the budget is spent. Nothing is written then.
    """
    from cfgen.storage.store import Store
    from cfgen.traces.probe import probe_edges

    root = Path(bench)
    with limited(Network(offline, names(allow_hosts))):
        store = Store(root)
        checker = _checker(store, judge, critic, verifier, judge_options, rubric)
        models = _models(store, corruptor, corruptor_options, second, second_options)
        pool = known_pool(
            store, names(sources), wanted(names(edges), checker.rubric.name), per_edge, seed, models
        )
        return probe_edges(root, checker, pool, quiet, strict), pool


@checked
def export_traces(
    bench: Place,
    out: Place,
    *,
    use: str = "critic",
    sources: Names = (),
    edges: Names = (),
    per_edge: int = 50,
    seed: int = 0,
    corruptor: str | None = None,
    corruptor_options: Options = None,
    second: str | None = None,
    second_options: Options = None,
    allow_licenses: Sequence[str] = (),
    offline: bool = False,
    allow_hosts: Names = (),
) -> "Exported":
    """Known answers as a training set for a critic or for a verifier of plans; see :func:`probe_traces`.

    ``allow_licenses``: licences, word for word, of sources whose owner gave leave to hand on their pictures, or that
    permit it for a set that stays here.

    Raises:
        InputError: as there, ``out`` is there already, a licence forbids it, or a split cannot be balanced.
    """
    from cfgen.storage.store import Store
    from cfgen.traces.export import USES, export_known
    from cfgen.traces.pool import RELATIONS

    chosen = next((one for one in USES if one == use), None)
    if chosen is None:
        raise InputError(f"--for: expected {' or '.join(USES)}, found '{use}'")
    with limited(Network(offline, names(allow_hosts))):
        store = Store(Path(bench))
        models = _models(store, corruptor, corruptor_options, second, second_options)
        if chosen == "verifier":
            relations = wanted(names(edges), "verifier")
        else:
            relations = tuple(r for r in RELATIONS if r in names(edges) or not names(edges))
        if strange := sorted(set(names(edges)) - set(relations)):
            raise InputError(f"edges: expected some of {', '.join(RELATIONS)}, found '{strange[0]}'")
        pool = known_pool(store, names(sources), relations, per_edge, seed, models)
    return export_known(store, pool, Path(out), chosen, tuple(allow_licenses))


def wanted(edges: tuple[str, ...], rubric: str) -> "tuple[Relation, ...]":
    """The relations that were named, or those that a rubric asks about ("verifier": E4 and E5).

    Raises:
        InputError: no such relation, or one that this rubric does not ask about.
    """
    from cfgen.traces.pool import RELATIONS
    from cfgen.traces.probe import asked_of

    asked = tuple(asked_of(rubric)) or ("E4", "E5")
    for edge in edges:
        if edge not in RELATIONS or edge not in asked:
            raise InputError(f"edges: expected some of {', '.join(asked)} (rubric {rubric}), found '{edge}'")
    return tuple(r for r in asked if r in edges or not edges)


def known_pool(
    store: "Store",
    sources: tuple[str, ...],
    relations: "tuple[Relation, ...]",
    per_edge: int,
    seed: int,
    models: Mapping[str, Any] | None = None,
) -> "KnownPool":
    """See :func:`cfgen.traces.pool.build_pool`; ``models``: ``written`` and ``confirm``."""
    from cfgen.traces.pool import build_pool

    models = models or {}
    pool = build_pool(store, sources, per_edge, seed, relations, models.get("confirm"), models.get("written"))
    who = {"second": "confirm", "corruptor": "written"}
    return pool.model_copy(
        update={name: models[key].id for name, key in who.items() if models.get(key) is not None}
    )


def _models(
    store: "Store",
    corruptor: str | None,
    corruptor_options: Options,
    second: str | None,
    second_options: Options,
) -> dict[str, Any]:
    from cfgen.traces.written import Corruptor, SecondModel

    return {
        "written": Corruptor(corruptor, corruptor_options, str(store.reply_cache)) if corruptor else None,
        "confirm": SecondModel(store, second, second_options) if second else None,
    }


def _checker(
    store: "Store",
    judge: str | None,
    critic: Place | None,
    verifier: str | None,
    options: Options,
    rubric: str,
) -> "Checker":
    from cfgen.library.rereading import checker_of
    from cfgen.traces.verifier import VerifierChecker

    given = [
        name
        for name, one in (("judge", judge), ("critic", critic), ("verifier", verifier))
        if one is not None
    ]
    if len(given) != 1:
        raise InputError(
            f"judge: expected one of judge, critic, verifier; found {' and '.join(given) or 'none'}"
        )
    if verifier is not None:
        return VerifierChecker(verifier, options, cache=str(store.reply_cache))
    return checker_of(store.root, judge, critic, options, rubric)
