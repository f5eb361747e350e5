"""Nano Banana: Gemini's image models as an inpainter. The crop goes out in a shape that the service takes, with the
hazard, its place and its size in words; what comes back is laid over the crop again, and only what was added is kept.
"""

import asyncio
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cfgen.core import interrupts
from cfgen.core.errors import CfgenError, InpaintPutOffError, InpaintRefusedError, InputError
from cfgen.core.files import png_bytes
from cfgen.core.network import current
from cfgen.inpaint.gemini_image import prompt
from cfgen.inpaint.gemini_image.postprocess import Laid, Letterbox, fit, lay
from cfgen.inpaint.gemini_image.prompt import MOST_REWORDINGS, VERSION, write_prompt
from cfgen.inpaint.paste import blend, weights
from cfgen.inpaint.protocol import Answer, InpainterRequirements, InpaintRequest, InpaintResult
from cfgen.models.base import Ask, ChatTurn, Model, ModelError, Picture
from cfgen.models.client import Calls, Client
from cfgen.models.gemini import Gemini, GeminiImage
from cfgen.models.limits import PRICES, BudgetSpentError, Limits
from cfgen.models.limits import TERMS as LIMITS
from cfgen.records import Hazard, Size

#: The service renames its models often: ``--inpainter-options model=NAME`` takes another.
DEFAULT_MODEL = "gemini-nano-banana-2.1"
#: Longer side of what is sent, by the size of the answer, pixels; "" asks for none, for models that know no sizes.
SIDES = {"": 1024, "1K": 1024, "2K": 2048, "4K": 4096}
#: Options that change cost, speed or patience but no pixel.
TERMS = (*LIMITS, "base_url", "quiet", "critic_usd_in", "critic_usd_out")
#: So many failures without a success point at the model or the key, not at the edits.
_TELLING = 4
_OURS = (InpaintRefusedError, InpaintPutOffError)
_OWNER = "inpainter 'nano-banana'"


