"""What tools/gpu_smoke.py hands over: a contact sheet, and a page to attach to an issue."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.files import read_image
from cfgen.inpaint.edit import EditJob
from tools.gpu_smoke_pictures import picture, window

#: Side of a picture on the sheet and height of the words over it, pixels.
_SIDE, _BAR = 320, 24
#: Colours of the placement's box and of the detector's.
_PLACED, _FOUND = (255, 220, 0), (0, 255, 120)


def sheet(out: Path, made: Sequence[EditJob], names: Sequence[str], results: Mapping[str, Any]) -> Path:
    """A row for each crop: the frame itself, the compositor's insert, what each painter made of it."""
    seen = {(r["of"], r["picture"]): r for r in results.get("grounding-dino", {}).get("rows", [])}
    rows = []
    for number, job in enumerate(made):
        part = window(job)
        tiles = [_tile(job.images[job.scene.front.name, 0.0][part], "frame")]
        for name in names:
            crop = read_image(picture(out, name, number))[part].copy()
            found = seen.get((name, number), {})
            x0, y0, x1, y1 = job.placement.box_px
            box = (x0 - part[1].start, y0 - part[0].start, x1 - part[1].start, y1 - part[0].start)
            _corners(crop, box)
            words = name
            if "box" in found:
                _rectangle(crop, found["box"], _FOUND)
                words += f"  seen {found['score']:.2f}"
            tiles.append(_tile(crop, words))
        rows.append(np.hstack(tiles))
    path = out / "sheet.jpg"
    cv2.imwrite(str(path), np.vstack(rows)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 92])
    return path


def _rectangle(image: np.ndarray, box: Sequence[float], colour: tuple[int, int, int]) -> None:
    x0, y0, x1, y1 = (round(v) for v in box)
    cv2.rectangle(image, (x0, y0), (x1, y1), colour, 1)


def _corners(image: np.ndarray, box: Sequence[float]) -> None:
    """The placement's box by its corners, which hide nothing of what was painted."""
    x0, y0, x1, y1 = (round(v) for v in box)
    arm = max(round(0.15 * min(x1 - x0, y1 - y0)), 3)
    for x, y, right, down in ((x0, y0, 1, 1), (x1, y0, -1, 1), (x0, y1, 1, -1), (x1, y1, -1, -1)):
        cv2.line(image, (x, y), (x + right * arm, y), _PLACED, 1)
        cv2.line(image, (x, y), (x, y + down * arm), _PLACED, 1)


def _tile(crop: np.ndarray, words: str) -> np.ndarray:
    scale = _SIDE / max(crop.shape[:2])
    small = cv2.resize(
        crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    )
    tile = np.full((_SIDE + _BAR, _SIDE + 4, 3), 255, np.uint8)
    tile[_BAR : _BAR + small.shape[0], : small.shape[1]] = small
    cv2.putText(tile, words, (4, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
    return tile


def write_report(
    out: Path, results: Mapping[str, Any], wrong: Mapping[str, list[str]], tiny: bool, where: str
) -> Path:
    """``report.md``: the machine, a line for each model, what is out of range, what every picture came to."""
    import diffusers
    import torch
    import transformers

    gpu = "no GPU"
    if torch.cuda.is_available():
        memory = torch.cuda.get_device_properties(0).total_memory / 2**30
        gpu = f"{torch.cuda.get_device_name(0)}, {memory:.0f} GB"
    versions = f"torch {torch.__version__}, diffusers {diffusers.__version__}, transformers {transformers.__version__}"
    lines = [
        "# GPU smoke run",
        "",
        f"{gpu}; {versions}; {where}. "
        + ("**Tiny random weights: what they paint means nothing.** " if tiny else "")
        + "Pictures: `sheet.jpg` (yellow corners: where it was placed; green: where the detector sees it).",
        "",
        "| model | in range | first, s | each, s | peak, GB | revision |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in results.items():
        cells = [name, "not run" if "error" in found else "no" if wrong[name] else "yes"]
        cells += [str(found.get(k, "-")) for k in ("first_s", "seconds", "peak_gb", "revision")]
        lines.append(f"| {' | '.join(cells)} |")
    for title, lost in (("Out of range", False), ("Not run, or broken off", True)):
        apart = {name: some for name, some in wrong.items() if ("error" in results[name]) is lost}
        if listed := [f"- {name}: {fault}" for name, some in apart.items() for fault in some]:
            lines += ["", f"{title}:", "", *listed]
    lines += ["", "Every picture:", ""]
    for name, found in results.items():
        for number, row in enumerate(found.get("rows", [])):
            told = ", ".join(
                f"{k} {v}" for k, v in row.items() if k not in ("box", "refused") and v is not None
            )
            refused = f"; gates refuse it: {'; '.join(row['refused'])}" if row.get("refused") else ""
            lines.append(f"- {name} {row.get('picture', number)}: {told}{refused}")
    path = out / "report.md"
    path.write_text("\n".join(lines) + "\n")
    lost = sum("error" in found for found in results.values())
    print(f"{path}: {sum(not w for w in wrong.values())} of {len(wrong)} models in range, {lost} not run")
    return path
