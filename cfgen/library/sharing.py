"""A benchmark out into the world: as a data set, as a recipe, and from a recipe back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.library.arguments import Place, checked

if TYPE_CHECKING:
    from cfgen.library.benchmark import Benchmark


@checked
def export_hf(
    bench: Place,
    out: Place,
    *,
    name: str | None = None,
    creator: str = "",
    url: str = "",
    allow_licenses: Sequence[str] = (),
    notices: Sequence[Place] = (),
    quiet: bool = False,
) -> int:
    """The benchmark as an image folder for ``datasets.load_dataset``, with card and Croissant; returns its cases.

    Args:
        name: of the data set; None takes that of the folder ``out``. creator, url: told in the card.
        allow_licenses: licences, word for word, of sources whose owner gave leave to hand on their pictures.
        notices: licence files of the sources, handed on word for word in ``NOTICE.md``.

    Raises:
        InputError: ``out`` is there already, or a licence forbids it.
        StoreError: no benchmark, no case in it, or a changed file.
    """
    from cfgen.core.plain import one_line
    from cfgen.sharing.card import Publication
    from cfgen.sharing.dataset import export_dataset
    from cfgen.storage.store import Store

    named, creator, url = map(one_line, (name or Path(out).name, creator, url))
    publication = Publication(named, creator, url, tuple(Path(notice) for notice in notices))
    return export_dataset(Store(Path(bench)), Path(out), publication, tuple(allow_licenses), quiet)


@checked
def export_recipe(bench: Place, out: Place, *, quiet: bool = False) -> str:
    """What is ours alone of a benchmark, in one file without a pixel of its sources; returns the benchmark's hash.

    Raises:
        InputError: ``out`` is there already.
        StoreError: no benchmark, no case in it, or a changed file.
    """
    from cfgen.sharing.recipe import export_recipe as export
    from cfgen.storage.store import Store

    return export(Store(Path(bench)), Path(out), quiet).benchmark_hash


@checked
def rebuild(recipe: Place, *, scenes: Place, out: Place, quiet: bool = False) -> "Benchmark":
    """The identical benchmark from a recipe and a copy of its scenes, proved by hash.

    Raises:
        InputError: no recipe, or scenes that are missing or changed: each is named.
        StoreError: ``out`` holds files, or what was made is not what the recipe tells of.
    """
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing.recipe import rebuild as rebuild_recipe

    return Benchmark(rebuild_recipe(Path(recipe), Path(scenes), Path(out), quiet).out)


@checked
def export_definition(bench: Place, out: Place, *, name: str) -> int:
    """How a finished benchmark was built and what came of it, for :func:`build_definition`; returns its cases.

    Raises:
        InputError: ``out`` is there already, or the benchmark holds own hazards.
        StoreError: no benchmark, or one that is not finished.
    """
    from cfgen.sharing.definitions import freeze
    from cfgen.storage.store import Store

    return len(freeze(Store(Path(bench)), name, Path(out)).cases)


@checked
def build_definition(
    name: str | Path,
    out: Place,
    *,
    scenes: Place | None = None,
    jobs: int = 0,
    engine: str = "",
    engine_options: Mapping[str, Any] | None = None,
    retry_faults: bool = False,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Sequence[str] = (),
    quiet: bool = False,
) -> "Benchmark":
    """Build a frozen benchmark, such as ``cfgen66-demo-v1``, and hold every case against its definition.

    Raises:
        InputError: no such definition, or its scenes are missing or changed: each is named.
        Shortfall: what came of it is not what the definition tells.
    """
    from cfgen.build import BuildOptions
    from cfgen.library.benchmark import Benchmark
    from cfgen.sharing import definitions

    folder = None if scenes is None else Path(scenes)
    options = BuildOptions(
        Path(out),
        scenes=folder,
        jobs=jobs,
        engine=engine,
        engine_options=dict(engine_options or {}),
        retry_faults=retry_faults,
        strict=strict,
        offline=offline,
        allow_hosts=tuple(allow_hosts),
        quiet=quiet,
    )
    definitions.build_definition(definitions.definition(str(name)), options)
    return Benchmark(Path(out))
