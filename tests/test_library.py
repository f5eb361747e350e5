"""``import cfgen``: light, typed, and the same from a script, a notebook, a thread or pytest."""

import ast
import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.core import interrupts
from cfgen.core.paths import scenarios_dir
from cfgen.planners.process import parts_of, spec_of

ROOT = Path(__file__).resolve().parents[1]


class Plain:
    """Keeps its lane; declares no needs."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain
        self.asked: list[object] = [self]  # not JSON, and so no option

    def plan(self, observations):
        t = np.arange(1, 25) * 0.25
        return [
            cfgen.Response("I keep my lane.", np.column_stack([self.gain * o.speed * t, 0 * t]), t)
            for o in observations
        ]


class Throws(Plain):
    def plan(self, observations):
        raise ValueError("no")


def python(code: str, *arguments: str, file: Path | None = None) -> subprocess.CompletedProcess[str]:
    """``code`` as a script, or from stdin, from another folder than the clone's."""
    if file:
        file.write_text(code)
    return subprocess.run(
        [sys.executable, *arguments, str(file or "-")],
        input=None if file else code,
        cwd=file.parent if file else None,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> cfgen.Benchmark:
    out = tmp_path_factory.mktemp("library") / "bench"
    return cfgen.build(out, n=2, hazards="cone_line, work_barrier", controls=["null"], jobs=1, quiet=True)


@pytest.fixture(scope="module")
def run(bench: cfgen.Benchmark) -> cfgen.Run:
    return cfgen.score(bench, Plain(), arms="hazard,rerun", quiet=True)


# --- the import -----------------------------------------------------------------------------------------


def test_importing_it_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time\nstart = time.process_time()\nimport cfgen\nspent = time.process_time() - start\n"
        "print([m for m in ('numpy', 'cv2', 'pydantic', 'scipy', 'PIL') if m in sys.modules], spent)"
    )
    done = [python(code).stdout.split() for _ in range(3)]  # the machine may be busy
    assert [loaded for loaded, _ in done] == ["[]"] * 3
    assert min(float(spent) for _, spent in done) < 0.05


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom cfgen.cli.main import main\nmain(['--help'])\n"
        "print([m for m in ('numpy', 'cv2', 'pydantic', 'scipy', 'PIL', 'yaml') if m in sys.modules])"
    )
    assert python(code).stdout.strip().endswith("\n[]")


@pytest.mark.parametrize(
    "order",
    [
        "from cfgen.build import check_build; import cfgen.build, cfgen.score",
        "f = [cfgen.build, cfgen.score, cfgen.report, cfgen.verify]; from cfgen.build import check_build",
        "import threading\n"
        "def load(i): importlib.import_module('cfgen.build') if i % 2 else cfgen.build\n"
        "threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]",
    ],
    ids=["modules first", "functions first", "threads"],
)
def test_a_function_keeps_its_name_whatever_was_imported_first(order: str):
    check = (
        "from cfgen import build\n"
        "from cfgen.build import check_build\n"
        "assert build is cfgen.build is cfgen.library.build, cfgen.build\n"
        "assert all(type(getattr(cfgen, n)).__name__ == 'function' for n in ('build', 'score', 'report', 'verify'))\n"
        "assert sys.modules['cfgen.build'].build is not build and check_build.__module__ == 'cfgen.build'\n"
        "print('fine')"
    )
    done = python(f"import sys, importlib, cfgen, cfgen.library\n{order}\n{check}")
    assert done.stdout == "fine\n", done.stderr


def test_what_type_checkers_see_is_what_there_is():
    tree = ast.parse((ROOT / "cfgen" / "__init__.py").read_text())
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in typed.body for alias in node.names}  # type: ignore[attr-defined]
    assert sorted([*seen, "__version__"]) == sorted(cfgen.__all__)
    for name, module in seen.items():
        assert getattr(cfgen, name) is getattr(sys.modules[module], name)
    assert set(cfgen.__all__) <= set(dir(cfgen))
    assert (ROOT / "cfgen" / "py.typed").is_file()
    with pytest.raises(AttributeError, match="has no attribute 'bild'"):
        cfgen.bild  # noqa: B018


# --- where it runs --------------------------------------------------------------------------------------

_SCRIPT = """
import threading, cfgen, numpy as np

class Mine:
    def plan(self, observations):
        t = np.arange(1, 25) * 0.25
        return [cfgen.Response("On.", np.column_stack([o.speed * t, 0 * t]), t) for o in observations]

print("top")
made = {}
work = lambda: made.update(bench=cfgen.build("made", n=2, hazards="cone_line", jobs=2, quiet=True))
thread = threading.Thread(target=work)
thread.start(); thread.join()
bench = made["bench"]
for planner in (Mine(), "tests.planners.bad_planners:Good"):
    run = cfgen.score(bench, planner, quiet=True)
    print(run.record.isolation, len(run.rollouts), len(run.failures), run.record.spec)
try:
    cfgen.score(bench, Mine, quiet=True)
except cfgen.InputError as error:
    print(error)
"""


