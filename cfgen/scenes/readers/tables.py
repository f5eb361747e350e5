"""Tables as Hugging Face's datasets keeps them: Parquet files, or a folder that ``save_to_disk`` wrote."""

import itertools
import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import check_no_pipe, read_json, reading
from cfgen.scenes.readers.listing import walk

_AGAIN = "download or save the data set again"


class Shard:
    """One file of rows in the data set ``root``; only what is asked for is read. A Parquet file is open for as long as
    that takes."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self._root = path, root
        self._group: tuple[int, str, Any] = (-1, "", None)

    def _parquet(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self.path)

    @cached_property
    def _arrow(self) -> Any:
        import pyarrow as pa

        with pa.memory_map(str(self.path)) as source:
            head = source.read(6)
        opened = pa.memory_map(str(self.path))
        is_file = head == b"ARROW1"
        return (pa.ipc.open_file(opened) if is_file else pa.ipc.open_stream(opened)).read_all()

    @cached_property
    def schema(self) -> Any:
        with self._reading():
            check_no_pipe(self.path)
            if not self._is_parquet:
                return self._arrow.schema
            with self._parquet() as file:
                return file.schema_arrow

    def column(self, name: str) -> list[Any]:
        """Every value of a column that is small."""
        with self._reading():
            if not self._is_parquet:
                return list(self._arrow[name].to_pylist())
            with self._parquet() as file:
                return list(file.read(columns=[name])[name].to_pylist())

    def value(self, name: str, row: int) -> Any:
        """One value of a column that is large; its neighbours of the same row group are kept for the next call."""
        with self._reading():
            if not self._is_parquet:
                return self._arrow[name][row].as_py()
            group = int(np.searchsorted(self._ends, row, side="right"))
            if self._group[:2] != (group, name):
                with self._parquet() as file:
                    self._group = (group, name, file.read_row_group(group, columns=[name])[name])
            return self._group[2][row - (self._ends[group - 1] if group else 0)].as_py()

    def beside(self, name: str) -> Path:
        """A file that a row names; a table of others does not choose what else of this computer is read.

        Raises:
            InputError: it is not in the data set.
        """
        found = self.path.parent / name
        kept = next(
            (p.parent for p in (self._root, *self._root.parents) if p.name == "snapshots"), self._root
        )
        with self._reading():
            inside = found.resolve().is_relative_to(kept)
        if not inside:  # in the hub's cache, links lead from snapshots/ to blobs/
            raise InputError(
                f"{self.path}: expected images inside the data set {self._root}, found the path '{name[:200]}'; "
                "put the images there, or import the folder that holds both"
            )
        return found

    @cached_property
    def _ends(self) -> list[int]:
        """After how many rows each row group ends."""
        with self._parquet() as file:
            counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return list(itertools.accumulate(counts))

    def image_columns(self) -> list[str]:
        """Columns of pictures, as the data set says or as they look."""
        told = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
        features = (told.get("info") or {}).get("features") or {}
        found = [n for n, kind in features.items() if isinstance(kind, dict) and kind.get("_type") == "Image"]
        looks = [field.name for field in self.schema if str(field.type).startswith("struct<bytes: binary")]
        found = [name for name in found if name in self.schema.names] or looks
        return found or [field.name for field in self.schema if self._names_pictures(field)]

    def _names_pictures(self, field: Any) -> bool:
        """Whether a column of words begins with the path of a picture."""
        if str(field.type) not in ("string", "large_string"):
            return False
        first = next((word for word in self.column(field.name) if word), "")
        return Path(first).suffix.lower() in (".jpg", ".jpeg", ".png")

    @property
    def _is_parquet(self) -> bool:
        return self.path.suffix == ".parquet"

    def _reading(self) -> Any:
        return reading(self.path, "a table (Parquet or Arrow)", _AGAIN)


def shards_of(source: Path, troubles: list[OSError]) -> list[Shard]:
    """The files at or below ``source``, sorted.

    Raises:
        InputError: there are none.
    """
    try:
        import pyarrow  # noqa: F401 - says at once when it is missing
    except ImportError as error:
        raise MissingExtraError("reader 'hugging-face'", "hugging-face", error) from error
    root = (source if source.is_dir() else source.parent).resolve()
    if source.is_file():
        return [Shard(source, root)]
    found = [
        folder / name
        for folder, names in walk(source, troubles)
        for name in names
        if name.endswith(".parquet") or (name.endswith(".arrow") and "state.json" in names)
    ]
    if not found:
        raise InputError(
            f"{source}: expected Parquet files, or a folder that save_to_disk wrote, found none; download the "
            "data set first, nothing is downloaded here"
        )
    return [Shard(path, root) for path in sorted(found)]


def license_of(source: Path) -> str:
    """What dataset_info.json or the card (README.md) says; empty where neither does."""
    folder = source if source.is_dir() else source.parent
    for base in (folder, *folder.parents[:2]):
        if (info := base / "dataset_info.json").is_file() and (said := read_json(info).get("license")):
            return str(said)
        if (card := base / "README.md").is_file():
            parts = card.read_text(encoding="utf-8", errors="replace").split("---", 2)
            with reading(card, "a card that starts with YAML", "mend it, or give --options license="):
                told = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
                if isinstance(told, dict) and told.get("license"):
                    return str(told["license"])
    return ""
