"""What benchmarks, cases and runs show in a notebook: small pictures and tables, with nothing to load."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

import cv2
import numpy as np

from cfgen.records import DIMENSIONS, Rollout, Verdict, judged_as

_WIDTH, _THUMB = 480, 200
#: cases of a benchmark
SHOWN = 12


def page(*parts: str) -> str:
    return f'<div style="font-family:sans-serif;max-width:1000px">{"".join(parts)}</div>'


def benchmark(words: str, items: Sequence[tuple[np.ndarray, str]], count: int) -> str:
    """``shown``: the first of ``count`` cases, (H, W, 3) uint8 RGB with a name each."""
    pictures = "".join(_figure(pixels, name, _THUMB) for pixels, name in items)
    rest = f"<p>and {count - len(items)} more</p>" if count > len(items) else ""
    return page(f"<p>{escape(words)}</p>", pictures, rest)


def case(words: str, original: np.ndarray, augmented: np.ndarray) -> str:
    """Two frames, (H, W, 3) uint8 RGB."""
    pictures = _figure(original, "original", _WIDTH) + _figure(augmented, "with the hazard", _WIDTH)
    return page(f"<p>{escape(words)}</p>", pictures)


def answers(rollouts: Mapping[tuple[str, int], Rollout], verdicts: Mapping[tuple[str, int], Verdict]) -> str:
    """By arm and repeat, the original first."""
    rows = "".join(
        _answer(arm, repeat, rollout, verdicts.get((judged_as(arm), repeat)))
        for (arm, repeat), rollout in sorted(rollouts.items(), key=lambda item: item[0][0] != "original")
    )
    head = "".join(f"<th>{name}</th>" for name in ("arm", "answer", *DIMENSIONS, "judge"))
    return page(f"<table><tr>{head}</tr>{rows}</table>")


def data_url(pixels: np.ndarray, width: int) -> str:
    """A JPEG no wider than ``width`` of (H, W, 3) uint8 RGB."""
    if pixels.shape[1] > width:
        size = (width, round(pixels.shape[0] * width / pixels.shape[1]))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    success, encoded = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])
    assert success
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode()}"


def _figure(pixels: np.ndarray, words: str, width: int) -> str:
    return (
        f'<figure style="display:inline-block;margin:4px"><img alt="" src="{data_url(pixels, width)}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )


def _answer(arm: str, repeat: int, rollout: Rollout, verdict: Verdict | None) -> str:
    text = rollout.text if rollout.status == "ok" else f"failed: {rollout.reason}"
    scores = [verdict.scores.get(name) if verdict else None for name in DIMENSIONS]
    judged = (verdict.explanation or verdict.reason or verdict.status) if verdict else ""
    cells = (
        f"{arm} {repeat}" if repeat else arm,
        text[:400],
        *("-" if score is None else str(score) for score in scores),
        judged[:400],
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
