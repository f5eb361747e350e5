"""Each generative model once, on fixed crops and seeds, held against expected ranges: the first thing to run on a GPU.

    python tools/gpu_smoke.py --download        # once: about 90 GB from the Hub, names and revisions as below
    python tools/gpu_smoke.py --out smoke       # under 10 minutes on one 24 GB card
    python tools/gpu_smoke.py --out smoke       # the same again goes on where it stopped

Painters repaint the compositor's inserts; SAM 2 and Grounding DINO then look at what they painted. Each model runs in a
process of its own, so that one that breaks or runs out of memory or time leaves the others alone. ``smoke/`` ends with
``report.md`` and ``sheet.jpg``, to attach to an issue, and a JSON file for each model. Exit 0: all in range.

``--tiny`` runs the same on the CPU in seconds, with tiny random weights: what they paint means nothing, and is held
only to what holds for any weights. From a clone, with the packages of .[dev].
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


def _stopped(kind: Any, error: Any, trace: Any) -> None:
    """Ctrl-C ends it with a line, also while packages are still loaded."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    print("stopped: run the same command again to go on", file=sys.stderr)


if __name__ == "__main__":
    sys.excepthook = _stopped

import cv2  # noqa: E402
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cfgen.benchmark.detector_gates import noun  # noqa: E402
from cfgen.benchmark.gates import (  # noqa: E402
    GateInput,
    own_gates,
    run_gates,
)
from cfgen.core.files import read_image  # noqa: E402
from cfgen.core.hashing import hash_json  # noqa: E402
from cfgen.inpaint.edit import (  # noqa: E402
    Edit,
    EditJob,
    make_edits,
)
from cfgen.inpaint.registry import create_inpainter  # noqa: E402
from cfgen.perception.detection import BoxPx, MaskPrompt, create_detector, create_segmenter  # noqa: E402  # noqa: E402
from tools.gpu_smoke_pictures import CROPS, GUIDE, guided, keep, picture, window  # noqa: E402
from tools.gpu_smoke_report import sheet, write_report  # noqa: E402
from tools.gpu_smoke_state import Meter, no_weights, store, stored, whole  # noqa: E402

MINUTES, MOST_MINUTES = 10.0, 1440.0
#: Least overlap (IoU) of SAM 2's mask with what the guide drew.
OVERLAP = 0.6
Range = tuple[float, float]


@dataclass(frozen=True)
class Model:
    """One model of the run.

    Attributes:
        kind: painter, segmenter or detector. plugin: its name among cfgen's.
        options: what cfgen is told; with the revision that is pinned, where one is known.
        ranges: what is held against what, besides what holds for every painter.
        tiny: which of the makers of tiny checkpoints, and options that go with it.
    """

    name: str
    kind: str
    plugin: str
    options: Mapping[str, Any]
    ranges: Mapping[str, Range]
    tiny: str
    tiny_options: Mapping[str, Any] = field(default_factory=dict)


