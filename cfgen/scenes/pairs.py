"""Real obstacles matched with clear frames: a folder with pairs.json and two or three scene folders for each pair."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_json, write_bytes
from cfgen.core.record import Record
from cfgen.records import Size
from cfgen.records.base import Identifier

PAIRS_FILE = "pairs.json"


class Pair(Record):
    """A real obstacle in the road, and the same or a like road without it.

    Attributes:
        clear, obstacle: scene folders, relative to that of pairs.json; front cameras of one and the same make. The
            motion is the obstacle scene's in both.
        control: another clear scene, held against ``clear`` as the obstacle is: what planners make of two frames that
            differ and show no obstacle; "" for none.
        hazard: its class: id of a hazard of the taxonomy, or the name of a cluster.
        box_px: x0, y0, x1, y1 around it in the obstacle scene's front frame.
        distance_m: to it along x in the ego frame; None takes the ground under the middle of the box's lower edge.
        size: None takes the box at that distance, as deep as it is wide.
    """

    id: Identifier
    clear: str
    obstacle: str
    control: str = ""
    hazard: str = Field(min_length=1)
    box_px: tuple[float, float, float, float]
    distance_m: float | None = Field(default=None, gt=0)
    size: Size | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        x0, y0, x1, y1 = self.box_px
        if not (x0 < x1 and y0 < y1):
            raise ValueError(f"box_px: expected x0 < x1 and y0 < y1, found {list(self.box_px)}")
        for path in (self.clear, self.obstacle, self.control):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"expected scene folders inside the folder of the pairs, found '{path}'")
        return self


class PairsFile(Record):
    """``pairs.json``; written by hand, or by a reader."""

    schema_version: Literal[1] = 1
    name: Identifier
    source: str = ""
    license: str = ""
    pairs: tuple[Pair, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unlike(self) -> Self:
        ids = [pair.id for pair in self.pairs]
        if twice := next((one for one in ids if ids.count(one) > 1), None):
            raise ValueError(f"pairs: id '{twice}' is there twice")
        return self


def load_pairs(folder: Path) -> PairsFile:
    """
    Raises:
        InputError: no pairs.json, or one that does not read as such; names file and field.
    """
    path = folder / PAIRS_FILE
    try:
        return PairsFile.model_validate(read_json(path))
    except StoreError as error:
        raise InputError(f"{error}; docs/validity.md has the format") from error
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}; docs/validity.md has the format") from error


def write_pairs(folder: Path, pairs: PairsFile) -> None:
    """``pairs.json`` in ``folder``."""
    write_bytes(folder / PAIRS_FILE, (pairs.model_dump_json(indent=1) + "\n").encode())
