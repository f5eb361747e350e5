"""``cfgen build`` and ``cfgen verify``."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.cli.options import (
    Command,
    add_engine,
    add_network,
    add_options,
    add_perception,
    add_taxonomy,
    add_where,
    band,
    dollars,
    names,
    parse_options,
    positive,
)
from cfgen.core.errors import InputError, Shortfall

if TYPE_CHECKING:
    from cfgen.library import Benchmark
    from cfgen.records import BuildReport
    from cfgen.sharing.definitions import Definition

#: Scenes without a case that are named.
_TOLD = 3


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "build", help="make a benchmark: add one hazard to each of N driving scenes"
    )
    parser.add_argument(
        "--definition",
        default="",
        metavar="NAME|FILE",
        help="a frozen benchmark, such as cfgen66-demo-v1: its own options, and every case is held against it; takes "
        "--out, --scenes, --jobs, --engine, --strict, --quiet beside it",
    )
    parser.add_argument("--n", type=positive, default=66, help="accepted cases to end with (default 66)")
    parser.add_argument("--out", type=Path, default=Path("bench"), help="benchmark directory (default bench)")
    parser.add_argument("--scenes", type=Path, help="folder of scenes (default: the demo scenes)")
    _add_choice(parser)
    add_taxonomy(parser)
    parser.add_argument("--hazards", type=names, default=(), metavar="A,B", help="only these hazards")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--inpainter", default="composite", help="composite (default), or another installed one"
    )
    add_options(parser, "--inpainter-option", "inpainter")
    parser.add_argument(
        "--guide",
        default="",
        metavar="composite",
        help="start from this inpainter's insert and repaint it, so that size, pose and place stay exact",
    )
    parser.add_argument(
        "--masks",
        default="",
        metavar="NAME",
        help="segment-anything, sam2, sam3: cut out hazards, what hides them and the road (default: the placement)",
    )
    add_options(parser, "--masks-option", "segmenter")
    parser.add_argument(
        "--detector",
        default="",
        metavar="NAME",
        help="onnx, grounding-dino, sam3: a gate on whether what was asked for is found there",
    )
    add_options(parser, "--detector-option", "detector")
    add_perception(parser)
    parser.add_argument(
        "--decel", type=band, default=(1.5, 6.0), metavar="LOW,HIGH", help="required deceleration, m/s^2"
    )
    parser.add_argument(
        "--controls", type=_controls, default=(), metavar="null,nuisance", help="also make these control arms"
    )
    parser.add_argument(
        "--distances",
        type=_factors,
        default=(),
        metavar="0.7,1.4",
        help="also at these multiples of the distance",
    )
    parser.add_argument("--attempts", type=positive, default=4, help="tries at a case before it is refused")
    parser.add_argument(
        "--budget",
        type=dollars,
        default=0.0,
        metavar="USD",
        help="stop cleanly before the inpainter has cost more, over all builds of this benchmark",
    )
    parser.add_argument("--jobs", type=int, default=0, help="worker processes (default: one a core)")
    add_engine(parser)
    parser.add_argument(
        "--shard",
        default="",
        metavar="I/N",
        help="only the I-th of N parts of a round, in a folder of its own, for machines that share no disk; then: "
        "cfgen merge",
    )
    parser.add_argument(
        "--retry-faults",
        action="store_true",
        help="try again what broke in an earlier build of this directory",
    )
    parser.add_argument(
        "--strict", action="store_true", help="end with the whole traceback at the first thing that breaks"
    )
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=partial(_build, parser))

    parser = subparsers.add_parser("verify", help="re-derive every hash of a benchmark directory")
    parser.add_argument("bench", type=Path)
    parser.set_defaults(func=_verify)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    add_where(parser, "use")
    parser.add_argument(
        "--quota",
        type=_counted(int),
        action="append",
        default=[],
        metavar="TAG=VALUE:N",
        help="so many of the cases from scenes with this tag, or that meet a condition; repeatable",
    )
    parser.add_argument(
        "--weights",
        type=_counted(float),
        action="append",
        default=[],
        metavar="TAG=VALUE:W",
        help="scenes with this tag, or that meet a condition, are drawn W times as often as others; repeatable",
    )


def _counted(number: Callable[[str], float]) -> Callable[[str], tuple[str, float]]:
    def read(text: str) -> tuple[str, float]:
        condition, colon, count = text.rpartition(":")
        try:
            if not colon or not condition.strip():
                raise ValueError
            return condition.strip(), number(count)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"expected tag=value:{number.__name__}, found '{text}'"
            ) from None

    return read


def _controls(text: str) -> tuple[str, ...]:
    chosen = names(text)
    if not set(chosen) <= {"null", "nuisance"}:
        raise argparse.ArgumentTypeError(f"expected null and/or nuisance, found '{text}'")
    return chosen


def _factors(text: str) -> tuple[float, ...]:
    try:
        factors = tuple(float(part) for part in names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 0.7,1.4, found '{text}'") from None
    if not all(0.2 <= factor <= 5 for factor in factors):
        raise argparse.ArgumentTypeError(f"expected factors from 0.2 to 5, found '{text}'")
    return factors


def _build(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    import cfgen

    if arguments.definition:
        return _build_definition(parser, arguments)
    made = cfgen.build(
        arguments.out,
        n=arguments.n,
        seed=arguments.seed,
        scenes=arguments.scenes,
        where=arguments.where,
        quota=dict(arguments.quota),
        weights=dict(arguments.weights),
        taxonomy=arguments.taxonomy,
        taxonomy_only=arguments.taxonomy_only,
        hazards=arguments.hazards,
        inpainter=arguments.inpainter,
        inpainter_options=parse_options(arguments.inpainter_option, "--inpainter-option"),
        guide=arguments.guide,
        masks=arguments.masks,
        masks_options=parse_options(arguments.masks_option, "--masks-option"),
        detector=arguments.detector,
        detector_options=parse_options(arguments.detector_option, "--detector-option"),
        perception=arguments.perception,
        perception_options=parse_options(arguments.perception_option, "--perception-option"),
        decel_band=arguments.decel,
        controls=arguments.controls,
        distances=arguments.distances,
        attempts=arguments.attempts,
        budget=arguments.budget,
        jobs=arguments.jobs,
        engine=arguments.engine,
        engine_options=parse_options(arguments.engine_option, "--engine-option"),
        shard=arguments.shard,
        retry_faults=arguments.retry_faults,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    if made.built:
        _print(made.built, arguments.out)
    missing = Counter(arm for case in made for arm in case.record.arms_missing)
    for arm, count in sorted(missing.items()):
        print(f"\narm '{arm}' is missing in {count} of {len(made)} cases; each case.json says why")
    if made.part_done:
        print(f"\nshard {arguments.shard} is done: {len(made)} cases in {arguments.out}. When all are:")
        print("  cfgen merge OUT SHARD SHARD ...")
        return 0
    if made.shortfall:
        raise Shortfall(made.shortfall)
    print(
        f"\n{len(made)} cases in {arguments.out}{_spread(made)}. Next: score a planner on them, for example"
    )
    print(f"  cfgen score {arguments.out} --planner cruise")
    print(f"  cfgen report {arguments.out}")
    return 0


def _spread(made: "Benchmark") -> str:
    """Where the cases are of fewer scenes than could be: how many gave none of what was tried, and why mostly."""
    scenes, giving = set(made.record.scenes), {case.record.scene_id for case in made}
    if len(giving) >= min(len(made), len(scenes)):
        return ""
    why: dict[str, Counter[str]] = {}
    for refused in made.rejections:
        if refused.scene_id not in giving and not refused.unsuited:
            why.setdefault(refused.scene_id, Counter())[refused.reason] += 1
    told = [
        f"{scene}: {reasons.total()} refused, most often: {reasons.most_common(1)[0][0]}"
        for scene, reasons in sorted(why.items())
    ]
    more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    lost = f"; {len(why)} gave none in the pairs tried ({'; '.join(told[:_TOLD])}{more})" if why else ""
    return f", of {len(giving)} of {len(scenes)} scenes{lost}"


def _build_definition(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.sharing.definitions import definition

    made = definition(arguments.definition)
    kept = (
        "func definition out scenes jobs engine engine_option retry_faults strict offline allow_hosts quiet"
    )
    given = parser.explicit() if isinstance(parser, Command) else {}
    for name, value in given.items():
        if name not in kept.split():
            _check_frozen(made, name, value)
    built = cfgen.build_definition(
        arguments.definition,
        arguments.out,
        scenes=arguments.scenes,
        jobs=arguments.jobs,
        engine=arguments.engine,
        engine_options=parse_options(arguments.engine_option, "--engine-option"),
        retry_faults=arguments.retry_faults,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    if built.built:
        _print(built.built, arguments.out)
    print(f"\n{len(built)} cases in {arguments.out}, each as '{arguments.definition}' tells")
    return 0


def _check_frozen(made: "Definition", name: str, value: Any) -> None:
    """
    Raises:
        InputError: an option that a definition freezes, with another value than it tells.
    """
    flag = f"--{name.replace('_', '-')}"
    if name.endswith("_option"):
        name, value = f"{name}s", parse_options(value, flag)
    frozen = made.options.get({"decel": "decel_band"}.get(name, name))
    value = list(value) if isinstance(value, tuple) else value
    if value != frozen:
        told = f"with {frozen}, found {value}" if frozen is not None else "with its own options"
        raise InputError(f"{flag}: '{made.name}' is frozen {told}; leave it out")


def _print(summary: "BuildReport", out: Path) -> None:
    print(f"road seen by: {summary.perception}\n")
    print("hazard                          accepted  tried")
    for hazard, (accepted, tried) in summary.acceptance.items():
        print(f"{hazard:<32}{accepted:>8}{tried:>7}")
    if summary.reasons:
        print("\nrefused, by reason (numbers as #):")
        for reason, count in summary.reasons.items():
            print(f"{count:>6}  {reason}")
    if summary.unsuited:
        print("\nnot drawn from, for what the scene lacks:")
        for reason, count in summary.unsuited.items():
            print(f"{count:>6}  {reason}")
    if summary.strata:
        _print_strata(summary)
    if summary.faults:
        print(
            "\nfaults: these broke and are no refusals; what was lost was replaced where there were pairs left:"
        )
        for kind in summary.faults:
            print(f"{kind.count:>6}  {kind.kind}, for example in {kind.places[0]}:\n        {kind.example}")
        print(
            f"  each is recorded with what reproduces it below {out}; --strict ends at the first with its "
            "traceback, --retry-faults tries lost pairs again"
        )
    if summary.spent:
        from cfgen.models.ledger import in_words

        print(f"\nspent on inpainting so far: {in_words(summary.spent)}")
    for scene, fault in summary.unusable_scenes.items():
        print(f"cfgen: warning: scene {scene} left out: {fault}", file=sys.stderr)
    if summary.undrawable:
        print(f"\nleft out, this inpainter has no model for them: {', '.join(summary.undrawable)}")


def _print_strata(summary: "BuildReport") -> None:
    print("\nscenes that match       drawn   tried  with a case   cases  of   stratum")
    for row in summary.strata:
        print(
            f"{row.scenes:>19} {row.drawn:>11} {row.tried:>7} {row.with_case:>12} {row.cases:>7} {row.wanted:>3}   "
            f"{row.condition}"
        )


def _verify(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.verify(arguments.bench)
    for fault in found.faults:
        print(fault)
    if found.unfinished:
        print(f"{arguments.bench}: {found.unfinished}")
    if found.faults:
        raise Shortfall(f"{len(found.faults)} faults in {found.files_checked} files")
    print(f"{arguments.bench}: {found.files_checked} files, all as cfgen wrote them")
    return 0