_SDXL = {
    "model": "diffusers/stable-diffusion-xl-1.0-inpainting-0.1",
    "revision": "115134f363124c53c7d878647567d04daf26e41e",
    "variant": "fp16",
}
_FEW = {"resolution": 64, "steps": 4}
MODELS = (
    Model("sdxl", "painter", "sdxl", _SDXL, {"seconds": (0, 20), "peak_gb": (5, 16)}, "sdxl", _FEW),
    Model(
        # its adapter comes as the Hub has it: cfgen pins no revision of adapters
        "sdxl-hyper", "painter", "sdxl", {**_SDXL, "preset": "hyper"}, {"seconds": (0, 8), "peak_gb": (5, 16)},
        "sdxl", {**_FEW, "scheduler": "ddim", "guidance": 0.0},
    ),
    Model(
        "flux2-klein", "painter", "flux2-klein",
        {
            "model": "black-forest-labs/FLUX.2-klein-4B",
            "revision": "e7b7dc27f91deacad38e78976d1f2b499d76a294",
            "offload": "model",
        },
        {"seconds": (0, 30), "peak_gb": (5, 20)},
        "klein", {"resolution": 64},
    ),
    Model(
        "qwen-image-edit", "painter", "qwen-image-edit",
        {
            "model": "Qwen/Qwen-Image-Edit",
            "revision": "ac7f9318f633fc4b5778c59367c8128225f1e3de",
            "steps": 8,
            "offload": "sequential",  # its 57 GB fit on no 24 GB card
        },
        {"seconds": (0, 120), "peak_gb": (1, 22)},
        "qwen", {"steps": 2},
    ),
    Model(
        "sam2", "segmenter", "sam2",
        {"model": "facebook/sam2.1-hiera-large", "revision": "665f8e2ad61cf5f53d65644ff27c8ee525124610"},
        {"seconds": (0, 5), "peak_gb": (0.5, 8), "overlap": (OVERLAP, 1)},
        "sam2",
    ),
    Model(
        "grounding-dino", "detector", "grounding-dino",
        {
            "model": "IDEA-Research/grounding-dino-base",
            "revision": "12bdfa3120f3e7ec7b434d90674b3396eccf88eb",
        },
        {"seconds": (0, 5), "peak_gb": (0.5, 8), "score": (0.3, 1), "size": (0.75, 1.25)},
        "grounding-dino", {"threshold": 0.0},
    ),
)  # fmt: skip
#: Of every painter: change outside the mask (8 bit), and height in the picture against the placement's.
PAINTED: Mapping[str, Range] = {"outside": (0, 0), "height": (0.75, 1.25)}
#: What is held of tiny random weights.
CERTAIN = ("outside",)


# --- one model ---------------------------------------------------------------------------------------------------


