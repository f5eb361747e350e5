"""Whatever a planner tries, it does not learn which arm it sees: a planner that cheats is right as often as a coin.

Each protection is also taken away once, to see that it then wins: one that never wins shows nothing.
"""

import random
import secrets
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binomtest

from cfgen.core.errors import InputError
from cfgen.planners import cheating, runtime
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import OpenPlanner, open_planner
from cfgen.planners.runtime import Runtime, permitted
from cfgen.records import Motion
from cfgen.rollouts.inputs import question_seed
from cfgen.rollouts.queries import Memory, Queries, Queue, query_order
from cfgen.storage.store import Store
from tests.reporting.bench import make_bench

CASES, REPEATS, BATCH = 125, 8, 25
STILL = Motion(t=(-0.5, 0.0), poses=((-5.0, 0.0, 0.0), (0.0, 0.0, 0.0)), v=(10.0, 10.0))


@pytest.fixture(autouse=True)
def _chance(monkeypatch):
    """The order of chance is the same in every run of the test, as an interval may miss one time in twenty."""
    monkeypatch.setattr(secrets, "SystemRandom", lambda: random.Random(7))


@pytest.fixture
def _permitted():
    if not {"sight", "writes", "processes"} <= permitted():
        pytest.skip("this system permits no namespaces")


@pytest.fixture(scope="module")
def pictures():
    """Of each case two pictures of one place without a hazard: the grain of one is stronger by a fiftieth.

    Cases differ in grain by far more, so that one picture alone tells nothing, and a pair everything.
    """
    draw = np.random.default_rng(3)
    found = {}
    for case in range(CASES):
        place = np.kron(draw.uniform(40, 215, (6, 8, 1)), np.ones((8, 8, 3)))
        grain, level = draw.normal(size=(48, 64, 1)), 4 * 8 ** draw.random()
        for arm, stronger in (("original", 1.0), ("null", 1.02)):
            found[str(case), arm] = np.clip(place + grain * level * stronger, 0, 255).astype(np.uint8)
    return found


def _shown(key):
    return key[0], key[:2]


def guesses(planner: OpenPlanner, pictures, forgets: bool = True) -> tuple[int, int]:
    """How often it was right about which arm it saw, of how many questions, asked as a run asks them."""
    keys = [(case, arm, repeat) for case, arm in pictures for repeat in range(REPEATS)]
    keys.sort(key=lambda key: int(key[0]))
    order = query_order(keys, _shown)
    memory, draw, right = Memory(planner), random.Random(5), 0
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        if forgets:
            memory.admit(map(_shown, batch))
        asked = [
            Observation(
                f"{draw.getrandbits(48):012x}", question_seed("7 salt", *key),
                {"front": (TimedImage(0.0, pictures[key[:2]]),)}, {}, STILL,
            )
            for key in batch
        ]  # fmt: skip
        for (_, arm, _), answer in zip(batch, planner.ask(asked), strict=True):
            right += (answer.report["guess"] == "original") == (arm == "original")
    return right, len(order)


def guessed_right(pictures, where: Runtime, forgets: bool = True) -> tuple[float, float, float]:
    """Share that it guessed right, and its 95% interval."""
    planner = open_planner("cheating", {"looks": False}, runtime=where)
    try:
        right, asked = guesses(planner, pictures, forgets)
    finally:
        planner.close()
    assert asked >= 2000
    interval = binomtest(right, asked).proportion_ci(method="wilson")
    return right / asked, interval.low, interval.high


@pytest.mark.usefixtures("_permitted")
def test_a_cheating_planner_does_no_better_than_a_coin_on_pairs_without_a_hazard(pictures):
    share, low, high = guessed_right(pictures, Runtime())
    assert low <= 0.5 <= high, share