def test_a_script_needs_no_guard(tmp_path: Path):
    done = python(_SCRIPT, file=tmp_path / "script.py")
    assert done.returncode == 0, done.stderr
    first, *runs, refused = done.stdout.splitlines()
    assert first == "top"  # once: no child ran the script again
    assert runs == ["none 4 0 __main__:Mine()", "process 4 0 tests.planners.bad_planners:Good"]
    assert "pass an instance, Mine()" in refused


def test_from_stdin_as_in_a_notebook_where_a_loop_runs(bench: cfgen.Benchmark, tmp_path: Path):
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"default": "no"}))
    code = f"""
import asyncio, cfgen
async def cell():
    return cfgen.score({str(bench.path)!r}, "tests.planners.bad_planners:Good", name="cell", quiet=True,
                       judge="scripted", judge_options={{"file": {str(replies)!r}}})
run = asyncio.run(cell())
print(run.record.isolation, len(run.rollouts), len(run.verdicts))
"""
    done = python(code)
    assert done.stdout == "process 4 2\n", done.stderr


def test_a_loop_within_a_loop_returns_raises_and_is_cancelled():
    async def work(value: int) -> int:
        await asyncio.sleep(0)
        if value < 0:
            raise ValueError("below 0")
        return value

    async def cell() -> int:
        with pytest.raises(ValueError, match="below 0"):
            interrupts.run(work(-1))
        return interrupts.run(work(3))

    assert asyncio.run(cell()) == interrupts.run(work(3)) == 3


# --- a planner that is an object ------------------------------------------------------------------------


def test_an_object_runs_here_and_the_record_says_so(bench: cfgen.Benchmark, run: cfgen.Run):
    assert run.planner == "Plain"
    assert run.record.isolation == "none"
    assert run.record.spec == "tests.test_library:Plain()"
    assert run.record.needs["cameras"] == ["front"]
    assert {(r.status, r.text) for r in run.rollouts} == {("ok", "I keep my lane.")}
    assert cfgen.verify(bench).faults == []
    run.bench.store.rollout_path("Plain", "rerun", bench[0].case_id).rename(bench.path / "aside")
    missing = cfgen.verify(bench).faults
    (bench.path / "aside").rename(run.bench.store.rollout_path("Plain", "rerun", bench[0].case_id))
    assert f'cfgen.score("{bench.path}", planner=Plain(), name="Plain")' in "".join(missing)


def test_its_fingerprint_covers_class_source_and_options():
    assert parts_of(Plain()) == parts_of(Plain(1.0))
    assert len({spec_of(p) + str(parts_of(p)) for p in (Plain(), Plain(2.0), Throws())}) == 3
    typed = ["class P:\n def plan(self, o): return 1", "class P:\n def plan(self, o): return 2"]
    made = []
    for code in (*typed, typed[0]):
        space: dict[str, type] = {"__name__": "__main__"}
        exec(code, space)
        made.append(parts_of(space["P"]()))
    assert made[0] == made[2] != made[1]


def test_another_version_under_its_name_is_refused(bench: cfgen.Benchmark, run: cfgen.Run):
    with pytest.raises(cfgen.StoreError, match="another version of this planner"):
        cfgen.score(bench, Plain(2.0), quiet=True)
    with pytest.raises(cfgen.InputError, match="an object was made with its own"):
        cfgen.score(bench, Plain(), planner_options={"gain": 2}, quiet=True)
    with pytest.raises(cfgen.InputError, match=r"planner: expected a name, .* found <object"):
        cfgen.score(bench, object(), quiet=True)  # type: ignore[arg-type]


def test_what_an_object_raises_is_a_recorded_failure(bench: cfgen.Benchmark):
    found = cfgen.score(bench, Throws(), name="throws", quiet=True)
    assert len(found.failures) == len(found.rollouts) == 4
    assert "ValueError: no (test_library.py:" in found.failures[0].reason
    assert found.success().planner_failed == 2


def test_a_class_runs_in_its_own_process_and_may_declare_nothing(bench: cfgen.Benchmark):
    found = cfgen.score(bench, Plain, name="apart", quiet=True)
    assert (found.record.isolation, found.record.spec) == ("process", "tests.test_library:Plain")
    assert found.failures == []


# --- what comes back ------------------------------------------------------------------------------------


