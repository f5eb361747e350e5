"""What the page may ask: a name and a dictionary in, JSON out. Knows nothing of Gradio."""

import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cfgen.app import authoring, curate, manager, place
from cfgen.app.accounts import ROOMS_OF, Role
from cfgen.app.authoring import INSTANT, Tool
from cfgen.app.case_index import CaseIndex
from cfgen.app.jobs import JobQueue
from cfgen.app.pictures import case_picture, scene_picture, small, whole
from cfgen.app.place import Capabilities
from cfgen.app.rate import RatingRoom
from cfgen.app.rate_edges import EdgeRoom
from cfgen.app.reviews import person
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import fault_of
from cfgen.inpaint.registry import INPAINTERS
from cfgen.records import Campaign
from cfgen.storage.store import Store


def scores_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """
    Raises:
        InputError: there are none.
    """
    scores = query.get("scores")
    if not isinstance(scores, dict):
        raise InputError("scores: expected one for each dimension, found none")
    return scores


def seconds_of(query: Mapping[str, Any], field: str) -> float | None:
    """What the page measured; None where it did not."""
    return (
        None if query.get(field) is None else round(place.number_of(query, field, 0, sys.float_info.max), 1)
    )


# --- actions --------------------------------------------------------------------------------------

Asked = Mapping[str, Any]
Action = Callable[[str, Asked], Any]
ROOMS = ROOMS_OF["manager"]


