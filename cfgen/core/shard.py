"""``--shard I/N``: the I-th of N parts."""

from cfgen.core.errors import InputError


def shard_of(text: str) -> tuple[int, int] | None:
    """ "2/8" is (2, 8): the second of eight parts; "" is None.

    Raises:
        InputError: something else.
    """
    if not text:
        return None
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise InputError(f"--shard: expected I/N with 1 <= I <= N, such as 2/8, found '{text}'")
    return int(index), int(count)
