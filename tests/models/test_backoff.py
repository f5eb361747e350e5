"""Waiting on a clock of the test's own: how long each try waits, and how far apart requests start."""

import asyncio

import pytest

from cfgen.models import limits
from cfgen.models.base import ModelError, Reply
from cfgen.models.limits import BudgetSpentError, Limits, Meter, with_retries


class Clock:
    """Time passes only while something sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits.asyncio, "sleep", clock.sleep)
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def jitter(monkeypatch) -> list[tuple[float, float]]:
    """Draws the upper end of every range, and keeps the ranges."""
    ranges: list[tuple[float, float]] = []
    monkeypatch.setattr(limits.random, "uniform", lambda low, high: ranges.append((low, high)) or high)
    return ranges


def answered(usage: dict[str, float]) -> Reply:
    return Reply("fine", usage=usage)


def failing(kind="transient", after=None, times=99):
    async def call() -> Reply:
        nonlocal times
        times -= 1
        if times < 0:
            return answered({"input_tokens": 10})
        raise ModelError(kind, "busy", after)

    return call


def reply_of(call, meter, **waits):
    return asyncio.run(with_retries(call, meter, **waits))


def test_waits_double_from_a_second_to_a_minute(clock, jitter):
    with pytest.raises(ModelError, match="busy"):
        reply_of(failing(), Meter(Limits(retries=9)))
    assert clock.slept == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert set(jitter) == {(0.5, 1.0)}, "each wait is half to all of that"


@pytest.mark.parametrize(("asked", "waited"), [(0.0, 0.0), (7.5, 7.5), (3600.0, 600.0)])
def test_the_servers_own_wait_comes_first_up_to_ten_minutes(clock, jitter, asked, waited):
    assert reply_of(failing(after=asked, times=1), Meter(Limits())).text == "fine"
    assert clock.slept == [waited]


@pytest.mark.parametrize(("kind", "held_back"), [("rate", 20.0), ("transient", 0.0)])
def test_a_rate_limit_holds_everyone_back_and_a_fault_only_itself(
    clock, jitter, monkeypatch, kind, held_back
):
    meter, started = Meter(Limits()), []

    async def sleep(seconds: float) -> None:
        if not started:  # while the first request waits, another comes
            started.append(0.0)
            await meter.admit()
            started[0] = clock.now - 1000
        await clock.sleep(seconds)

    monkeypatch.setattr(limits.asyncio, "sleep", sleep)
    reply_of(failing(kind, 20.0, times=1), meter)
    assert started == [pytest.approx(held_back)]


@pytest.mark.parametrize(("kind", "tries"), [("bad", 1), ("fatal", 1), ("transient", 4)])
def test_tries_are_one_more_than_retries_and_one_where_it_will_never_work(clock, jitter, kind, tries):
    meter = Meter(Limits(retries=3))
    with pytest.raises(ModelError):
        reply_of(failing(kind), meter)
    assert meter.requests == tries
    assert reply_of(failing(times=3), Meter(Limits(retries=3))).text == "fine"


def test_requests_start_evenly_at_the_agreed_rate(clock):
    meter, starts = Meter(Limits(rpm=20)), []
    for _ in range(4):
        asyncio.run(meter.admit())
        starts.append(clock.now - 1000)
    assert starts == pytest.approx([0, 3, 6, 9])
    clock.now += 100
    asyncio.run(meter.admit())
    asyncio.run(meter.admit())
    assert clock.now - 1000 == pytest.approx(9 + 100 + 3), "what was not used is not made up for"


def test_tokens_are_spread_by_what_replies_take(clock):
    """600 tokens a minute at 100 tokens a reply: one every 10 s; the first reply sets the measure."""
    meter, starts = Meter(Limits(tpm=600)), []
    for _ in range(4):
        asyncio.run(meter.admit())
        starts.append(clock.now - 1000)
        meter.spend(answered({"input_tokens": 70, "output_tokens": 20, "thinking_tokens": 10}))
        meter.finished()
    assert starts == pytest.approx([0, 0, 10, 20])


def test_requests_and_money_stop_at_their_limit(clock):
    meter = Meter(Limits(max_requests=2))
    asyncio.run(meter.admit())
    asyncio.run(meter.admit())
    with pytest.raises(BudgetSpentError, match="2 requests"):
        asyncio.run(meter.admit())
    prices = Limits(usd_in=2.0, usd_out=10.0, usd_image=0.04)
    usage = {"input_tokens": 1e6, "output_tokens": 2e5, "thinking_tokens": 3e5, "images": 2}
    assert prices.cost(usage) == pytest.approx(2.0 + 2.0 + 3.0 + 0.08)
