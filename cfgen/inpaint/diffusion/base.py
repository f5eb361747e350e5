"""Work in batches that shrink when memory runs out."""

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, TypeVar

import numpy as np

from cfgen.core.errors import CfgenError, InpaintRefusedError, InputError
from cfgen.inpaint.composite.light import estimate
from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.canvas import canvas_size, from_canvas, mask_to_canvas, to_canvas
from cfgen.inpaint.diffusion.load import DiffusionOptions, read_options, steps_short
from cfgen.inpaint.edit import repaint_share
from cfgen.inpaint.protocol import InpainterRequirements, InpaintRequest, InpaintResult, Setting
from cfgen.perception.linear_light import LUMA
from cfgen.records import Hazard, Size

T = TypeVar("T")
R = TypeVar("R")


class Batches:
    """Remembers how much fits, so that memory runs out once and not in every batch.

    Attributes:
        size: items at a time. asked: the same before memory ran out.
    """

    def __init__(self, size: int) -> None:
        self.asked = self.size = size

    def run(self, items: Sequence[T], work: Callable[[Sequence[T]], Sequence[R]]) -> Iterator[R]:
        """``work`` on every item, in order, at most ``size`` at a time.

        Raises:
            CfgenError: a single item does not fit.
        """
        finished = 0
        while finished < len(items):
            part = items[finished : finished + self.size]
            results = self._try(part, work)
            if results is None:
                self._shrink(len(part))
                continue
            yield from results
            finished += len(part)

    def report(self) -> dict[str, Any]:
        """JSON values for the provenance: nothing unless memory ran out."""
        return {} if self.size == self.asked else {"out_of_memory": {"asked": self.asked, "fits": self.size}}

    def _try(self, part: Sequence[T], work: Callable[[Sequence[T]], Sequence[R]]) -> Sequence[R] | None:
        import torch

        try:
            return work(part)
        except torch.OutOfMemoryError:
            return None  # what the exception holds must be let go of before memory can be

    def _shrink(self, size: int) -> None:
        import torch

        if size == 1:
            raise CfgenError(
                "out of memory with a single image at a time; what is done is kept: free memory or add "
                "offload=model and run it again, or use a smaller resolution in a new --out"
            )
        self.size = size // 2
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


# --- prompt ------------------------------------------------------------------------------------
# What a model is told: the hazard in words, and the light of the scene it goes into.

_LIGHTS = {
    "sun": "in direct sunlight with a clear shadow on the road",
    "sun from an unknown side": "in direct sunlight",
    "shade": "in open shade on a sunny day",
    "overcast": "in soft even daylight",
}
#: Linear level of the road below which it is night, and extinction per metre from which the air is hazy.
_NIGHT, _HAZY = 0.008, 0.004


def light_words(setting: Setting) -> str:
    """The scene's light where the hazard stands."""
    light = estimate(setting)
    if float(light.ground @ LUMA) < _NIGHT:
        return "at night, lit by headlights and street lamps"
    words = _LIGHTS[str(light.report["light"])]
    return f"{words}, in hazy air" if light.haze_per_m > _HAZY else words


def description(request: InpaintRequest) -> str:
    """For models that continue a caption."""
    words = light_words(request.setting)
    return f"{request.hazard.prompt}, {words}, plain photo from the front camera of a car"


def instruction(request: InpaintRequest) -> str:
    """For models that follow an order."""
    hazard, words = request.hazard, light_words(request.setting)
    if hazard.kind == "null":
        return f"Show {hazard.prompt}, {words}."
    if request.guide is not None:
        return (
            f"Make this look like a real photo: {hazard.prompt}, {words}. "
            "Keep its place, size, outline and shadow, and everything around it."
        )
    return (
        f"Add this to the road, as a real photo would show it, {words}: {hazard.prompt}. Change nothing else."
    )


def negative(request: InpaintRequest, extra: str) -> str:
    """What is not wanted: the hazard's own words and ``more``."""
    return ", ".join(words for words in (request.hazard.negative_prompt.strip(), extra.strip()) if words)


# --- sigmas ------------------------------------------------------------------------------------
# Where an edit starts: the share of noise that a guide's insert is given, whatever the number of steps.
#
# A pipeline's own ``strength`` drops whole steps off the front. Schedules that are shifted towards noise
# and have few steps start at about the same noise then for every strength: four steps of FLUX.2 klein at 0.3 to 0.5
# all start at 0.91.

#: From this strength on an edit runs the whole schedule, from nothing but noise.
FULL = 0.99


def schedule(start: float, steps: int, bend: float) -> list[float]:
    """Sigmas of ``steps`` steps of rectified flow (Esser et al., 2024, Eq. 23), the first exactly ``start``.

    Args:
        start: in (0, 1]: sigma to begin at, the share of noise; 1 from FULL on.
        bend: the schedule's shift: 1 is a straight line, more spends its steps nearer to noise.
    """
    first = 1.0 if start >= FULL else start
    straight = first / (bend + first * (1 - bend))  # shifted, this is ``first``
    at = np.linspace(straight, straight / steps, steps)
    return [float(v) for v in bend * at / (1 + (bend - 1) * at)]


