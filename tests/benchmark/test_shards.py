"""A build in parts, in folders of their own: merged it is the build in one folder, byte for byte."""

import shutil
from pathlib import Path

import pytest

import cfgen
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_record, write_record
from cfgen.records import PlannerRun, Shard
from cfgen.storage.store import Store
from tests.benches import build_arguments, copy, run, tree


@pytest.fixture(scope="module")
def shards(real: Path, bench: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two parts; frames that ``bench`` has seen are not looked at again."""
    folder = tmp_path_factory.mktemp("shards")
    made = []
    for index in (1, 2):
        out = folder / str(index)
        code, said, err = run(*build_arguments(real, out, 5, "--jobs", "1", "--shard", f"{index}/2"))
        assert code == 0, err
        assert f"shard {index}/2 is done" in said
        made.append(out)
    return made


def test_merged_shards_are_the_build_in_one_folder(real, bench, shards, tmp_path):
    one, two = ({*Store(path).case_ids()} for path in shards)
    assert one
    assert two
    assert not one & two
    out = tmp_path / "b"
    code, said, err = run("bench", "merge", out, *shards)
    assert code == 0, err
    assert f"{len(one | two)} of 5 cases" in said
    code, _, err = run(*build_arguments(real, out, 5, "--jobs", "1"))
    assert code == 0, err
    whole = ("*.json*", "[a-z]*/**/*")
    assert tree(out, *whole) == tree(bench, *whole)
    assert run("bench", "verify", out)[0] == 0


def test_what_does_not_belong_together_is_told_in_one_line(real, bench, shards, tmp_path):
    one = shards[0]
    again, other = copy(one, tmp_path / "again"), tmp_path / "other"
    refused = {
        (one,): "two folders at least, found 1",
        (one, one): "is given twice; give each folder once",
        (one, again): f"shard 1/2 is given twice: {one} and {again}",
        (one, bench): r"is no shard \(it has no shard.json\)",
        (one, tmp_path): "expected a benchmark directory",
    }
    for given, why in refused.items():
        with pytest.raises((InputError, StoreError), match=why):
            cfgen.merge(other, given)
    assert not other.exists()


def noted(shard: Path, to: Path, **fields: object) -> Path:
    """A copy of its records alone, with another note of which part it is."""
    shutil.copytree(shard, to, ignore=shutil.ignore_patterns("*.png", "*.jpg"))
    found = read_record(to / "shard.json", Shard)
    write_record(to / "shard.json", found.model_copy(update=fields))
    return to


def test_parts_that_are_missing_or_did_not_end_are_named(shards, tmp_path):
    one, two = shards
    first, second = (noted(path, tmp_path / path.name, count=3) for path in shards)
    refused = {
        (first, second): "expected all 3 shards, missing 3/3",
        (one, second): "shards of one number, found parts of 2 and of 3",
        (one, noted(two, tmp_path / "open", done=False)): "shard 2/2 did not end; run its command again",
    }
    for given, why in refused.items():
        with pytest.raises((InputError, StoreError), match=why):
            cfgen.merge(tmp_path / "out", given)


def test_shards_of_other_settings_or_pairs_are_named(real, shards, tmp_path):
    one, two = shards
    changed = noted(two, tmp_path / "seed")
    record = Store(changed).benchmark
    write_record(changed / "benchmark.json", record.model_copy(update={"seed": 8}))
    with pytest.raises(InputError, match=r"not of one benchmark: .*was built with seed = 7, now asked for 8"):
        cfgen.merge(tmp_path / "out", [one, changed])
    write_record(changed / "benchmark.json", record)
    (changed / "plan.jsonl").unlink()
    with pytest.raises(InputError, match="plan other pairs"):
        cfgen.merge(tmp_path / "out", [one, changed])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "is shard 1/2, found no --shard"),
        (("--shard", "2/2"), "is shard 1/2, found --shard 2/2"),
        (("--shard", "1/2", "--retry-faults"), "--shard: leave --retry-faults out"),
        (("--shard", "3/2"), "expected I/N with 1 <= I <= N"),
    ],
)
def test_a_shard_goes_on_as_itself_alone(real, shards, more, why):
    code, _, err = run(*build_arguments(real, shards[0], 5, *more))
    assert code == 2
    assert why in err


def test_scored_copies_become_one(bench, tmp_path):
    parts = [copy(bench, tmp_path / name) for name in ("a", "b")]
    for index, part in enumerate(parts, start=1):
        assert run("score", part, "--planner", "cruise", "--quiet", "--shard", f"{index}/2")[0] == 0
    with pytest.raises(InputError, match=r"answers of planner 'cruise' are in none of the folders; give all"):
        cfgen.merge(tmp_path / "out", [parts[0], bench])
    own = Store(parts[1]).planner_run_path("cruise")
    write_record(own, read_record(own, PlannerRun).model_copy(update={"salt": "b", "network": ("b",)}))
    made = cfgen.merge(tmp_path / "out", parts)
    assert made.run("cruise").record.network == ("", "b")
    assert made.run("cruise").record.salt == ""
    assert len(made.run("cruise").rollouts) == 10
    assert len(made.run("cruise").verdicts) == 5
    assert run("bench", "verify", made.path)[0] == 0
    again = copy(bench, tmp_path / "again")
    assert run("score", again, "--planner", "cruise", "--quiet", "--shard", "1/2")[0] == 0
    with pytest.raises(InputError, match=r"two folders hold runs/cruise/.* and it differs"):
        cfgen.merge(tmp_path / "twice", [*parts, again])
    assert not (tmp_path / "twice").exists()