class NanoBanana:
    """Google's image models through the API: each crop goes out, what comes back is aligned and pasted.

    Options that decide the picture, stored with the benchmark:

        model: the image model (default gemini-nano-banana-2.1).
        image_size: "1K", "2K", "4K", or "" to leave it to the model.
        rewordings: further wordings after a refusal or an answer without the edit.
        max_drift: mean change (8 bit) left outside the mask from which on an answer is refused; 0: none is.
        critic_model: a Gemini model that is shown before and after and must name what was added.

    Terms, free to change from one run to the next: those of :class:`cfgen.models.limits.Limits` (concurrency, rpm, tpm,
    retries, max_requests, usd_in, usd_out, usd_image, cache; ``max_requests`` and ``max_usd`` count over all
    runs that share ``cache``), base_url, timeout_s, batch_size (cases asked for together), quiet,
    critic_usd_in, critic_usd_out.
    """

    name = "nano-banana"
    version = "1"

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        image_size: str = "1K",
        rewordings: int = MOST_REWORDINGS,
        max_drift: float = 20.0,
        critic_model: str = "",
        base_url: str = "",
        timeout_s: float = 180.0,
        batch_size: int = 0,
        quiet: bool = False,
        critic_usd_in: float = 0.0,
        critic_usd_out: float = 0.0,
        **limits: Any,
    ) -> None:
        self.options: Mapping[str, Any] = {
            "model": model,
            "image_size": image_size,
            "rewordings": rewordings,
            "max_drift": float(max_drift),
            "critic_model": critic_model,
            "wording": VERSION,
        }
        _check(image_size, rewordings, limits)
        own = [name for name in inspect.signature(NanoBanana).parameters if name != "limits"]
        self._limits = Limits.of({"concurrency": 8, **limits}, _OWNER, own)
        self._critic_prices = Limits(usd_in=critic_usd_in, usd_out=critic_usd_out)
        _check_budget(self._limits, bool(critic_model), self._critic_prices)
        self._side, self._rewordings, self._max_drift = SIDES[image_size], rewordings, float(max_drift)
        size = batch_size or 2 * self._limits.concurrency
        self.needs = InpainterRequirements(context=0.4, shadow=0.8, batch_size=size, processes=1, terms=TERMS)
        self._opened: Client | None = None
        self._quiet = quiet
        self._models: list[Gemini] = [GeminiImage(model, base_url, timeout_s)]
        self._edits: Model = self._models[0]
        self._critic: Model | None = None
        if critic_model:
            judge = Gemini(critic_model, "", base_url, timeout_s)
            judge.otherwise = GeminiImage.otherwise
            self._critic = judge
            self._models.append(judge)

    def check(self) -> None:
        """Whether the models could be asked, without a call; says which one it takes where none was named.

        Raises:
            SetupError: no key, no package, or a host that may not be reached.
        """
        for model in self._models:
            current().require(model.host, _OWNER)
            model.check()
        if not self._quiet and self.options["model"] == DEFAULT_MODEL:
            takes_another = "--inpainter-options model=NAME takes another"
            print(f"{_OWNER}: asks {DEFAULT_MODEL}; {takes_another}", file=sys.stderr, flush=True)

    def can_draw(self, hazard: Hazard) -> bool:
        return hazard.kind == "null" or bool(hazard.prompt or hazard.name)

    def sizes(self, hazard: Hazard) -> list[Size]:
        return []

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[Answer]:
        """See :class:`cfgen.inpaint.protocol.Inpainter`.

        Raises:
            SetupError: no key, or a key, model or address that the service refuses.
        """
        return interrupts.run(self._all(requests)) if requests else []

    @property
    def client(self) -> Client:
        """Made late: an inpainter may be made only to be asked what it can draw."""
        if self._opened is None:
            self._opened = Client(_OWNER, self._limits, raised_by="--budget or max_requests")
        return self._opened

    # --- one batch ----------------------------------------------------------------------------------------

    async def _all(self, requests: Sequence[InpaintRequest]) -> list[Answer]:
        """All at once; one that fails does not end the others, so that nothing under way is paid for in vain."""
        client = self.client
        before = client.meter.requests
        async with client:
            results = await asyncio.gather(
                *(self._edit_request(client, r) for r in requests), return_exceptions=True
            )
        answers: list[Answer] = []
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, _OURS):
                raise result
            answers.append(result)
        broke = InpaintPutOffError(client.broke())
        answers = [broke if isinstance(a, _NoMoneyError) else a for a in answers]
        fault = _common_fault(answers, first=not before, any_drawn=client.pictures > 0)
        return [InpaintPutOffError(fault)] * len(answers) if fault else answers

    async def _edit_request(self, client: Client, request: InpaintRequest) -> InpaintResult:
        """
        Raises:
            InpaintRefusedError, InpaintPutOffError: no usable answer. SetupError: there will be none for anyone.
        """
        calls: Calls = []
        report: dict[str, Any] = {"model": self.options["model"], "calls": calls}
        try:
            return await self._edited(client, request, report, calls)
        except BudgetSpentError:
            raise _NoMoneyError from None
        except ModelError as error:
            raise _as_ours(error, report) from None

    async def _edited(
        self, client: Client, request: InpaintRequest, report: dict[str, Any], calls: Calls
    ) -> InpaintResult:
        height, width = request.mask.shape
        box = fit(height, width, self._side)
        asks = await asyncio.to_thread(self._asks, request, box)
        cached = [client.is_cached(self._edits, ask, request.seed) for ask in asks]
        report["letterbox"], problem = box.report, "no wording was tried"
        for wording, ask in enumerate(asks):
            if not cached[wording] and any(cached[wording:]):
                continue  # declined in an earlier run, which went on to the wording whose answer is here
            note = {"for": "edit", "wording": wording}
            reply = await client.reply(self._edits, ask, request.seed, calls=calls, note=note)
            laid: Laid | str = reply.reason or "no picture"
            if reply.finish == "complete":
                laid = await asyncio.to_thread(lay, reply.pictures[0].data, request, box, self._max_drift)
            if isinstance(laid, Laid):
                report |= {"prompt": ask.turns[0].parts[0], "sent": _hashes(ask), **laid.report}
                await self._criticised(client, request, laid, report, calls)
                return InpaintResult(laid.image, laid.alpha, report | _sum(calls), guessed=True)
            problem = laid
            if reply.finish == "complete":
                calls[-1] |= {"outcome": "unusable", "reason": problem}
        raise InpaintRefusedError(f"{self.options['model']}: {problem}", report | _sum(calls))

    def _asks(self, request: InpaintRequest, box: Letterbox) -> list[Ask]:
        """One question a wording, all with the same pictures."""
        sent = [request.image] if request.guide is None or request.hazard.kind == "null" else []
        sent = sent or [request.image, np.asarray(request.guide)]
        pictures = tuple(Picture(png_bytes(box.wrap(p)), "image/png") for p in sent)
        shape = {"aspect_ratio": box.ratio, "image_size": self.options["image_size"]}
        prompts = [write_prompt(request, box, wording) for wording in range(1 + self._rewordings)]
        return [Ask("", (ChatTurn("user", (prompt, *pictures)),), "json", shape) for prompt in prompts]

    async def _criticised(
        self, client: Client, request: InpaintRequest, laid: Laid, report: dict[str, Any], calls: Calls
    ) -> None:
        """
        Raises:
            InpaintRefusedError: the critic sees something else, or something wrong.
        """
        if self._critic is None:
            return
        after = blend(request.image, laid.image, weights(request.mask, laid.alpha))
        ask = prompt.question(*await asyncio.to_thread(lambda: tuple(map(png_bytes, (request.image, after)))))
        reviews: Calls = []

        def fits(text: str) -> bool:
            return prompt.read_finding(text) is not None

        prices, note = self._critic_prices, {"for": "critic"}
        reply = await client.reply(self._critic, ask, request.seed, fits, reviews, prices, note)
        calls += reviews
        finding = prompt.read_finding(reply.text) if reply.finish == "complete" else None
        if finding is None:
            why = reply.reason or "its answer cannot be read"
            raise InpaintRefusedError(f"critic: no opinion ({why})", report | _sum(calls))
        report["critic"] = {"model": self.options["critic_model"], **finding.report}
        if doubt := prompt.objection(finding, request.hazard):
            raise InpaintRefusedError(f"critic: {doubt}", report | _sum(calls))