def schedule_shift(scheduler: Any, mu: float) -> float:
    """How a flow-matching scheduler shifts its sigmas, ``mu`` being what the pipeline derives from the canvas."""
    config = scheduler.config
    if not config.use_dynamic_shifting:
        return float(config.shift)
    return math.exp(mu) if config.get("time_shift_type", "exponential") == "exponential" else float(mu)


@contextmanager
def unshifted_schedule(pipe: Any) -> Iterator[None]:
    """The pipeline takes sigmas as they are told while this is open: they are shifted already."""
    original = pipe.scheduler
    unshifted = {"use_dynamic_shifting": False, "shift": 1.0, "shift_terminal": None}
    pipe.scheduler = type(original).from_config(original.config, **unshifted)
    try:
        yield
    finally:
        pipe.scheduler = original


def noise_at(scheduler: Any, steps: int, strength: float) -> float:
    """Share of noise, sqrt(1 - alpha bar), that a diffusion schedule of so many steps starts an edit with."""
    order = getattr(scheduler, "order", 1)
    skipped = max(steps - min(int(steps * strength), steps), 0)
    moment = min(int(scheduler.timesteps[skipped * order]), len(scheduler.alphas_cumprod) - 1)
    return float((1 - scheduler.alphas_cumprod[moment]) ** 0.5)


# --- base --------------------------------------------------------------------------------------
# What every diffusers inpainter shares: canvases, batches that mix scenes, seeds, memory, provenance.

#: Batches' worth of cases taken in hand at once, so that those of one shape and strength fill whole batches.
_IN_HAND = 4


@dataclass(frozen=True, eq=False)
class Task:
    """One request as a model gets it.

    Attributes:
        size: height and width of the canvas. strength: share of the noise, decides the steps that run.
    """

    number: int
    request: InpaintRequest
    size: tuple[int, int]
    strength: float
    prompt: str
    negative: str

    def start(self) -> np.ndarray:
        """(h, w, 3) uint8, the crop to start from: with the guide's insert where there is one."""
        return self.request.image if self.request.guide is None else self.request.guide

    def image(self) -> np.ndarray:
        """(H, W, 3) uint8: the same at the canvas's size."""
        return to_canvas(self.start(), self.size)

    def mask(self, margin: int) -> np.ndarray:
        """(H, W) uint8, 255 where to repaint."""
        return mask_to_canvas(self.request.mask, self.size, margin)


@dataclass(frozen=True, eq=False)
class DiffusionEngine:
    """A loaded pipeline. ``revision`` tells its weights from others; ``texts`` holds what encoding gave, by text."""

    pipe: Any
    revision: str
    texts: dict[str, Any] = field(default_factory=dict)


#: Options that decide where and how fast, not what is painted (but for the last bits of a float).
_TERMS = ("batch_size", "device", "offload", "compile")
_LOADED: dict[Any, DiffusionEngine] = {}


