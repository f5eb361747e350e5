"""Containment: what is kept of an exception, and what is never contained."""

import errno
import json

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InputError, MissingExtraError, StoreError
from cfgen.core.faults import contained, ends_the_run
from cfgen.core.files import png_bytes
from cfgen.records import Fault


def test_a_result_comes_back_as_it_is():
    assert contained(lambda: 3, "three") == 3


def test_a_fault_names_cause_place_and_inputs():
    fault = contained(
        lambda: png_bytes(np.zeros((0, 4), np.uint8)), "the picture", {"seed": 4, "array": np.zeros(2)}
    )
    assert isinstance(fault, Fault)
    assert fault.where == "the picture"
    assert fault.exception == "cv2.error"
    assert fault.frames[-1].startswith("cfgen/core/files.py:")
    assert fault.frames[-1].endswith("in png_bytes")
    assert fault.inputs == {"seed": 4, "array": "array([0., 0.])"}
    assert fault.kind == "cv2.error in cfgen/core/files.py png_bytes"
    json.dumps(fault.model_dump(mode="json")).encode()


def test_text_that_is_no_unicode_is_kept_visibly():
    def fail() -> None:
        raise ValueError("a lone \ud83d here")

    fault = contained(fail, "x", {"text": "\ud83d"})
    assert isinstance(fault, Fault)
    assert "\\ud83d" in fault.message
    json.dumps(fault.model_dump(mode="json"), ensure_ascii=False).encode()


def test_strict_lets_everything_through():
    with pytest.raises(cv2.error):
        contained(lambda: cv2.perspectiveTransform(np.zeros((0, 2)), np.eye(3)), "x", strict=True)


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.ENOENT, "none"), False),
        (StoreError("full"), True),
        (MissingExtraError("x", "sdxl", ImportError(name="torch")), True),
        (KeyboardInterrupt(), True),
        (InputError("one bad file"), False),
        (ZeroDivisionError(), False),
        (MemoryError(), False),
    ],
)
def test_what_ends_the_run(error: BaseException, ends: bool):
    assert ends_the_run(error) is ends
