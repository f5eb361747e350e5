"""A build that has just begun, and its workers."""

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager

from cfgen.core.engines.registry import Pool
from cfgen.core.files import remove
from cfgen.storage.store import MARKER, Store


@contextlib.contextmanager
def cleanup_on_failure(pool: AbstractContextManager[Pool], store: Store, existed: bool) -> Iterator[Pool]:
    """The workers; where there can be none, nothing stays of a benchmark that had not ``begun`` before."""
    with contextlib.ExitStack() as stack:
        try:
            workers = stack.enter_context(pool)
        except Exception:
            if not existed and not store.planned:  # nobody else has gone on with it
                remove(store.root / MARKER)
                remove(store.work)
                with contextlib.suppress(OSError):
                    store.root.rmdir()
            raise
        yield workers
