"""Options that every diffusers inpainter takes, checked before anything is loaded."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from cfgen.core.errors import InputError
from cfgen.core.record import Record

O = TypeVar("O", bound="Options")  # noqa: E741 - options
Steps = Annotated[int, Field(ge=1, le=1000)]
Guidance = Annotated[float, Field(ge=0, le=100)]


class Options(Record):
    """What can be said with ``--inpainter-option KEY=VALUE``; each model adds its own defaults."""

    #: a name on the Hub or a folder in diffusers' layout
    model: str
    #: branch, tag or commit on the Hub, and the variant of the weights there, e.g. fp16
    revision: str = ""
    variant: str = ""
    #: auto: a GPU where there is one, bfloat16 on it and float32 elsewhere
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    steps: Steps
    guidance: Guidance
    #: share of the noise where nothing guides the edit
    strength: float = Field(default=0.99, gt=0, le=1)
    #: the same where a guide does, for every hazard; None: each as its taxonomy says
    repaint: float | None = Field(default=None, gt=0, le=1)
    #: added to the hazard's own
    negative_prompt: str = ""
    #: the model paints about this squared pixels
    resolution: int = Field(default=1024, ge=32, le=4096)
    #: images at a time; halved when memory runs out
    batch_size: int = Field(default=4, ge=1, le=256)
    #: a file, a folder, or a name on the Hub; a file in the latter two follows a colon
    lora: str = ""
    lora_weight: float = 1.0
    #: what lies in main memory while another part works: whole models, or layer by layer
    offload: Literal["none", "model", "sequential"] = "none"
    compile: bool = False


def read_options(inpainter: str, kind: type[O], values: Mapping[str, Any]) -> O:
    """The options with their defaults.

    Raises:
        InputError: an unknown option, or a value out of range.
    """
    for name in values:
        if name not in kind.model_fields:
            near = difflib.get_close_matches(name, list(kind.model_fields), n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise InputError(
                f"inpainter '{inpainter}': unknown option '{name}'{hint}; expected one of: "
                f"{', '.join(kind.model_fields)}"
            )
    try:
        options = kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"inpainter '{inpainter}': option {'.'.join(map(str, first['loc']))}: "
            f"{first['msg'][:1].lower()}{first['msg'][1:]}, found {first['input']!r}"
        ) from error
    return options


def steps_short(steps: int, strength: float) -> str:
    """Why there is nothing to do, in one line; "" when there is."""
    if int(steps * strength) >= 1:
        return ""
    return f"{steps} steps at strength {strength:g} come to less than one; use steps={int(1 / strength) + 1} or more"
