"""What tokens and orders are drawn with: random, and kept with the benchmark."""

import secrets

from cfgen.storage.store import Store

_BYTES = 32


def secret_of(store: Store) -> bytes:
    """Drawn once for a benchmark; without it tokens cannot be told from random, so names known do not help."""
    path = store.work / "rating.key"
    with store.held("rating-key"):
        if not path.is_file() or path.stat().st_size != _BYTES:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(secrets.token_bytes(_BYTES))
        return path.read_bytes()
