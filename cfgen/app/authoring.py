"""Drawing what a person placed: the picture to look at, and the case that is saved of it, through the build's gates."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.app.caching_inpainter import Patient
from cfgen.app.capabilities import Palette
from cfgen.app.pictures import data_url
from cfgen.app.place import placed, read_mask, stage
from cfgen.app.worker import Say
from cfgen.cases.builder import Draft, Outcome
from cfgen.cases.context import Recipe, Workshop
from cfgen.cases.lockstep import in_step
from cfgen.core.errors import InputError, StoreError
from cfgen.core.hashing import derive_case_id, derive_seed
from cfgen.inpaint.edit import EditFailure, EditJob
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.registry import create_guide, create_inpainter
from cfgen.records import Benchmark, Planned
from cfgen.store import Store

Asked = Mapping[str, Any]
#: The inpainter that is quick enough to draw while somebody waits, without a process of its own.
INSTANT = "composite"


@dataclass(frozen=True)
class Tool:
    """An inpainter over one benchmark, by what it takes to make it in any process; ``options`` is JSON."""

    root: Path
    inpainter: str
    options: str = "{}"
    guide: str = ""


@lru_cache(maxsize=1)
def _inpainter(root: Path, name: str, options: str) -> Inpainter:
    inpainter = create_inpainter(name, json.loads(options), Store(root).inpaint_cache)
    return inpainter if name == INSTANT else Patient(inpainter)


@lru_cache(maxsize=4)
def workshop(tool: Tool) -> Workshop:
    """What drawing needs, loaded once a process."""
    store = Store(tool.root)
    inpainter = _inpainter(tool.root, tool.inpainter, tool.options)
    folders = tuple((scene_id, str(store.scene_dir(scene_id))) for scene_id in sorted(store.benchmark.scenes))
    return Workshop(Recipe(tool.root, None, folders), inpainter, create_guide(tool.guide, inpainter))


@lru_cache(maxsize=200)
def _palette(tool: Tool, hazard_id: str | None) -> Palette:
    return Palette.of(workshop(tool), None if tool.inpainter == INSTANT else hazard_id)


def palette(tool: Tool, hazard_id: str | None, say: Say) -> Palette:
    """Start the inpainter and see what it can draw; see :meth:`Palette.of`."""
    say(f"starting {tool.inpainter}", None)
    return _palette(tool, hazard_id)


def draw(tool: Tool, asked: Asked, say: Say) -> dict[str, Any]:
    """The front frame at t0 with the hazard in it: only the part that changes, and what the gates say.

    Raises:
        InputError: the camera does not see the place. StoreError: the inpainter declined.
    """
    shop = _telling(tool, say, "drawing")
    there = stage(tool.root, str(asked.get("scene")))
    placement, _, hazard = placed(shop.store, _palette(tool, str(asked.get("hazard"))), asked)
    if placement is None:
        raise InputError("preview: the camera does not see this place; move the hazard into the frame")
    camera = there.folder.scene.front
    images = {(camera.name, there.folder.front_frame().t): there.image}
    seed = _seed(shop.store.benchmark, there.folder.scene.scene_id, hazard.id, _number(asked))
    job = EditJob(there.folder.scene, images, hazard, placement, seed, read_mask(asked, there.image))
    result = shop.edit(job)
    if isinstance(result, EditFailure):
        raise StoreError(f"preview: {result.reason}")
    image, mask = next(iter(result.frames.values()))
    x, y, w, h = cv2.boundingRect((mask > 0).astype(np.uint8))
    gates = shop.gates(job, result)
    return {
        "part": data_url(image[y : y + h, x : x + w]),
        "at": [x, y, w, h],
        "gates": [g.model_dump(mode="json") for g in gates],
    }


def save(tool: Tool, asked: Asked, who: str, say: Say) -> str:
    """Edit, gates, controls and files of one hazard placed by ``who``; returns the new case's id.

    Raises:
        InputError: something speaks against the place. StoreError: the gates refused it; nothing is written.
    """
    shop = _telling(tool, say, "drawing")
    store = shop.store
    placement, faults, hazard = placed(store, _palette(tool, str(asked.get("hazard"))), asked)
    if placement is None or faults:
        raise InputError(f"not saved: {'; '.join(faults)}; move the hazard first")
    scene_id = str(asked.get("scene"))
    mask = read_mask(asked, stage(tool.root, scene_id).image)
    with further(store, scene_id, hazard.id) as planned:
        draft = Draft(shop, planned)
        draft.read()
        if draft.refusal:
            raise InputError(f"not saved: {draft.refusal}")
        draft.hazard = hazard
        number = _number(asked)
        seed = derive_seed(draft.seed, number)
        job = EditJob(draft.folder.scene, draft.images, hazard, placement, seed, mask)
        for _, put_off in in_step([draft.attempt(number, job)], shop.edits):
            if put_off:
                raise StoreError(f"not made now: {put_off}")
        if not draft.accepted or draft.edit is None:
            why = "it broke" if draft.broken else "the gates refused it"
            raise StoreError(f"not saved, {why}: {draft.refusal}")
        draft.edit.report.update({"placed_by": who, "mask": "projected" if mask is None else "painted"})
        say("saving", None)
        finish(draft)
    return planned.case_id


# --- further cases of a pair, beside those that builds plan -----------------------------------------------


@contextmanager
def further(store: Store, scene_id: str, hazard_id: str) -> Iterator[Planned]:
    """A further case of a pair, claimed for the block and not yet in the benchmark's plan."""
    benchmark = store.benchmark
    variant = _variant(benchmark, scene_id, hazard_id)
    while True:
        planned = Planned(
            case_id=derive_case_id(benchmark.seed, scene_id, hazard_id, variant),
            scene_id=scene_id,
            hazard_id=hazard_id,
            round=max((p.round for p in benchmark.planned), default=0),
            variant=variant,
        )
        with store.claim(planned.case_id) as mine:
            if mine and not store.has_case(planned.case_id) and not store.has_rejection(planned.case_id):
                yield planned
                return
        variant += 1


def finish(draft: Draft) -> Outcome:
    """Plan and files in one step for every build that looks; killed within, a later build makes the case anew."""
    store = draft.shop.store
    with store.planning():
        benchmark = store.benchmark
        store.write_benchmark(benchmark.model_copy(update={"planned": (*benchmark.planned, draft.planned)}))
        return draft.finish()


def _variant(benchmark: Benchmark, scene_id: str, hazard_id: str) -> int:
    """Above 0, so that a build that plans the pair meanwhile makes another case."""
    pair = (scene_id, hazard_id)
    return 1 + max((p.variant for p in benchmark.planned if (p.scene_id, p.hazard_id) == pair), default=0)


def _seed(benchmark: Benchmark, scene_id: str, hazard_id: str, number: int) -> int:
    """What :func:`save` would draw with, so that the picture looked at is the picture saved."""
    variant = _variant(benchmark, scene_id, hazard_id)
    return derive_seed(derive_seed(benchmark.seed, scene_id, hazard_id, variant), number)


def _number(asked: Asked) -> int:
    """Which of the person's tries this is."""
    number = asked.get("seed", 0)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        raise InputError(f"seed: expected a whole number from 0, found {str(number)[:20]!r}")
    return number


def _telling(tool: Tool, say: Say, what: str) -> Workshop:
    shop = workshop(tool)
    if isinstance(shop.inpainter, Patient):
        shop.inpainter.hear = lambda done, of: say(f"{what}: frame {done + 1} of {of}", done / of)
    return shop