class Api:
    """Every action over one benchmark, safe to call from several threads.

    Args:
        rooms: the rooms that are open; what belongs to another is neither answered nor shown.
        arms, repeats: see :class:`RatingRoom`.
        options: by inpainter, options for it where it is not the benchmark's own.
        campaign: what is rated, and by whom. rubric: of edges, in place of the hazard's; see :class:`EdgeRoom`.

    Raises:
        StoreError: ``bench`` is not a benchmark directory. InputError: no such room.
    """

    def __init__(
        self,
        bench: Path,
        rooms: Sequence[str] = ROOMS,
        arms: Sequence[str] = (),
        repeats: int = 1,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        campaign: Campaign | None = None,
        rubric: str = "",
    ) -> None:
        self.store = Store(bench)
        self.case_index = CaseIndex(self.store)
        self.jobs = JobQueue()
        self.rating: RatingRoom = (
            EdgeRoom(self.store, rubric, arms, repeats)
            if rubric
            else RatingRoom(self.store, arms, repeats, campaign)
        )
        self._options = dict(options or {})
        self._capabilities: dict[Tool, Capabilities] = {}
        unknown = sorted(set(rooms) - set(ROOMS))
        if unknown or not rooms:
            raise InputError(
                f"rooms: expected some of {', '.join(ROOMS)}, found {', '.join(unknown) or 'none'}"
            )
        self.rooms = tuple(r for r in ROOMS if r in rooms and (campaign or r != "campaign"))
        actions = {
            "curate": self._curating,
            "place": self._placing,
            "rate": self._rating,
            "campaign": self._managing,
        }
        self._actions = {room: actions[room]() for room in self.rooms}

    def call(self, query: Asked, user: str | None = None, role: Role = "manager") -> dict[str, Any]:
        """``{"ok": answer}`` or ``{"error": words}``; ``user`` is who asks, whatever the page says.

        What belongs to no room of ``role`` is nothing.
        """
        try:
            do = str(query.get("do"))
            action = next((self._actions[r][do] for r in self.open_to(role) if do in self._actions[r]), None)
            if action is None:
                raise InputError(f"the page asked for {do[:40]!r}, which is nothing; reload it")
            name = str(query.get("name", "")) if user is None else user
            return {"ok": action(person(name) if name.strip() else "", query)}
        except InputError as error:
            return {"error": str(error)}
        except Exception as error:
            if role == "rater":  # the words may name a planner, an arm or a hazard
                print(f"cfgen app: {fault_of(error, str(query.get('do')))}", file=sys.stderr)
                return {"error": "this cannot be shown; tell whoever runs this, and go on with the next"}
            if isinstance(error, CfgenError):
                return {"error": str(error)}
            return {
                "error": f"this broke, which is a fault of cfgen's: {fault_of(error, str(query.get('do')))}"
            }

    def open_to(self, role: Role) -> list[str]:
        """The open rooms that a role may enter."""
        return [r for r in self.rooms if r in ROOMS_OF[role]]

    def close(self) -> None:
        """End what runs in the background."""
        self.jobs.end()

    def warm_up(self) -> None:
        """Read what the first page asks for, before it does."""
        with contextlib.suppress(CfgenError):  # it will be said when the page asks
            self.case_index.entries()

    def picture(
        self,
        kind: str,
        owner: str,
        name: str,
        as_small: bool = False,
        user: str = "",
        role: Role = "manager",
    ) -> tuple[bytes, str]:
        """Content and media type of a picture in a room that is open to ``role``; ``as_small`` for a strip of frames.

        Raises:
            InputError, StoreError: there is none under this name, or not for this ``user``.
        """
        rooms = self.open_to(role)
        if kind == "rate" and {"rate", "campaign"} & set(rooms):
            return self.rating.picture(user, owner, name, as_small, manages="campaign" in rooms)
        if set(rooms) <= {"rate"} or kind not in ("case", "scene"):
            raise InputError(f"picture: expected a frame that this page shows, found {kind[:20]!r}")
        find = case_picture if kind == "case" else scene_picture
        frame = find(self.store, owner, name)
        if as_small:
            return small(frame, frame.path.stat().st_mtime_ns), "image/jpeg"
        return whole(frame)

    # --- the rooms ----------------------------------------------------------------------------------------

    def _curating(self) -> dict[str, Action]:
        index = self.case_index
        return {
            "queue": lambda name, q: curate.page(index, name, q),
            "item": lambda name, q: curate.item(index, _text(q, "id")),
            "decide": lambda name, q: {
                "said": curate.decide(index, name, _text(q, "id"), _decision(q), str(q.get("reason", "")))
            },
            "decide_all": lambda name, q: {
                "said": curate.decide_all(
                    index, name, curate.selection(q), _decision(q), str(q.get("reason", ""))
                )
            },
            "undo": lambda name, q: dict(zip(("id", "said"), curate.undo(index, name), strict=True)),
        }

    def _placing(self) -> dict[str, Action]:
        return {
            "scenes": lambda name, q: {
                "scenes": place.scenes(self.store),
                "inpainters": [{"id": n, "missing": INPAINTERS.missing_extra(n)} for n in INPAINTERS.names()],
                "inpainter": self.store.benchmark.inpainter,
                "guide": self.store.benchmark.guide,
                "instant": INSTANT,
            },
            "open_inpainter": self._open_inpainter,
            "hazards": lambda name, q: place.hazards(self._capabilities_of(q)),
            "job": lambda name, q: self.jobs.look_at(_text(q, "job")).shown(),
            "jobs": lambda name, q: [job.shown() for job in self.jobs.news(name)],
            "cancel": lambda name, q: self.jobs.cancel(_text(q, "job")),
            "scene": lambda name, q: place.show(self.store, _text(q, "scene")),
            "locate": lambda name, q: place.locate(self.store, q),
            "suggest": lambda name, q: place.suggest(self.store, self._capabilities_of(q), q),
            "live": lambda name, q: place.live(self.store, self._capabilities_of(q), q),
            "preview": lambda name, q: authoring.draw(self._tool({"inpainter": INSTANT}), q, _quiet),
            "generate": self._generate,
            "save": self._save,
        }

    def _rating(self) -> dict[str, Action]:
        return {
            "rate_progress": lambda name, q: self.rating.progress(name),
            "rate_question": lambda name, q: self.rating.question(name, _text(q, "token")),
            "rate": self._rate,
            "rate_agreement": lambda name, q: self.rating.after_the_last(name),
        }

    def _managing(self) -> dict[str, Action]:
        return {
            "campaign": lambda name, q: manager.overview(self.rating),
            "dispute": lambda name, q: manager.dispute(self.rating, _text(q, "item")),
            "adjudicate": lambda name, q: manager.adjudicate(
                self.rating,
                name,
                _text(q, "item"),
                scores_of(q),
                str(q.get("note", "")),
                q.get("sure") is True,
            ),
        }

    # --- actions that need more than a line -----------------------------------------------------------------

    def _rate(self, name: str, query: Asked) -> dict[str, Any]:
        scores = scores_of(query)
        sure, note = query.get("sure") is True, str(query.get("note", ""))
        spent = seconds_of(query, "seconds"), seconds_of(query, "paused")
        return self.rating.rate(name, _text(query, "token"), scores, note, sure, spent)

    def _open_inpainter(self, name: str, query: Asked) -> dict[str, Any] | None:
        """None where it can be used on this hazard at once, else the job that starts it."""
        tool, hazard = self._tool(query), str(query.get("hazard", ""))
        capabilities = self._capabilities.get(tool)
        if tool.inpainter == INSTANT or (capabilities is not None and capabilities.knows(hazard)):
            return None
        job = self.jobs.start(
            "start",
            name,
            tool.inpainter,
            f"starting {tool.inpainter}",
            partial(authoring.capabilities, tool, hazard),
            partial(self._learn, tool),
        )
        return job.shown()

    def _learn(self, tool: Tool, capabilities: Capabilities) -> None:
        self._capabilities.setdefault(tool, capabilities).sizes.update(capabilities.sizes)

    def _generate(self, name: str, query: Asked) -> dict[str, Any]:
        tool = self._tool(query)
        work = partial(authoring.draw, tool, dict(query))
        return self.jobs.start("draw", name, tool.inpainter, "drawing", work).shown()

    def _save(self, name: str, query: Asked) -> dict[str, Any]:
        tool, who = self._tool(query), person(name)
        _, faults, _ = place.placed(self.store, self._capabilities_of(query), query)
        if faults:
            raise InputError(f"not saved: {'; '.join(faults)}; move the hazard first")
        work = partial(authoring.save, tool, dict(query), who)
        return self.jobs.start("save", name, tool.inpainter, "saving", work).shown()

    def _tool(self, query: Asked) -> Tool:
        """What the page wants it drawn by; the benchmark's own where it does not say."""
        benchmark = self.store.benchmark
        inpainter, guide = str(query.get("inpainter", "")), str(query.get("guide", ""))
        if not inpainter:
            inpainter, guide = benchmark.inpainter, benchmark.guide
        for name in (inpainter, *([guide] if guide else [])):
            if name not in INPAINTERS.names():
                names = ", ".join(INPAINTERS.names())
                raise InputError(f"inpainter: expected one of {names}, found {name[:40]!r}")
        own = inpainter == benchmark.inpainter
        options = benchmark.inpainter_options if own else self._options.get(inpainter, {})
        text = json.dumps(dict(options), sort_keys=True)
        return Tool(self.store.root.resolve(), inpainter, text, guide)

    def _capabilities_of(self, query: Asked) -> Capabilities:
        tool = self._tool(query)
        if tool.inpainter == INSTANT:
            return authoring.capabilities(tool, None, _quiet)
        if tool not in self._capabilities:
            raise InputError(
                f"inpainter '{tool.inpainter}': is not started; choose it again under 'Drawn by'"
            )
        return self._capabilities[tool]


def _quiet(words: str, share: float | None) -> None:
    pass


def _text(query: Asked, field: str) -> str:
    value = query.get(field)
    if not isinstance(value, str):
        raise InputError(f"{field}: expected text, found {type(value).__name__}")
    return value


def _decision(query: Asked) -> Any:
    """What :func:`curate.decide` checks."""
    return _text(query, "decision")
