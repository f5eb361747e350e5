"""A provider of a third party judges and plans; one budget over all runs, told alike by all."""

import json

import numpy as np
import pytest

from cfgen.core.errors import SetupError, Shortfall
from cfgen.judge.registry import create_judge
from cfgen.models.limits import Ledger
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import open_planner
from cfgen.records import Motion
from tests.benches import run
from tests.judge.fake_gemini import Response
from tests.judge.items import items, judged
from tests.judge.test_hazard_rubric import reply
from tests.models.providers import install, server
from tests.reporting.bench import make_bench

STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(10.0,))
PLAN = write_text(
    "A road.", "It keeps its speed.", "set speed tracking", "lane keeping", constant_turn(10, 0)
)
PRICE = {"usd_in": 100.0}  # 100 tokens cost a cent


@pytest.fixture(autouse=True)
def _installed(tmp_path, monkeypatch):
    install(tmp_path / "site", monkeypatch)


def says(sent):
    """A verdict to the judge's question, a plan to the planner's."""
    return PLAN if sent["system"].startswith("You drive a car") else reply()


def house(found, **options):
    return {"model": "m", "url": found.url, **options}


def question(seed=1) -> Observation:
    shown = TimedImage(0.0, np.zeros((48, 64, 3), np.uint8))
    return Observation("q", seed, {"front": (shown,)}, {}, STILL)


def plan_of(planner, *seeds):
    return [to_plan(answer)[1] for answer in planner.ask([question(seed) for seed in seeds])]


# --- one file, one registration -------------------------------------------------------------------------------------


def test_it_plans_and_judges_from_the_command_line(tmp_path):
    bench = make_bench(tmp_path / "b", 1, {}, arms=("hazard",)).root
    with server(says) as found:
        options = ["model=m", f"url={found.url}"]
        planner = [word for o in (*options, 'look={"frame_times": [0]}') for word in ("--planner-options", o)]
        judge = [word for o in options for word in ("--judge-options", o)]
        code, said, err = run(
            "score", bench, "--planner", "house", *planner, "--judge", "house", *judge, "--quiet"
        )
        assert code == 0, err
        assert "m: 1 scored" in said
    accounts = [
        json.loads(line)["for"]
        for line in (bench / "cache/replies/spent.jsonl").read_text().splitlines()
        if line
    ]
    assert {*accounts} == {"planner m", "judge m"}


# --- one meaning of budget, cache and failure -----------------------------------------------------------------------


def test_a_judges_budget_counts_over_all_its_runs(tmp_path):
    options = {"cache": str(tmp_path / "c"), "concurrency": 1, **PRICE}
    with server(says) as found:
        for limit, done in ((0.02, 2), (0.02, 2), (0.03, 3)):
            judge = create_judge("house", **house(found, max_usd=limit, **options))
            verdicts = []
            with pytest.raises(
                Shortfall, match=rf"judge 'm': the budget is spent \({done} requests.* larger max_usd"
            ):
                judge.judge(items(5), verdicts.append)
            assert len(verdicts) == done, "those of earlier runs come from the cache and cost nothing"
            assert len(found.requests) == done
        judged(create_judge("house", name="other", **house(found, max_usd=0.05, **options)), items(5))
        assert len(found.requests) == 5, "another judge has a budget of its own, and the replies are there"


def test_a_planners_budget_counts_over_all_its_runs_and_may_be_raised(tmp_path):
    hashes = set()
    with server(says) as found:
        for limit, seeds in ((0.02, (1, 2, 3)), (0.02, (1, 2, 3)), (0.05, (1, 2, 3))):
            planner = open_planner(
                "house", house(found, max_usd=limit, concurrency=1, **PRICE), cache=tmp_path / "c"
            )
            hashes.add(planner.hash)
            try:
                if limit == 0.02:
                    with pytest.raises(Shortfall, match=r"planner 'm': the budget is spent \(2 requests"):
                        planner.ask([question(seed) for seed in seeds])
                    assert len(plan_of(planner, 1, 2)) == 2, "what was paid for is kept"
                else:
                    assert len(plan_of(planner, *seeds)) == 3
            finally:
                planner.close()
        assert len(found.requests) == 3
    assert len(hashes) == 1, "it is the same planner on other terms"


def test_only_what_can_be_used_is_kept(tmp_path):
    said = ["I would rather not.", PLAN]
    with server(lambda sent: said[min(len(found.requests) - 1, 1)]) as found:
        planner = open_planner("house", house(found), cache=tmp_path / "c")
        try:
            with pytest.raises(PlanFaultError):
                plan_of(planner, 1)
            assert plan_of(planner, 1) == plan_of(planner, 1)
            assert len(found.requests) == 2
            plan_of(planner, 2)
            assert len(found.requests) == 3, "another seed is another answer"
        finally:
            planner.close()


def test_a_ledger_reads_on_where_it_stopped(tmp_path, monkeypatch):
    ledger, path = Ledger(tmp_path), tmp_path / "spent.jsonl"
    for _ in range(20):
        ledger.add("m", "judge m", True, {"usd": 0.1})
    assert ledger.total().requests == 20
    read, loads = [], json.loads
    monkeypatch.setattr(json, "loads", lambda line: read.append(line) or loads(line))
    assert ledger.total().requests == 20
    ledger.add("m", "judge m", True, {"usd": 0.1})
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])  # its writer is not done
    assert ledger.total().requests == 20
    path.write_bytes(whole)
    assert ledger.total() == Ledger(tmp_path).total()
    assert len(read) < 30, "nothing is read twice but by the second one"


def test_what_will_never_work_ends_the_run_in_the_same_words(tmp_path):
    with server(lambda sent: Response(b"{}", 401)) as found:
        words = f"'m': {found.url} answered 401"
        with pytest.raises(SetupError, match=f"^judge {words}"):
            judged(create_judge("house", **house(found)), items(3))
        planner = open_planner("house", house(found))
        try:
            with pytest.raises(Exception, match=f"^planner {words}"):
                planner.ask([question()])
        finally:
            planner.close()
