"""Drawing what a person placed: the picture to look at, and the case that is saved of it, through the build's gates.

What a person looked at and what they then save is the same drawing, whatever the inpainter's randomness or price.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.app.jobs import Say
from cfgen.app.pictures import data_url
from cfgen.app.place import Capabilities, number_of, placed, stage
from cfgen.benchmark.builder import CaseBuilder, Outcome, run_in_batches
from cfgen.benchmark.context import BuildContext, WorkerSettings
from cfgen.core.errors import InputError, StoreError
from cfgen.core.hashing import derive_case_id, derive_seed, hash_bytes, hash_json
from cfgen.inpaint.edit import EditFailure, EditJob
from cfgen.inpaint.protocol import Answer, Inpainter, InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.inpaint.registry import create_guide, create_inpainter
from cfgen.records import Hazard, Planned, Size
from cfgen.storage.store import Store

# --- one drawing for one request ------------------------------------------------------------------

_KEPT = 64


class CachingInpainter:
    """An inpainter like the one inside.

    Attributes:
        hear: told before each drawing how many of those asked for are done, and how many there are.
    """

    def __init__(self, inner: Inpainter) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.version: str = inner.version
        self.options: Mapping[str, Any] = inner.options
        self.needs: InpainterRequirements = inner.needs
        self.hear: Callable[[int, int], None] = lambda count, of: None
        self._drawn: OrderedDict[str, InpaintResult] = OrderedDict()

    def can_draw(self, hazard: Hazard) -> bool:
        return self._inner.can_draw(hazard)

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return self._inner.sizes(hazard)

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[Answer]:
        answers: list[Answer] = []
        for number, request in enumerate(requests):
            self.hear(number, len(requests))
            answers.append(self._draw(request))
        return answers

    def _draw(self, request: InpaintRequest) -> Answer:
        key = _key(request)
        if key in self._drawn:
            self._drawn.move_to_end(key)
            return self._drawn[key]
        answer = self._inner.inpaint([request])[0]
        if isinstance(answer, InpaintResult):
            self._drawn[key] = answer
            while len(self._drawn) > _KEPT:
                self._drawn.popitem(last=False)
        return answer


def _key(request: InpaintRequest) -> str:
    pixels = [p for p in (request.image, request.mask, request.guide) if p is not None]
    records = [request.camera, request.hazard, request.placement]
    return hash_json(
        [
            [(*p.shape, hash_bytes(p.tobytes())) for p in pixels],
            [record.model_dump(mode="json") for record in records],
            request.seed,
            request.t,
        ]
    )


# --- drawing and saving ---------------------------------------------------------------------------

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
    return inpainter if name == INSTANT else CachingInpainter(inpainter)


@lru_cache(maxsize=4)
def build_context(tool: Tool) -> BuildContext:
    """What drawing needs, loaded once a process."""
    inpainter = _inpainter(tool.root, tool.inpainter, tool.options)
    return BuildContext(WorkerSettings(tool.root), inpainter, create_guide(tool.guide, inpainter))


@lru_cache(maxsize=200)
def _capabilities_of(tool: Tool, hazard_id: str | None) -> Capabilities:
    return Capabilities.of(build_context(tool), None if tool.inpainter == INSTANT else hazard_id)


def capabilities(tool: Tool, hazard_id: str | None, say: Say) -> Capabilities:
    """Start the inpainter and see what it can draw; see :meth:`Capabilities.of`."""
    say(f"starting {tool.inpainter}", None)
    return _capabilities_of(tool, hazard_id)


def draw(tool: Tool, query: Asked, say: Say) -> dict[str, Any]:
    """The front frame at t0 with the hazard in it: only the part that changes, and what the gates say.

    Raises:
        InputError: the camera does not see the place. StoreError: the inpainter declined.
    """
    context = _telling(tool, say)
    placing = stage(tool.root, str(query.get("scene")))
    placement, _, hazard = placed(context.store, _capabilities_of(tool, str(query.get("hazard"))), query)
    if placement is None:
        raise InputError("preview: the camera does not see this place; move the hazard into the frame")
    camera = placing.scene.front
    frame = placing.folder.front_frame()
    key = camera.name, frame.t
    jpeg_grids = {key: placing.folder.jpeg_grid(frame)}
    seed = _seed(context.store, placing.scene.scene_id, hazard.id, _try(query))
    job = EditJob(placing.scene, {key: placing.image}, hazard, placement, seed, jpeg_grids=jpeg_grids)
    result = context.edit(job)
    if isinstance(result, EditFailure):
        raise StoreError(f"preview: {result.reason}")
    image, changed = next(iter(result.frames.values()))
    x, y, w, h = cv2.boundingRect((changed > 0).astype(np.uint8))
    gates = context.gates(job, result)
    return {
        "part": data_url(image[y : y + h, x : x + w]),
        "at": [x, y, w, h],
        "gates": [g.model_dump(mode="json") for g in gates],
    }


def save(tool: Tool, query: Asked, who: str, say: Say) -> str:
    """Edit, gates, controls and files of one hazard placed by ``who``; returns the new case's id.

    Raises:
        InputError: something speaks against the place. StoreError: the gates refused it; nothing is written.
    """
    context = _telling(tool, say)
    store = context.store
    placement, faults, hazard = placed(store, _capabilities_of(tool, str(query.get("hazard"))), query)
    if placement is None or faults:
        raise InputError(f"not saved: {'; '.join(faults)}; move the hazard first")
    scene_id = str(query.get("scene"))
    with further(store, scene_id, hazard.id) as planned:
        builder = CaseBuilder(context, planned)
        builder.read()
        if builder.refusal:
            raise InputError(f"not saved: {builder.refusal}")
        builder.hazard = hazard
        number = _try(query)
        seed = derive_seed(builder.seed, number)
        job = EditJob(builder.scene, builder.images, hazard, placement, seed, jpeg_grids=builder.jpeg_grids)
        for _, put_off in run_in_batches([builder.attempt(number, job)], context.edits):
            if put_off:
                raise StoreError(f"not made now: {put_off}")
        if not builder.accepted or builder.edit is None:
            why = "it broke" if builder.broken else "the gates refused it"
            raise StoreError(f"not saved, {why}: {builder.refusal}")
        builder.edit.report.update({"placed_by": who})
        say("saving", None)
        finish(builder)
    return planned.case_id


# --- further cases of a pair, beside those that builds plan -----------------------------------------------


@contextmanager
def further(store: Store, scene_id: str, hazard_id: str) -> Iterator[Planned]:
    """A further case of a pair, claimed for the block and not yet in the benchmark's plan."""
    benchmark, every = store.benchmark, store.planned
    variant = _variant(every, scene_id, hazard_id)
    while True:
        planned = Planned(
            case_id=derive_case_id(benchmark.seed, scene_id, hazard_id, variant),
            scene_id=scene_id,
            hazard_id=hazard_id,
            variant=variant,
        )
        with store.claim(planned.case_id) as mine:
            if mine and not store.has_case(planned.case_id) and not store.has_rejection(planned.case_id):
                yield planned
                return
        variant += 1


