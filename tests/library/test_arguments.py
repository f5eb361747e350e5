"""What the library is given is read, or refused in words that name the argument, before anything is done."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.core.errors import warn
from cfgen.options import BuildOptions, ScoreOptions
from tests.reporting.bench import blind, careful, make_bench


class Steers:
    def plan(self, observations):
        return []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": "3"}, "n: expected a whole number, found '3' (str)"),
        ({"n": 3.5}, "n: expected a whole number, found 3.5 (float)"),
        ({"n": True}, "n: expected a whole number, found True (bool)"),
        ({"scenes": 5}, "scenes: expected a path (text or os.PathLike), or None, found 5 (int)"),
        ({"out": ""}, "out: expected a path (text or os.PathLike), found '' (str)"),
        ({"hazards": 3}, "hazards: expected names: text, or a list of texts, found 3 (int)"),
        ({"inpainter": 3}, "inpainter: expected text, found 3 (int)"),
        ({"inpainter_options": "a=1"}, "inpainter_options: expected a mapping"),
        ({"jobs": -3}, "jobs: expected a number of processes, or 0 for one a core, found -3"),
        ({"budget": float("nan")}, "budget: expected a number, found nan (float)"),
        ({"decel_band": (1.0, 2.0, 3.0)}, "decel_band: expected two numbers, LOW,HIGH"),
        ({"distances": "0.7"}, "distances: expected a list of numbers, found '0.7' (str)"),
        ({"quiet": 1}, "quiet: expected True or False, found 1 (int)"),
        ({"n": "3", "jobs": -1}, "n: expected a whole number, found '3' (str); jobs: expected"),
    ],
)
def test_an_argument_of_build_that_does_not_fit_is_named(tmp_path: Path, given: dict, message: str):
    with pytest.raises(cfgen.InputError, match=re.escape(message)):
        cfgen.build(**{"out": tmp_path / "b", **given})
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (cfgen.open_benchmark, {"path": 3}, "path: expected a path"),
        (
            cfgen.score,
            {"bench": "b", "planner": 3},
            "or an object with a method 'plan(observations)', found 3 (int)",
        ),
        (
            cfgen.score,
            {"bench": "b", "planner": "cruise", "repeats": 0},
            "repeats: expected a whole number above 0",
        ),
        (
            cfgen.score,
            {"bench": "b", "planner": "cruise", "timeout_s": 0},
            "timeout_s: expected seconds above 0",
        ),
        (
            cfgen.report,
            {"bench": "b", "panels": "all"},
            "panels: expected a whole number, or None, found 'all'",
        ),
        (cfgen.score, {"bench": "b", "planner": "cruise", "arms": []}, "arms: expected one name at least"),
        (cfgen.score, {"bench": "b", "planner": "cruise", "name": ""}, "name: expected a name, or None"),
        (cfgen.compare, {"a": 3, "b": "c"}, "a: expected BENCH:PLANNER or a cfgen.Run, found 3 (int)"),
        (cfgen.calibrate, {"bench": "b", "benchmarks": "c"}, "benchmarks: expected a list of paths"),
    ],
)
def test_so_is_one_of_the_other_functions(function, given: dict, message: str):
    with pytest.raises(cfgen.InputError, match=re.escape(message)):
        function(**given)


def test_what_fits_is_handed_on_in_one_form():
    options = BuildOptions(
        "~/b",
        n=np.int32(3),
        budget=np.float32(2),
        hazards="boar, dog",
        controls=["null"],
        decel_band=[1, 2],
        inpainter_options={"file": Path("x")},
    )
    assert options.out == Path("~/b").expanduser()
    assert (options.n, type(options.n)) == (3, int)
    assert (options.budget, type(options.budget)) == (2.0, float)
    assert (options.hazards, options.controls) == (("boar", "dog"), ("null",))
    assert (options.decel_band, options.inpainter_options) == ((1.0, 2.0), {"file": "x"})
    assert (options.seed, options.scenes, options.distances) == (0, None, ())
    planner = Steers()
    for given, expected in ((planner, planner), (Steers, Steers), (Path("a.jsonl"), "a.jsonl")):
        assert ScoreOptions("b", given).planner == expected


def test_an_unknown_option_names_its_nearest():
    with pytest.raises(TypeError, match=r"build: unknown option 'inpaintr' \(did you mean 'inpainter'\?\)"):
        cfgen.build("b", inpaintr="sdxl")


def test_a_file_where_a_folder_is_to_be_is_called_one(tmp_path: Path):
    file = tmp_path / "afile"
    file.write_text("mine")
    for out in (file, file / "below"):
        with pytest.raises(cfgen.StoreError, match=f"expected a folder, found a file at {file}"):
            cfgen.build(out, n=1)
    with pytest.raises(cfgen.StoreError, match=r"expected a benchmark directory .*found a file"):
        cfgen.open_benchmark(file)
    assert file.read_text() == "mine"


# --- what comes back says what it is -------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("library") / "bench"
    make_bench(out, 4, {"careful": careful, "blind": blind}, ("hazard",))
    return out


def test_results_are_readable_at_a_prompt(bench: Path, tmp_path: Path):
    checked = cfgen.verify(bench)
    assert re.fullmatch(r"Verification\('.*bench'\): \d+ faults in \d+ files: .*", repr(checked))
    assert len(repr(checked)) < 600
    for shown in (
        cfgen.compare(f"{bench}:careful", "blind"),
        cfgen.report(bench, tmp_path / "page", panels=0),
    ):
        assert len(repr(shown)) < 300
        assert "Table(" not in repr(shown)


def test_a_warning_points_at_the_line_that_called(bench: Path):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        cfgen.compare(f"{bench}:careful", f"{bench}:careful")
        warn("directly")
    assert [one.filename for one in found] == [__file__] * 2
    assert "compared with itself" in str(found[0].message)
