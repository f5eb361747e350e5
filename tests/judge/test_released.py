"""The validation that ships is of the offline judge as it is: a fresh benchmark does not call it untested."""

import warnings

from cfgen.core.files import read_record
from cfgen.core.paths import scenarios_dir
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.run import trusted
from cfgen.records import ProbeRun
from tests.reporting.bench import make_bench

SHIPPED = scenarios_dir() / "judges" / "offline.json"


def test_what_ships_is_of_this_code_and_enough():
    """Where this fails: make it anew, as docs/judges.md says."""
    shipped, judge = read_record(SHIPPED, ProbeRun), OfflineJudge()
    assert (shipped.code, shipped.rubric_hash) == (judge.code, judge.run_record().rubric_hash)
    assert shipped.lacks == ()
    assert shipped.accuracy["waypoints"] >= 0.95


def test_a_fresh_benchmark_does_not_call_the_judge_untested_and_other_code_is(tmp_path):
    store = make_bench(tmp_path / "b", 1, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trusted(store, OfflineJudge(), "cfgen")
    assert read_record(store.probe_path("offline"), ProbeRun).n > 100
    store.probe_path("offline").unlink()
    changed = OfflineJudge()
    changed.__dict__["code"] = "sha256:" + "0" * 64
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trusted(store, changed, "cfgen")
    assert "has not been tested" in str(caught[0].message)
