"""With which versions something was made, and words that recipes, definitions and exports share."""

from collections.abc import Sequence
from typing import Self

import cv2
import PIL

from cfgen.core.errors import StoreError
from cfgen.records import Case, Record
from cfgen.storage.store import Store
from cfgen.version import __version__

#: so many are named in one message
_NAMED = 3


class MadeWith(Record):
    """Of what decides how pictures are read, drawn and written."""

    cfgen_version: str
    opencv: str
    pillow: str

    @classmethod
    def here(cls) -> Self:
        return cls(
            cfgen_version=__version__,
            opencv=cv2.__version__,
            pillow=PIL.__version__,
        )

    @property
    def words(self) -> str:
        return f"cfgen {self.cfgen_version}, OpenCV {self.opencv} and Pillow {self.pillow}"

    def same_as(self, other: "MadeWith") -> bool:
        """As far as it is told."""
        told = self.model_dump(include={*MadeWith.model_fields})
        return told == {name: getattr(other, name) for name in told}


def accepted(store: Store) -> list[Case]:
    """
    Raises:
        StoreError: there is none.
    """
    if cases := store.cases():
        return cases
    raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")


def first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
