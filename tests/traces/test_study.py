"""The preliminary study: two scripted checkpoints whose difference is known stratum by stratum."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.library.study import Study
from cfgen.traces.study import displacement

T = 0.25 * np.arange(1, 25)
FUTURE = np.column_stack([8 * T, 0 * T])
#: of each stratum: changed, A grounded, B grounded, how many, metres by which A and B are off ahead and to the side
KNOWN = {
    "changed, both grounded": (True, True, True, 4, (1.0, 0.0), (0.5, 0.0)),
    "changed, only B grounded": (True, False, True, 6, (0.0, 2.0), (0.0, 1.0)),
    "changed, only A grounded": (True, True, False, 5, (0.0, 1.0), (0.0, 2.0)),
    "changed, neither grounded": (True, False, False, 3, (3.0, 4.0), (3.0, 4.0)),
    "unchanged, grounded": (False, True, True, 7, (2.0, 1.0), (1.0, 2.0)),
    "unchanged, not grounded": (False, False, False, 2, (1.0, 1.0), (2.0, 2.0)),
}


def write(folder: Path) -> tuple[Path, Path]:
    sides: tuple[list, list] = [], []
    for name, (changed, ga, gb, n, a, b) in KNOWN.items():
        for i in range(n):
            for side, grounded, off in zip(sides, (ga, gb), (a, b), strict=True):
                row = {
                    "id": f"{name} {i}".replace(",", ""),
                    "waypoints": (FUTURE + off).tolist(),
                    "reasoning": "The road is free.",
                    "grounded": grounded,
                    "changed": changed,
                }
                if changed and side is sides[1]:
                    row["reasoning"] = "Pedestrians wait at a crossing, hence caution."
                side.append(row if side is sides[1] else {**row, "future": FUTURE.tolist()})
    paths = folder / "a.json", folder / "b.json"
    for path, side in zip(paths, sides, strict=True):
        path.write_text(json.dumps({"name": path.stem, "samples": side}))
    return paths


def test_the_known_difference_comes_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    a, b = write(tmp_path)
    assert main(["analyze", "study", str(a), str(b), "--out", str(tmp_path / "out")]) == 0
    assert "| changed, only B grounded | 6 |" in capsys.readouterr().out
    found = {one["name"]: one for one in json.loads((tmp_path / "out" / "study.json").read_text())["strata"]}
    for name, (_, _, _, n, off_a, off_b) in KNOWN.items():
        one = found[name]
        assert one["n"] == n
        for error, k in (("longitudinal", 0), ("lateral", 1)):
            assert one["means"][error] == pytest.approx([off_a[k], off_b[k]])
            wins = one["wins"][error]
            assert wins["n"] == (0 if off_a[k] == off_b[k] else n)
            assert one["ties"][error] == n - wins["n"]
            assert wins["hits"] == (wins["n"] if off_b[k] < off_a[k] else 0)
    # 3-4-5, and root of 5 either way: ADE is a tie where the two errors only change places
    assert found["changed, neither grounded"]["means"]["ADE"] == pytest.approx([5.0, 5.0])
    assert found["unchanged, grounded"]["ties"]["ADE"] == 7
    assert found["all"]["n"] == 27
    assert found["all"]["wins"]["lateral"]["hits"] == 6
    assert found["all"]["wins"]["lateral"]["n"] == 6 + 5 + 7 + 2
    plot = (tmp_path / "out" / "study.svg").read_text()
    assert "only B grounded (n = 6)" in " ".join(re.findall(">([^<]+)</text>", plot))
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"study.{e}" for e in ("md", "csv", "json", "svg")
    }


def test_words_tell_whether_reasoning_changed_where_nobody_said_it(tmp_path: Path):
    paths = write(tmp_path)
    contents = [json.loads(path.read_text()) for path in paths]

    def study(**fields: object) -> Study:
        for path, content in zip(paths, contents, strict=True):
            path.write_text(json.dumps({"samples": [{**row, **fields} for row in content["samples"]]}))
        return cfgen.study(*paths)

    by_words = study(changed=None)
    assert {one.name: one.n for one in by_words.strata} == {**{k: v[3] for k, v in KNOWN.items()}, "all": 27}
    assert by_words.changed_by == "words"
    assert len(study(changed=False).odd) == 6 + 5, "unchanged, and yet grounded in one only"
    with pytest.raises(InputError, match=r"expected 'grounded' .* found it for none"):
        study(grounded=None)


def test_displacement_is_along_and_across():
    assert displacement(FUTURE + np.array([3.0, -4.0]), FUTURE) == pytest.approx(
        {"ADE": 5, "lateral": 4, "longitudinal": 3}
    )