def finish(builder: CaseBuilder) -> Outcome:
    """Plan and files in one step for every build that looks; killed within, a later build makes the case anew."""
    store = builder.context.store
    with store.planning():
        store.add_planned([builder.planned])
        return builder.finish()


def _variant(planned: Sequence[Planned], scene_id: str, hazard_id: str) -> int:
    """Above 0, so that a build that plans the pair meanwhile makes another case."""
    pair = (scene_id, hazard_id)
    return 1 + max((p.variant for p in planned if (p.scene_id, p.hazard_id) == pair), default=0)


def _seed(store: Store, scene_id: str, hazard_id: str, number: int) -> int:
    """What :func:`save` would draw with, so that the picture looked at is the picture saved."""
    variant = _variant(store.planned, scene_id, hazard_id)
    return derive_seed(derive_seed(store.benchmark.seed, scene_id, hazard_id, variant), number)


def _try(query: Asked) -> int:
    """Which of the person's tries this is."""
    return int(number_of({"seed": 0, **query}, "seed", 0, 2**31 - 1))


def _telling(tool: Tool, say: Say) -> BuildContext:
    context = build_context(tool)
    if isinstance(context.inpainter, CachingInpainter):
        context.inpainter.hear = lambda count, of: say(f"drawing: frame {count + 1} of {of}", count / of)
    return context