def test_it_goes_by_the_wait_where_it_is_told_to(monkeypatch):
    clock = iter((0.0, 1.0, 1.0, 4.0, 4.0))  # it is made, asked, has answered, ...
    # its own clock: other threads of the test process read the real one
    monkeypatch.setattr(cheating, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(cheating, "_places", list)  # it would write to each of them
    planner = cheating.Cheating(looks=False, by="pace")
    image = TimedImage(0.0, np.full((8, 8, 3), 9, np.uint8))
    asked = Observation("t", 1, {"front": (image,)}, {}, STILL)
    told = [planner.plan([asked])[0].report for _ in range(2)]
    assert [(one["guess"], one["way"]) for one in told] == [("original", "pace"), ("edited", "pace")]
    with pytest.raises(InputError, match="by: expected noise or pace, found 'luck'"):
        cheating.Cheating(by="luck")


@pytest.mark.usefixtures("_permitted")
def test_one_that_is_not_made_to_forget_knows_the_second_of_every_pair(pictures):
    assert guessed_right(pictures, Runtime(), forgets=False)[1] > 0.7


@pytest.mark.usefixtures("_permitted")
def test_one_that_may_write_where_it_finds_it_again_knows_as_much(pictures, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert guessed_right(pictures, Runtime(writable=(tmp_path,)))[1] > 0.7
    assert (tmp_path / "cheating.json").is_file()


@pytest.mark.usefixtures("_permitted")
def test_the_benchmark_is_found_only_where_it_was_given_and_not_hidden(tmp_path: Path, monkeypatch):
    bench = make_bench(tmp_path / "drives" / "bench", 1, {}, arms=("hazard",)).root
    monkeypatch.chdir(tmp_path / "drives")
    monkeypatch.setenv("WHERE", str(bench))
    monkeypatch.setenv("MAKEFLAGS", f"BENCH={bench}")
    found = {}
    ways = {
        "by default": Runtime(),
        "named": Runtime(paths=(tmp_path / "drives",)),
        "named and hidden": Runtime(paths=(tmp_path / "drives",), hidden=(bench,)),
        "writable and hidden": Runtime(writable=(tmp_path / "drives",), hidden=(bench,)),
    }
    for way, given in ways.items():
        planner = open_planner("cheating", runtime=given)
        (answer,) = planner.ask([Observation("t", 1, {}, {}, STILL)])
        planner.close()
        found[way] = str(bench) in answer.report["found"]
    assert [way for way, seen in found.items() if seen] == ["named"]


#: how many notes it finds in the kernel's keyrings, and in how many it can leave one
RINGS = """
import contextlib, ctypes, os
libc, (add, keyctl) = ctypes.CDLL(None), {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]
rings = [-3, -4, -5]
with contextlib.suppress(OSError):
    rings += [int(line.split()[0], 16) for line in open("/proc/keys") if " keyring " in line]
found = [r for r in rings if libc.syscall(keyctl, 10, r, b"user", b"arm", 0) > 0]
left = [r for r in rings if libc.syscall(add, b"user", b"arm", b"1", 1, r) > 0]
print(len(found), len(left))
"""


@pytest.mark.usefixtures("_permitted")
def test_no_note_is_left_in_the_keyrings_of_the_user_or_of_the_login():
    for _ in range(2):
        running = runtime.start([sys.executable, "-I", "-S", "-c", RINGS], Runtime())
        assert running.source.read() == b"0 0\n"
        running.stop()
    with patch.object(runtime, "permitted", lambda: permitted() - {"keys"}):
        assert "may leave notes in the KERNEL'S KEYRINGS" in Runtime().sight_record()
    assert "KEYRINGS" not in Runtime().sight_record()


@pytest.mark.parametrize("arms", [("a",), ("a", "b"), ("a", "b", "c", "d")])
def test_no_pass_holds_two_arms_of_a_case_and_nothing_is_lost(arms: tuple[str, ...]):
    keys = [(str(case), arm, repeat) for case in range(40) for arm in arms for repeat in range(3)]
    order = query_order(keys, _shown)
    assert sorted(order) == sorted(keys)
    renewed: list[int] = []
    planner = OpenPlanner("p", "p", "", None, None, renew=lambda: renewed.append(1))  # type: ignore[arg-type]
    memory = Memory(planner)
    for key in order:
        memory.admit([_shown(key)])
    assert len(renewed) == len(arms) - 1
    firsts = [next(key[1] for key in order if key[0] == str(case)) for case in range(40)]
    assert set(firsts) == set(arms), "which arm comes first differs from case to case"


def test_no_life_of_a_planner_and_no_batch_holds_two_arms_of_cases_that_share_a_scene(tmp_path: Path):
    root = make_bench(tmp_path / "bench", 1, {}, arms=("hazard",)).root
    cases = {f"{k:012x}": ("original", "hazard")[: 1 + k % 2] for k in range(24)}
    scenes = {case: str(int(case, 16) % 7) for case in cases}  # cases of a scene do not follow each other
    asked = Queries(lambda _: pytest.fail("no case is read"), cases, 2, scenes).apart()
    lives: list[dict[str, set]] = [{}]
    planner = OpenPlanner("p", "p", "", None, None, renew=lambda: lives.append({}))  # type: ignore[arg-type]
    memory, put = Memory(planner), 0
    with Queue(Store(root), "p", asked.each_key(), lambda _: True, list, list, asked.scene) as queue:
        while batch := queue.take(5):
            assert len({scenes[key.case_id] for key in batch}) == len(batch)
            memory.admit(map(asked.shown, batch))
            for key in batch:
                lives[-1].setdefault(scenes[key.case_id], set()).add(key[:2])
            put += len(batch)
    assert put == len(asked) == 72
    assert {len(seen) for life in lives for seen in life.values()} == {1}
