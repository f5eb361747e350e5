"""What benchmarks, cases and runs show in a notebook: small pictures and tables, with nothing to load."""

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cfgen.records import DIMENSIONS, Rollout, Verdict

if TYPE_CHECKING:
    from cfgen.library.benchmark import BenchmarkCase
    from cfgen.library.runs import RunCase

_WIDTH, _THUMB = 480, 200
_SHOWN = 12


def page(*parts: str) -> str:
    return f'<div style="font-family:sans-serif;max-width:1000px">{"".join(parts)}</div>'


def benchmark(words: str, cases: "Sequence[BenchmarkCase]") -> str:
    shown = "".join(_figure(case.augmented, case.hazard.name, _THUMB) for case in cases[:_SHOWN])
    more = f"<p>and {len(cases) - _SHOWN} more</p>" if len(cases) > _SHOWN else ""
    return page(f"<p>{escape(words)}</p>", shown, more)


def case(shown: "BenchmarkCase") -> str:
    pictures = _figure(shown.original, "original", _WIDTH) + _figure(
        shown.augmented, "with the hazard", _WIDTH
    )
    return page(f"<p>{escape(repr(shown))}</p>", pictures)


def run_case(shown: "RunCase") -> str:
    rows = "".join(
        _answer(arm, repeat, rollout, shown.verdicts.get((arm, repeat)))
        for (arm, repeat), rollout in sorted(
            shown.rollouts.items(), key=lambda item: item[0][0] != "original"
        )
    )
    head = "".join(f"<th>{name}</th>" for name in ("arm", "answer", *DIMENSIONS, "judge"))
    return case(shown.case) + page(f"<table><tr>{head}</tr>{rows}</table>")


def data_url(pixels: np.ndarray, width: int) -> str:
    """A JPEG no wider than ``width`` of (H, W, 3) uint8 RGB."""
    if pixels.shape[1] > width:
        size = (width, round(pixels.shape[0] * width / pixels.shape[1]))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    done, encoded = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])
    assert done
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode()}"


def _figure(pixels: np.ndarray, words: str, width: int) -> str:
    return (
        f'<figure style="display:inline-block;margin:4px"><img alt="" src="{data_url(pixels, width)}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )


def _answer(arm: str, repeat: int, rollout: Rollout, verdict: Verdict | None) -> str:
    said = rollout.text if rollout.status == "ok" else f"failed: {rollout.reason}"
    scores = [verdict.scores.get(name) if verdict else None for name in DIMENSIONS]
    judged = (verdict.explanation or verdict.reason or verdict.status) if verdict else ""
    cells = (
        f"{arm} {repeat}" if repeat else arm,
        said[:400],
        *("-" if score is None else str(score) for score in scores),
        judged[:400],
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
