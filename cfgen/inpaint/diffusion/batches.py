"""Work in batches that shrink when memory runs out."""

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cfgen.core.errors import CfgenError

T = TypeVar("T")
R = TypeVar("R")


class Batches:
    """Remembers how much fits, so that memory runs out once and not in every batch.

    Attributes:
        size: items at a time. asked: the same before memory ran out.
    """

    def __init__(self, size: int) -> None:
        self.asked = self.size = size

    def run(self, items: Sequence[T], work: Callable[[Sequence[T]], Sequence[R]]) -> Iterator[R]:
        """``work`` on every item, in order, at most ``size`` at a time.

        Raises:
            CfgenError: a single item does not fit.
        """
        finished = 0
        while finished < len(items):
            part = items[finished : finished + self.size]
            results = self._try(part, work)
            if results is None:
                self._shrink(len(part))
                continue
            yield from results
            finished += len(part)

    def report(self) -> dict[str, Any]:
        """JSON values for the provenance: nothing unless memory ran out."""
        return {} if self.size == self.asked else {"out_of_memory": {"asked": self.asked, "fits": self.size}}

    def _try(self, part: Sequence[T], work: Callable[[Sequence[T]], Sequence[R]]) -> Sequence[R] | None:
        import torch

        try:
            return work(part)
        except torch.OutOfMemoryError:
            return None  # what the exception holds must be let go of before memory can be

    def _shrink(self, size: int) -> None:
        import torch

        if size == 1:
            raise CfgenError(
                "out of memory with a single image at a time; what is done is kept: free memory or add "
                "offload=model and run it again, or use a smaller resolution in a new --out"
            )
        self.size = size // 2
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