class _UnreachedError(InpaintRefusedError):
    """Every try failed in passing."""


class _NoMoneyError(InpaintPutOffError):
    """No further request is paid for; how much was spent is known once those under way have come back."""


def _common_fault(answers: Sequence[Answer], first: bool, any_drawn: bool) -> str:
    """Why a batch without one success says nothing about its edits, or "". Refused, they would be lost for good.

    ``first``: nothing was asked before it. ``drawn``: the model has ever sent a picture.
    """
    refused = [a for a in answers if isinstance(a, InpaintRefusedError)]
    if len(refused) < len(answers):
        return ""
    unreached = sum(isinstance(a, _UnreachedError) for a in refused)
    if unreached == len(refused) and (len(refused) > 1 or first):
        return f"{refused[0]}; run the same command later to go on"
    if len(refused) >= _TELLING and not any_drawn:
        return (
            f"the first {len(refused)} edits all came to nothing ({refused[0]}); see whether the model draws pictures, "
            "then run the same command to go on"
        )
    return ""


def _as_ours(error: ModelError, report: Mapping[str, Any]) -> CfgenError:
    if error.kind == "rate":
        return InpaintPutOffError(f"{error}; run the same command later, or with a lower rpm, to go on")
    kind = _UnreachedError if error.kind == "transient" else InpaintRefusedError
    return kind(str(error), report)


def _sum(calls: Calls) -> dict[str, Any]:
    """Tokens and dollars of all calls for one edit."""
    usage: dict[str, float] = {}
    for call in calls:
        for name, value in call.get("usage", {}).items():
            usage[name] = round(usage.get(name, 0.0) + value, 6)
    return {"usage": usage}


def _hashes(ask: Ask) -> list[str]:
    return [part.hash for part in ask.turns[0].parts if isinstance(part, Picture)]


def _check(image_size: str, rewordings: int, limits: Mapping[str, Any]) -> None:
    if image_size not in SIDES:
        raise InputError(f"{_OWNER}: image_size: expected 1K, 2K, 4K or nothing, found '{image_size}'")
    if not 0 <= rewordings <= MOST_REWORDINGS:
        raise InputError(f"{_OWNER}: rewordings: expected 0 to {MOST_REWORDINGS}, found {rewordings}")
    if "votes" in limits:
        raise InputError(f"{_OWNER}: option 'votes' is for judges; leave it out")


def _check_budget(limits: Limits, prompt: bool, critic_prices: Limits) -> None:
    if not limits.max_usd:
        return
    if prompt and not any(getattr(critic_prices, p) for p in PRICES):
        raise InputError(
            f"{_OWNER}: a budget with a critic needs its prices: critic_usd_in and critic_usd_out"
        )
