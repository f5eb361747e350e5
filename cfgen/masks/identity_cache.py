"""What was made of the last few pictures, by the very array: a case asks about each of its frames several times."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

#: Pictures kept: the frames of a case.
LIMIT = 8


class IdentityCache:
    """Holds on to the arrays, so that no other one can take their identity; they must not be written to."""

    def __init__(self) -> None:
        self._made: OrderedDict[int, tuple[np.ndarray, Any]] = OrderedDict()

    def of(self, image: np.ndarray, make: Callable[[np.ndarray], Any]) -> Any:
        """What ``make`` made of this array, now or before."""
        key = id(image)
        if key not in self._made:
            self._made[key] = image, make(image)
        self._made.move_to_end(key)
        while len(self._made) > LIMIT:
            self._made.popitem(last=False)
        return self._made[key][1]
