"""A build on hazards of one's own: the benchmark holds them and goes on without their file."""

import shutil
from pathlib import Path

from cfgen.benchmark.context import BuildContext, WorkerSettings
from cfgen.core.paths import scenarios_dir
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.storage.store import Store
from tests.benches import run

OWN = """\
hazards:
  my_carts:
    name: two shopping carts standing in the lane
    size: {length: 1.0, width: 0.6, height: 1.05}
    model: shopping_cart
"""


def test_a_build_on_own_hazards_goes_on_without_their_file(tmp_path: Path):
    scenes = tmp_path / "scenes"
    for path in [scenarios_dir() / "scenes" / "lane_clear_04"]:
        shutil.copytree(path, scenes / path.name)
    mine, out = tmp_path / "mine.yaml", tmp_path / "b"
    mine.write_text(OWN)
    command = [
        "build",
        "--n",
        1,
        "--scenes",
        scenes,
        "--out",
        out,
        "--hazards",
        "my_carts",
        "--jobs",
        1,
        "--quiet",
    ]
    code, _, err = run(*command, "--taxonomy", mine)
    assert code == 0, err
    store = Store(out)
    (case,) = store.cases()
    assert (case.hazard.id, case.hazard.cluster) == ("my_carts", "Own")
    expected = load_taxonomy(mine)
    assert store.benchmark.taxonomy_hash == expected.hash
    assert store.benchmark.own_hazards == expected.own
    mine.write_text(OWN.replace("width: 0.6", "width: 0.7"))
    code, _, err = run(*command, "--taxonomy", mine)
    assert code == 2
    assert "was built with taxonomy_hash = " in err
    mine.unlink()
    assert run(*command)[0] == 0
    assert BuildContext(WorkerSettings(out)).taxonomy == expected
    assert run("bench", "verify", out)[0] == 0
