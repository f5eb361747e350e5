"""What was made of the last few pictures, by the very array: a case asks about each of its frames several times."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

#: Pictures kept: the frames of a case.
LIMIT = 8


class IdentityCache:
    """Holds on to the arrays, so that no other one can take their identity; they must not be written to."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._made: OrderedDict[int, tuple[np.ndarray, Any]] = OrderedDict()

    def of(self, image: np.ndarray, make: Callable[[np.ndarray], Any]) -> Any:
        """What ``make`` made of this array, now or before."""
        key = id(image)
        entry = self._made.pop(key, None) or (image, make(image))
        self._made[key] = entry
        while len(self._made) > self._limit:
            self._made.popitem(last=False)
        return entry[1]
