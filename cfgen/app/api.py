"""What the page may ask: a name and a dictionary in, JSON out. Knows nothing of Gradio."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cfgen.app import compare, curate, making, place, rate, tryout
from cfgen.app.jobs import Job, Jobs
from cfgen.app.ledger import identifier, person
from cfgen.app.shelf import Shelf
from cfgen.errors import CfgenError, InputError
from cfgen.inpaint.registry import INPAINTERS
from cfgen.store import Store

Asked = Mapping[str, Any]
Action = Callable[[str, Asked], Any]


class Api:
    """Every action over one benchmark, safe to call from several threads.

    Args:
        scenes: where the benchmark's source scenes are, for topping it up; None looks in the usual places.

    Raises:
        StoreError: ``bench`` is not a benchmark directory.
    """

    def __init__(self, bench: Path, scenes: Path | None = None) -> None:
        self.store = Store(bench)
        self.shelf = Shelf(self.store)
        self.scenes = scenes
        self.jobs = Jobs()
        self.actions: dict[str, Action] = {
            **self._curating(),
            **self._placing(),
            **self._rating(),
            **self._comparing(),
        }

    def call(self, asked: Asked, user: str | None = None) -> dict[str, Any]:
        """``{"ok": answer}`` or ``{"error": words}``; ``user`` is who is logged in, whatever the page says."""
        try:
            action = self.actions.get(str(asked.get("do")))
            if action is None:
                raise InputError(
                    f"the page asked for {str(asked.get('do'))[:40]!r}, which is nothing; reload it"
                )
            name = user or str(asked.get("name", ""))
            return {"ok": action(person(name) if name.strip() else "", asked)}
        except CfgenError as error:
            return {"error": str(error)}

    def who(self, user: str | None) -> dict[str, Any]:
        """What the top of the page shows."""
        return {"bench": self.store.root.resolve().name, "user": user}

    # --- the rooms ----------------------------------------------------------------------------------------

    def _curating(self) -> dict[str, Action]:
        return {
            "queue": lambda name, q: {"rows": self.shelf.queue(name), "wanted": self.store.benchmark.n},
            "item": lambda name, q: curate.item(self.shelf, _text(q, "id")),
            "decide": self._decide,
            "undo": lambda name, q: {"id": curate.undo(self.shelf, name)},
            "bring_back": lambda name, q: {"said": curate.bring_back(self.shelf, name, _text(q, "id"))},
            "regenerate": self._regenerate,
            "top_up": self._top_up,
            "job": lambda name, q: _state(self.jobs.job),
            "cancel": lambda name, q: self.jobs.cancel(),
        }

    def _placing(self) -> dict[str, Action]:
        return {
            "scenes": lambda name, q: {
                "scenes": place.scenes(self.store),
                "inpainters": INPAINTERS.names(),
                "inpainter": self.store.benchmark.inpainter,
            },
            "hazards": lambda name, q: place.hazards(self.store, str(q.get("inpainter", ""))),
            "scene": lambda name, q: place.show(self.store, _text(q, "scene")),
            "locate": lambda name, q: place.locate(self.store, q),
            "suggest": lambda name, q: place.suggest(self.store, q),
            "live": lambda name, q: place.live(self.store, q),
            "preview": lambda name, q: place.preview(self.store, q),
            "generate": lambda name, q: self._job("drawing", lambda job: self._generate(q, job)),
            "save": self._save,
        }

    def _rating(self) -> dict[str, Action]:
        return {
            "rate_progress": lambda name, q: rate.progress(self.store, name),
            "rate_question": lambda name, q: rate.question(self.store, name, _text(q, "token")),
            "rate": self._rate,
            "rate_agreement": lambda name, q: rate.after_the_last(self.store, name),
        }

    def _comparing(self) -> dict[str, Action]:
        return {
            "overview": lambda name, q: compare.overview(self.store),
            "answer": lambda name, q: compare.answer(
                self.shelf, _name(q, "planner"), _text(q, "id"), _name(q, "judge")
            ),
            "try_choices": lambda name, q: {
                "cases": [
                    {"id": e.id, "name": e.name} for e in self.shelf.entries() if e.status == "accepted"
                ],
                "baselines": tryout.baselines(self.store),
            },
            "try_example": lambda name, q: {"text": tryout.example(self.store, _text(q, "id"))},
            "try": lambda name, q: tryout.try_output(
                self.store,
                _text(q, "id"),
                _text(q, "text"),
                str(q.get("original", "")),
                str(q.get("baseline", "")),
            ),
        }

    # --- actions that need more than a line -----------------------------------------------------------------

    def _decide(self, name: str, asked: Asked) -> dict[str, Any]:
        decision: Any = _text(asked, "decision")
        said = curate.decide(self.shelf, name, _text(asked, "id"), decision, str(asked.get("reason", "")))
        return {"said": said}

    def _rate(self, name: str, asked: Asked) -> dict[str, Any]:
        scores = asked.get("scores")
        if not isinstance(scores, dict):
            raise InputError("scores: expected one for each dimension, found none")
        return rate.rate(self.store, name, _text(asked, "token"), scores, str(asked.get("note", "")))

    def _regenerate(self, name: str, asked: Asked) -> dict[str, Any]:
        person(name)
        case_id, hazard = _text(asked, "id"), _text(asked, "hazard")
        return self._job(
            "making it again", lambda job: making.regenerate(self.shelf, name, case_id, hazard, job)
        )

    def _top_up(self, name: str, asked: Asked) -> dict[str, Any]:
        n = asked.get("n")
        if not isinstance(n, int) or not 0 < n <= 100_000:
            raise InputError(f"top up: expected a number of cases, found {str(n)[:20]!r}")
        return self._job("counting", lambda job: making.top_up(self.store, n, self.scenes, job))

    def _generate(self, asked: Asked, job: Job) -> dict[str, Any]:
        shown = place.preview(self.store, asked)
        job.say("drawn")
        return shown

    def _save(self, name: str, asked: Asked) -> dict[str, Any]:
        by = {"placed_by": person(name), "mask": "painted" if asked.get("mask") else "projected"}
        placement, faults, _ = place.placed(self.store, asked)
        if placement is None or faults:
            raise InputError(f"not saved: {'; '.join(faults)}; move the hazard first")
        image = place.stage(self.store.root, _text(asked, "scene")).image
        mask = place.read_mask(asked, image)
        inpainter = str(asked.get("inpainter", "")) or self.store.benchmark.inpainter
        shop = making.workshop(self.store.root, inpainter)
        scene, hazard = _text(asked, "scene"), _text(asked, "hazard")
        return self._job(
            "saving",
            lambda job: making.make_by_hand(self.store, shop, placement, hazard, scene, by, job, mask),
        )

    def _job(self, words: str, work: Callable[[Job], Any]) -> dict[str, Any]:
        return _state(self.jobs.start(words, work))


def _state(job: Job | None) -> dict[str, Any]:
    if job is None:
        return {"state": "", "words": "", "result": None}
    return {"state": job.state, "words": job.words, "result": job.result}


def _text(asked: Asked, field: str) -> str:
    value = asked.get(field)
    if not isinstance(value, str):
        raise InputError(f"{field}: expected text, found {type(value).__name__}")
    return value


def _name(asked: Asked, field: str) -> str:
    return identifier(_text(asked, field), field)