class Diffusion:
    """An inpainter around one diffusers pipeline. A model's own file says how it is loaded and called."""

    name: str
    version = "1"
    extra = "sdxl"
    Options: ClassVar[type[DiffusionOptions]] = DiffusionOptions
    #: canvas sides are multiples of this, and masks grow by one latent cell
    multiple: int = 64
    cell: int = 8
    #: whether its prompt is an order rather than a caption
    instructed = False

    def __init__(self, **options: Any) -> None:
        self.settings = self.complete(read_options(self.name, self.Options, options))
        if too_few := self.too_few(self.settings.strength):
            raise InputError(f"inpainter '{self.name}': {too_few}")
        load.require_packages(self.name, self.extra, lora=bool(self.loras()))
        self.device, self.dtype = load.pick_device(self.name, self.settings)
        load.local_weights(self.name, self.settings)
        self.options: Mapping[str, Any] = self.settings.model_dump(mode="json")
        size = self.settings.batch_size
        self.needs = InpainterRequirements(
            context=0.6, min_side=192, batch_size=_IN_HAND * size, processes=1, model=True, terms=_TERMS
        )
        self._batches = Batches(size)

    def check(self) -> None:
        """
        Raises:
            SetupError: the weights are neither here nor to be had.
        """
        load.require_weights(self.name, self.settings)

    def complete(self, settings: Any) -> Any:
        """The options with what follows from them."""
        return settings

    def loras(self) -> list[tuple[str, float]]:
        """Adapters to melt in: source and weight."""
        return [(self.settings.lora, self.settings.lora_weight)] if self.settings.lora else []

    def open(self) -> DiffusionEngine:
        """Load the pipeline."""
        raise NotImplementedError

    def paint(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> Sequence[np.ndarray]:
        """Pictures (H, W, 3) float32 in [0, 255] for tasks of one size and strength."""
        raise NotImplementedError

    def can_draw(self, hazard: Hazard) -> bool:
        return bool(hazard.prompt.strip())

    def sizes(self, hazard: Hazard) -> list[Size]:
        return []

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult | InpaintRefusedError]:
        results: list[InpaintResult | InpaintRefusedError | None] = [None] * len(requests)
        tasks = []
        for number, request in enumerate(requests):
            try:
                tasks.append(self._task(number, request))
            except InpaintRefusedError as refusal:
                results[number] = refusal
        tasks.sort(key=self._kind)
        with load.others_quiet():
            for _, alike in groupby(tasks, self._kind):
                for task, result in self._paint_all(list(alike)):
                    results[task.number] = result
        return [r for r in results if r is not None]

    def generators(self, tasks: Sequence[Task]) -> list[Any]:
        """One source of noise a request, so that a batch gives what single requests would."""
        import torch

        return [torch.Generator("cpu").manual_seed(task.request.seed % 2**63) for task in tasks]

    def steps_run(self, task: Task) -> int:
        return int(self.settings.steps * task.strength)

    def too_few(self, strength: float) -> str:
        """Why there is nothing to do at this strength, in one line; "" when there is."""
        return steps_short(self.settings.steps, strength)

    def start(self, engine: DiffusionEngine, task: Task) -> float:
        """Share of noise that the task was started with, once it is painted."""
        return noise_at(engine.pipe.scheduler, self.settings.steps, task.strength)

    def _task(self, number: int, request: InpaintRequest) -> Task:
        if not request.mask.any():
            raise InpaintRefusedError("the mask is empty: there is nowhere to paint")
        settings = self.settings
        height, width = request.mask.shape
        strength = settings.strength
        if request.guide is not None:
            strength = repaint_share(request.hazard) if settings.repaint is None else settings.repaint
        if too_few := self.too_few(strength):
            raise InpaintRefusedError(f"inpainter '{self.name}': {too_few}")
        size = self.canvas(height, width)
        words = instruction(request) if self.instructed else description(request)
        return Task(number, request, size, strength, words, negative(request, settings.negative_prompt))

    def canvas(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the canvas for a crop: a size that the pipeline takes as it is."""
        return canvas_size(height, width, self.settings.resolution, self.multiple)

    def _kind(self, task: Task) -> tuple[tuple[int, int], float]:
        """Tasks of one kind go into a batch together."""
        return task.size, task.strength

    def _engine(self) -> DiffusionEngine:
        """The pipeline of these options, loaded once a process; another one makes room for it."""
        key = (type(self), self.settings, self.device, self.dtype)
        if key not in _LOADED:
            _LOADED.clear()
            _LOADED[key] = self.open()
        return _LOADED[key]

    def _paint_all(self, tasks: Sequence[Task]) -> list[tuple[Task, InpaintResult | InpaintRefusedError]]:
        engine = self._engine()
        images = self._batches.run(tasks, lambda part: self.paint(engine, part))
        with ThreadPoolExecutor(
            2
        ) as pool:  # one batch is brought back to its crops while the next is painted
            laid = [pool.submit(self.back, *pair) for pair in zip(tasks, images, strict=True)]
        return [
            (task, self._answer(task, engine, *future.result()))
            for task, future in zip(tasks, laid, strict=True)
        ]

    def back(self, task: Task, picture: np.ndarray) -> tuple[np.ndarray | str, dict[str, Any]]:
        """(h, w, 3) uint8, what was painted at the size of the crop, or why it is of no use; and what to report."""
        return from_canvas(picture, task.start(), task.request.mask), {}

    def _answer(
        self, task: Task, engine: DiffusionEngine, image: np.ndarray | str, extra_report: dict[str, Any]
    ) -> InpaintResult | InpaintRefusedError:
        report = {**self._report(task, engine), **extra_report}
        if isinstance(image, str):
            return InpaintRefusedError(f"inpainter '{self.name}': {image}", report)
        return InpaintResult(image, None, report)

    def _report(self, task: Task, engine: DiffusionEngine) -> dict[str, Any]:
        import diffusers
        import torch

        settings, pipe = self.settings, engine.pipe
        return {
            "model": settings.model,
            "revision": engine.revision,
            "pipeline": type(pipe).__name__,
            "scheduler": type(pipe.scheduler).__name__,
            "steps": settings.steps,
            "steps_run": self.steps_run(task),
            "guidance": settings.guidance,
            "strength": task.strength,
            "start_sigma": round(self.start(engine, task), 4),
            "seed": task.request.seed,
            "prompt": task.prompt,
            "negative_prompt": task.negative,
            "canvas": list(task.size),
            "crop": list(task.request.mask.shape),
            "dtype": self.dtype,
            "device": self.device,
            "loras": [list(pair) for pair in self.loras()],
            "offload": settings.offload,
            "compile": settings.compile,
            "torch": torch.__version__,
            "diffusers": diffusers.__version__,
            **self._batches.report(),
        }
