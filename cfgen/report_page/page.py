"""The page: opens from its folder without a network."""

import html
from pathlib import Path

import cv2

from cfgen.files import read_image, write_bytes
from cfgen.records import Case
from cfgen.report_page.gather import Gathered
from cfgen.report_page.table import Table

_STYLE = (Path(__file__).parent / "page.css").read_text
_VIEW_WIDTH = 960


def write_page(out: Path, data: Gathered, tables: list[Table]) -> None:
    """``index.html`` and the frames it shows, under ``out``."""
    for case in data.cases:
        for name in ("original", "augmented"):
            _write_view(data.store.case_dir(case.case_id) / f"{name}.png", out / _view(case, name))
    body = "".join(table.html() for table in tables) + "".join(map(_figure, data.cases))
    page = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>cfgen report</title><style>{_STYLE()}</style></head>"
        f"<body><h1>cfgen: {len(data.cases)} cases</h1>{body}</body></html>\n"
    )
    write_bytes(out / "index.html", page.encode())


def _view(case: Case, name: str) -> str:
    return f"frames/{case.case_id}-{name}.webp"


def _write_view(source: Path, target: Path) -> None:
    image = read_image(source)
    scale = min(1.0, _VIEW_WIDTH / image.shape[1])
    size = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    shown = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if scale < 1 else image
    done, encoded = cv2.imencode(".webp", shown[:, :, ::-1], [cv2.IMWRITE_WEBP_QUALITY, 85])
    assert done
    write_bytes(target, encoded.tobytes())


def _figure(case: Case) -> str:
    words = f"{case.hazard.name}, {case.placement.distance_m:.0f} m ahead, {case.placement.zone.replace('_', ' ')}"
    images = "".join(
        f"<img loading='lazy' src='{_view(case, name)}' alt='{name} frame'>"
        for name in ("original", "augmented")
    )
    return f"<figure class='case'>{images}<figcaption>{html.escape(words)}</figcaption></figure>"
