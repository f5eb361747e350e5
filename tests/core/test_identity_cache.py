import numpy as np

from cfgen.core.identity_cache import IdentityCache


def test_an_array_is_worked_on_once_while_it_is_among_the_last():
    made, pictures = [], [np.zeros(1) for _ in range(3)]

    def count(picture: np.ndarray) -> int:
        made.append(picture)
        return len(made)

    cache = IdentityCache(limit=2)
    assert [cache.of(pictures[i], count) for i in (0, 1, 0, 2, 0, 1)] == [1, 2, 1, 3, 1, 4]
