"""Inpainters by name."""

from collections.abc import Mapping
from typing import Any

from cfgen.errors import InputError
from cfgen.inpaint.protocol import Inpainter
from cfgen.registry import Registry

INPAINTERS = Registry(
    "inpainter",
    "cfgen.inpainters",
    {
        "composite": "cfgen.inpaint.composite:Composite",
        "pathtrace": "cfgen.inpaint.pathtrace:PathTrace",
    },
)


def create_inpainter(name: str, options: Mapping[str, Any] | None = None) -> Inpainter:
    """An inpainter with its options.

    Raises:
        InputError: unknown name, or an option that it does not take.
    """
    factory = INPAINTERS.get(name)
    try:
        return factory(**(options or {}))
    except TypeError as error:
        raise InputError(f"inpainter '{name}': {error}; check its options") from error
