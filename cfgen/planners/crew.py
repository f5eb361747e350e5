"""``--workers N``: copies of one planner, asked side by side, each on a card of its own where that is wanted."""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cfgen.core.errors import InputError, warn
from cfgen.planners import devices
from cfgen.planners.registry import OpenPlanner


@dataclass(frozen=True)
class Member:
    """One copy, and the card it starts on; "" leaves that to the environment."""

    planner: OpenPlanner
    device: str = ""


def crew(open_one: Callable[[], OpenPlanner], workers: int, cards: Sequence[str] = ()) -> list[Member]:
    """Start ``workers`` copies of a planner, on the ``cards`` in turn; the first alone, the others together.

    One that runs in this process, or is weightless, stays one.

    Raises:
        InputError: the planner cannot be opened, or takes no card from us. Nothing is left running.
    """
    devices.check_devices(cards)
    on = [cards[i % len(cards)] if cards else "" for i in range(workers)]
    first = _open(open_one, on[0])
    if cards and first.planner.isolation != "process":
        first.planner.close()
        where = "on its server" if first.planner.isolation == "server" else "in this process"
        raise InputError(
            f"--devices: planner '{first.planner.spec}' runs {where} and takes no card from here; leave it out"
        )
    if first.planner.isolation == "none" and workers > 1:
        warn(f"planner '{first.planner.spec}' runs in this process: one worker asks it")
        return [first]
    members = [first]
    try:
        with ThreadPoolExecutor(max(1, workers - 1)) as pool:
            started = [pool.submit(contextvars.copy_context().run, _open, open_one, card) for card in on[1:]]
        members += [future.result() for future in started if future.exception() is None]
        for future in started:
            future.result()
    except BaseException:
        for member in members:
            member.planner.close()
        raise
    return members


def _open(open_one: Callable[[], OpenPlanner], card: str) -> Member:
    with devices.on(card):
        return Member(open_one(), card)