def run_one(model: Model, out: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a model did on every picture, JSON values."""
    made = guided(out)
    worker = {"painter": paint, "segmenter": segment, "detector": detect}[model.kind]
    meter = Meter()
    found = worker(model, out, options, made, meter)
    return {**found, "peak_gb": round(meter.peak_gb(), 2), "first_s": meter.first, "seconds": meter.rest()}


def paint(model: Model, out: Path, options: Mapping[str, Any], made: list[EditJob], meter: Meter) -> Any:
    inpainter, guide = create_inpainter(model.plugin, options), create_inpainter(GUIDE)
    rows, told = [], {}
    for number, job in enumerate(made):
        edit = meter.timed(lambda job=job: make_edits([job], inpainter, guide, strict=True)[0])
        if not isinstance(edit, Edit):
            raise RuntimeError(f"picture {number}: {edit.reason}")
        image, mask = keep(out, model.name, number, edit)
        before = job.images[job.scene.front.name, 0.0]
        gates = run_gates(
            GateInput(before, image, mask, job.scene.front, job.placement, job.hazard), own_gates()
        )
        told = edit.report["inpainter"]
        rows.append(
            {
                "outside": int(np.abs(image.astype(int) - before)[mask == 0].max()),
                "height": next((g.value for g in gates if g.gate == "height"), None),
                "refused": [f"{g.gate}: {g.reason}" for g in gates if not g.passed],
                "start_sigma": told["start_sigma"],
            }
        )
    return {"rows": rows, "revision": told["revision"], "dtype": told["dtype"], "steps": told["steps_run"]}


def pictures_of(out: Path, name: str) -> list[Path]:
    return [picture(out, name, number) for number in range(len(CROPS))]


def painted(out: Path) -> list[str]:
    """The compositor and every painter whose pictures are there and whole, in the order of MODELS."""
    return [GUIDE] + [m.name for m in MODELS if m.kind == "painter" and whole(*pictures_of(out, m.name))]


def looked_at(out: Path, made: list[EditJob]) -> Any:
    """Whose picture, which, the job, its crop and the placement's box there."""
    for name in painted(out):
        for number, job in enumerate(made):
            rows, cols = window(job)
            x0, y0, x1, y1 = job.placement.box_px
            box = (x0 - cols.start, y0 - rows.start, x1 - cols.start, y1 - rows.start)
            crop = np.ascontiguousarray(read_image(picture(out, name, number))[rows, cols])
            yield name, number, job, crop, box


def segment(model: Model, out: Path, options: Mapping[str, Any], made: list[EditJob], meter: Meter) -> Any:
    """SAM 2's mask in the placement's box against what the compositor drew there."""
    segmenter, rows = create_segmenter(model.plugin, options), []
    for name, number, job, crop, box in looked_at(out, made):
        found = meter.timed(lambda crop=crop, box=box: segmenter.segment(crop, [MaskPrompt(box=box)]))[0]
        cover = cv2.imread(str(picture(out, "cover", number)), cv2.IMREAD_GRAYSCALE)[window(job)] > 127
        best = found[0].mask if found else np.zeros(cover.shape, bool)
        overlap = float((best & cover).sum() / max((best | cover).sum(), 1))
        rows.append({"of": name, "picture": number, "overlap": round(overlap, 3)})
    return {"rows": rows, "revision": segmenter.identity.get("revision") or segmenter.identity.get("weights")}


def detect(model: Model, out: Path, options: Mapping[str, Any], made: list[EditJob], meter: Meter) -> Any:
    """Whether Grounding DINO finds the hazard by its name where it was placed, and how high its box is there."""
    detector, rows = create_detector(model.plugin, options), []
    for name, number, job, crop, box in looked_at(out, made):
        words = noun(job.hazard.name)
        seen = meter.timed(lambda crop=crop, words=words: detector.detect(crop, words))
        on_it = [d for d in seen if shared(d.box, box) > 0.3]
        row: dict[str, Any] = {"of": name, "picture": number, "asked": words, "score": 0.0, "size": None}
        if on_it:
            high = on_it[0].box[3] - on_it[0].box[1]
            row |= {"score": round(on_it[0].score, 3), "size": round(high / (box[3] - box[1]), 3)}
            row["box"] = [round(v, 1) for v in on_it[0].box]
        rows.append(row)
    return {"rows": rows, "revision": detector.identity.get("revision") or detector.identity.get("weights")}


def shared(one: BoxPx, other: BoxPx) -> float:
    """Overlap (IoU) of two boxes."""
    wide = max(min(one[2], other[2]) - max(one[0], other[0]), 0)
    high = max(min(one[3], other[3]) - max(one[1], other[1]), 0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (one, other)]
    return wide * high / max(sum(areas) - wide * high, 1e-9)


# --- the run -----------------------------------------------------------------------------------------------------


def told_apart(model: Model, tiny: bool, out: Path) -> str:
    """What a result holds for: other options, crops, versions or (for those who look) pictures need another."""
    import diffusers
    import torch
    import transformers

    seen = painted(out) if model.kind != "painter" else []
    versions = [p.__version__ for p in (torch, diffusers, transformers)]
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    return hash_json({"model": asdict(model), "tiny": tiny, "crops": CROPS, "at": [*versions, gpu, *seen]})


def faults(model: Model, found: Mapping[str, Any], tiny: bool) -> list[str]:
    """What is out of its range, in words."""
    if "error" in found:
        return [found["error"]]
    ranges = {**(PAINTED if model.kind == "painter" else {}), **model.ranges}
    wrong = []
    for name, (low, high) in ranges.items():
        if tiny and name not in CERTAIN:
            continue
        rows = [found] if name in found else found["rows"]
        for number, row in enumerate(rows):
            value = row.get(name)
            if value is None or not low <= value <= high:
                where = (
                    "" if row is found else f"{row.get('of', 'its')} picture {row.get('picture', number)}: "
                )
                wrong.append(f"{where}{name} {value}, expected {low:g} to {high:g}")
    return wrong


def tiny_options(model: Model, folder: Path) -> dict[str, Any]:
    from tests.tiny_smoke import checkpoint

    return {"model": str(checkpoint(model.tiny, folder)), **model.tiny_options}


def attempt(model: Model, out: Path, tiny: Path | None, seconds: float) -> dict[str, Any]:
    """A model's result, or why there is none: here for tiny weights, else in a process of its own."""
    if tiny is not None:
        try:
            return run_one(model, out, tiny_options(model, tiny))
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"[:500]}
    command = [sys.executable, __file__, "--out", str(out), "--one", model.name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(seconds, 1))
    except subprocess.TimeoutExpired:
        return {
            "error": f"not done after {seconds:.0f} s: run the same command again, or with more --minutes"
        }
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        return {"error": lines[-1][:500]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def sees_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def download() -> None:
    """All weights, as pinned, into the Hub's own cache."""
    from huggingface_hub import hf_hub_download, snapshot_download

    from cfgen.inpaint.diffusion.load import find_weights
    from cfgen.inpaint.diffusion.sdxl import PRESETS

    for model in MODELS:
        print(model.name, flush=True)
        if model.kind == "painter":
            find_weights(
                model.name, create_inpainter(model.plugin, {**model.options, "offload": "none"}).settings
            )  # type: ignore[attr-defined]
        else:
            wanted = ["*.json", "*.txt", "*.safetensors"]
            snapshot_download(
                model.options["model"], revision=model.options["revision"], allow_patterns=wanted
            )
    hf_hub_download(*PRESETS["hyper"].lora.split(":"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("smoke"))
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="stop after so long; run again to go on"
    )
    parser.add_argument("--tiny", action="store_true", help="tiny random weights on the CPU")
    parser.add_argument("--weights", type=Path, help="with --tiny: where they are kept (default: OUT/tiny)")
    parser.add_argument("--download", action="store_true", help="fetch the weights and do no more")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    names = [m.name for m in MODELS]
    wanted = args.only.split(",") if args.only else names
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f"--only {unknown[0]}: expected some of {', '.join(names)}")
    if not 0 <= args.minutes <= MOST_MINUTES:
        parser.error(
            f"--minutes: expected 0 (report what is there) to {MOST_MINUTES:g}, found {args.minutes:g}"
        )
    if args.download:
        download()
        return 0
    out = args.out
    if args.one:
        model = next(m for m in MODELS if m.name == args.one)
        print(json.dumps(run_one(model, out, model.options)))
        return 0
    if not args.tiny and not sees_gpu():
        parser.error(
            "expected a GPU that torch can use, found none; --tiny runs on the CPU, with random weights"
        )
    out.mkdir(parents=True, exist_ok=True)
    made, end, results = guided(out), time.monotonic() + 60 * args.minutes, {}
    for model in MODELS:
        if model.name in wanted:
            results[model.name] = one_of(model, out, args, end)
    wrong = {name: faults(m, results[name], args.tiny) for m in MODELS if (name := m.name) in results}
    sheet(out, made, painted(out), results)
    write_report(out, results, wrong, args.tiny, platform.platform())
    return int(any(wrong.values()))


def one_of(model: Model, out: Path, args: argparse.Namespace, end: float) -> dict[str, Any]:
    """A result that is kept, or a new one."""
    file, key = out / f"{model.name}.json", told_apart(model, args.tiny, out)
    if kept := stored(file, key):
        if model.kind != "painter" or whole(*pictures_of(out, model.name)):
            print(f"{model.name}: done before", flush=True)
            return kept
        print(f"{model.name}: a picture of it is missing or damaged: it is run again", flush=True)
    left = end - time.monotonic()
    if left <= 0:
        return {
            "error": f"not run: the {args.minutes:g} minutes are over; run the same command again to go on"
        }
    if not args.tiny and (missing := no_weights(model.kind, model.options)):
        return {"error": missing}
    print(f"{model.name} ...", flush=True)
    found = attempt(model, out, (args.weights or out / "tiny") if args.tiny else None, left)
    return found if "error" in found else store(file, found, key)


if __name__ == "__main__":
    sys.exit(main())