def test_cases_hold_their_frames_as_arrays(bench: cfgen.Benchmark):
    assert len(bench) == len(list(bench)) == 2
    found = {case.case_id for case in bench} | {rejection.case_id for rejection in bench.rejections}
    assert found <= {planned.case_id for planned in bench.planned}
    case = bench[0]
    assert bench[case.case_id].record == case.record
    assert case.case_id in bench
    assert case in bench
    assert "x" not in bench
    assert 0 not in bench
    height, width = case.original.shape[:2]
    assert case.augmented.shape == (height, width, 3)
    assert case.mask.shape == (height, width)
    assert case.layer.shape == (height, width, 4)
    changed = (case.original != case.augmented).any(axis=2)
    assert changed.any()
    assert not (changed & (case.mask == 0)).any()
    frames = case.frames()
    assert list(frames) == sorted(frames)
    assert list(frames)[-1] == 0.0
    assert len(frames) > 1
    assert (frames[0.0] == case.augmented).all()
    assert (case.frames("original")[0.0] == case.original).all()
    assert case.hazard.id in ("cone_line", "work_barrier")
    assert case.arms == ("original", "rerun", "hazard", "null")
    assert bench.faults == []
    assert bench.shortfall == ""
    with pytest.raises(cfgen.InputError, match="expected one of its 2 case ids, found 'x'"):
        bench["x"]
    with pytest.raises(
        cfgen.InputError, match="expected an arm of original, rerun, hazard, null, found 'nuisance'"
    ):
        case.frames("nuisance")


def test_a_run_holds_answers_and_verdicts_by_case(bench: cfgen.Benchmark, run: cfgen.Run):
    assert len(run) == 2
    for one in run:
        assert set(one.rollouts) == {(arm, 0) for arm in ("original", "hazard", "rerun")}
        answer, verdict = one.rollout(), one.verdict()
        assert answer is not None
        assert answer.plan is not None
        assert verdict is not None
        assert verdict.scores["waypoints"] == 0
        assert one.rollout("null") is None
    table = run.table()
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["planner"], row["judge"], row["N"]) == ("Plain", "offline", "2")
    assert bench.run("Plain").rows() == run.rows()
    with pytest.raises(cfgen.InputError, match=r"expected one of: .*Plain"):
        bench.run("nobody")
    assert repr(one).startswith(f"RunCase(BenchmarkCase({one.case.case_id})")
    assert repr(one).endswith("3 answers; waypoints hazard 0, sham_rerun 0")
    with pytest.raises(cfgen.InputError, match=r"arm 'nul'.*: expected one of hazard, sham_null"):
        run.success("nul")
    with pytest.raises(cfgen.InputError, match=r"found hazrd \(did you mean 'hazard'\?\)"):
        cfgen.score(bench, Plain(), arms="hazrd", quiet=True)


def test_rows_are_ready_for_a_data_frame(bench: cfgen.Benchmark, run: cfgen.Run):
    cases, answers = bench.rows(), run.rows()
    assert [row["case_id"] for row in cases] == [case.case_id for case in bench]
    assert len(answers) == 6
    assert [row["verdict"] for row in answers if row["arm"] == "original"] == [None, None]
    for rows in (cases, answers):
        assert all(row.keys() == rows[0].keys() for row in rows)
        kinds = {type(value) for row in rows for value in row.values()}
        assert kinds <= {str, int, float, type(None)}


def test_a_notebook_shows_small_pictures_and_loads_nothing(
    bench: cfgen.Benchmark, run: cfgen.Run, tmp_path: Path
):
    written = cfgen.report(bench, tmp_path / "page", panels=0)
    shown = [thing._repr_html_() for thing in (bench, bench[0], run, run.table(), next(iter(run)), written)]
    assert [text.count("data:image/") for text in shown] == [2, 2, 0, 0, 2, 1]
    for text in shown:
        assert len(text) < 150_000
        assert not re.findall(r"src=\"(?!data:)|<script|https?://", text)
    assert (written.out / "index.html").is_file()


def test_a_build_that_falls_short_says_so(tmp_path: Path):
    scene = sorted(scenarios_dir().glob("scenes/*"))[0]
    with pytest.warns(cfgen.ShortfallWarning, match=r"of 2 cases; .*Add scenes"):
        made = cfgen.build(tmp_path / "b", n=2, scenes=scene, hazards=["cone_line"], jobs=1, quiet=True)
    assert len(made) < 2
    assert made.built is not None
    assert made.built.wanted == 2
    assert made.shortfall.startswith(f"{len(made)} of 2 cases")


def test_paths_are_text_or_path_and_options_may_hold_them(bench: cfgen.Benchmark, tmp_path: Path):
    assert cfgen.open_benchmark(str(bench.path)).rows() == cfgen.open_benchmark(bench.path).rows()
    assert cfgen.export_inputs(str(bench.path), tmp_path / "inputs", arms="hazard", quiet=True) == 4
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"default": "no"}))
    found = cfgen.score(
        bench, "cruise", judge="scripted", judge_options={"file": replies, "name": "p"}, quiet=True
    )
    assert {v.status for v in found.verdicts} == {"failed"}
