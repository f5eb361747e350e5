"""``cfgen export`` and ``cfgen rebuild``."""

import argparse
from pathlib import Path

from cfgen.cli.options import add_allowed_licences


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("export", help="share a benchmark or a result: data set, recipe, bundle")
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)

    hf = kinds.add_parser(
        "hf", help="image folder for Hugging Face datasets, with card and Croissant metadata"
    )
    hf.add_argument("bench", type=Path)
    hf.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder")
    hf.add_argument("--name", help="of the data set (default: the folder's)")
    hf.add_argument("--creator", default="", help="who publishes it")
    hf.add_argument("--url", default="", help="where it is published")
    add_allowed_licences(hf)
    hf.add_argument(
        "--notice",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a source's licence or notice file, handed on word for word; repeatable",
    )
    _quiet(hf).set_defaults(func=_hf)

    recipe = kinds.add_parser("recipe", help="what is ours alone, without a pixel of the sources")
    recipe.add_argument("bench", type=Path)
    recipe.add_argument("--out", type=Path, required=True, metavar="FILE", help="new file")
    _quiet(recipe).set_defaults(func=_recipe)

    frozen = kinds.add_parser(
        "definition", help="how it was built and what came of it, for 'build --definition'"
    )
    frozen.add_argument("bench", type=Path)
    frozen.add_argument("--name", required=True, help="with its version, such as cfgen66-demo-v1")
    frozen.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="new file")
    frozen.set_defaults(func=_definition)

    bundle = kinds.add_parser(
        "bundle", help="a planner's answers and verdicts, to check, judge again and rank"
    )
    bundle.add_argument("bench", type=Path)
    bundle.add_argument("--planner", required=True, metavar="NAME", help="one that was scored there")
    bundle.add_argument("--judge", default="offline", metavar="NAME", help="who judged it (default offline)")
    bundle.add_argument("--rubric", metavar="FILE", help="its wording, where that is a file of your own")
    bundle.add_argument("--out", type=Path, required=True, metavar="FILE", help="new file")
    bundle.set_defaults(func=_bundle)

    parser = subparsers.add_parser(
        "rebuild", help="a recipe and your copy of its scenes into the identical benchmark"
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--scenes", type=Path, required=True, metavar="DIR", help="your copy of the scenes")
    parser.add_argument("--out", type=Path, required=True, metavar="BENCH", help="new benchmark directory")
    _quiet(parser).set_defaults(func=_rebuild)


def _quiet(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser


def _hf(arguments: argparse.Namespace) -> int:
    import cfgen

    given = arguments
    n = cfgen.export_hf(
        given.bench,
        given.out,
        name=given.name,
        creator=given.creator,
        url=given.url,
        allow_licenses=given.allow_license,
        notices=given.notice,
        quiet=given.quiet,
    )
    print(f"{n} cases in {given.out}; look at its README.md, then load it:")
    print(f'  datasets.load_dataset("{given.out}", split="test")')
    return 0


def _recipe(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.export_recipe(arguments.bench, arguments.out, quiet=arguments.quiet)
    size = arguments.out.stat().st_size / 1e6
    print(f"{arguments.out}: {size:.1f} MB, no pixel of the sources; all files together {found}")
    print(f"  cfgen rebuild {arguments.out} --scenes THEIR_COPY --out bench")
    return 0


def _definition(arguments: argparse.Namespace) -> int:
    import cfgen

    n = cfgen.export_definition(arguments.bench, arguments.out, name=arguments.name)
    print(
        f"{arguments.out}: '{arguments.name}', {n} cases; whoever builds it: cfgen build --definition {arguments.out}"
    )
    return 0


def _bundle(arguments: argparse.Namespace) -> int:
    import cfgen

    given = arguments
    found = cfgen.export_bundle(
        given.bench, given.out, planner=given.planner, judge=given.judge, rubric=given.rubric
    )
    size = given.out.stat().st_size / 1e6
    print(f"{given.out}: {size:.2f} MB, no pixel; cases, as on a leaderboard, {found}")
    print(f"  cfgen leaderboard add BOARD {given.out}")
    return 0


def _rebuild(arguments: argparse.Namespace) -> int:
    import cfgen

    made = cfgen.rebuild(arguments.recipe, scenes=arguments.scenes, out=arguments.out, quiet=arguments.quiet)
    print(f"{len(made)} cases in {arguments.out}, each file the same as the recipe tells")
    return 0
