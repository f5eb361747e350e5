"""Containment: what is kept of an exception, and what is never contained."""

import errno
import json
import signal
from asyncio import CancelledError

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InputError, MissingExtraError, StoreError
from cfgen.core.faults import contained, ends_the_run
from cfgen.core.files import png_bytes
from cfgen.core.interrupts import Interrupted, interruptible
from cfgen.records import Fault


def test_a_fault_names_cause_place_and_inputs():
    fault = contained(
        lambda: png_bytes(np.zeros((0, 4), np.uint8)), "the picture", {"seed": 4, "array": np.zeros(2)}
    )
    assert isinstance(fault, Fault)
    assert fault.where == "the picture"
    assert fault.exception == "cv2.error"
    assert fault.frames[-1].startswith("cfgen/core/files.py:")
    assert fault.frames[-1].endswith("in _png")
    assert fault.inputs == {"seed": 4, "array": "array([0., 0.])"}
    assert fault.kind == "cv2.error in cfgen/core/files.py _png"
    json.dumps(fault.model_dump(mode="json")).encode()


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
        (Interrupted(), True),
        (InputError("one bad file"), False),
        (ZeroDivisionError(), False),
        (MemoryError(), False),
        (SystemExit(0), False),
        (GeneratorExit(), True),
        (CancelledError(), True),
    ],
)
def test_what_ends_the_run(error: BaseException, ends: bool):
    assert ends_the_run(error) is ends


def told(raised: BaseException) -> Fault | None:
    """The fault that became of it."""

    def work() -> None:
        raise raised

    return contained(work, "a piece of work")


def test_only_the_users_interrupt_ends_a_run_where_one_can_tell():
    was = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):  # which raises the same
            told(KeyboardInterrupt())
        with interruptible():
            assert told(KeyboardInterrupt()).exception == "KeyboardInterrupt"
            assert told(SystemExit(3)).exception == "SystemExit"
            with pytest.raises(Interrupted) as caught:
                contained(lambda: signal.raise_signal(signal.SIGTERM), "a piece of work")
            assert caught.value.number == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert told(KeyboardInterrupt()).exception == "KeyboardInterrupt"
    finally:
        signal.signal(signal.SIGINT, was)


class WordlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_an_exception_without_words_is_a_fault_too():
    assert told(WordlessError()).exception.endswith("WordlessError")
