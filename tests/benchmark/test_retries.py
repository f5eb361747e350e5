"""What broke in an earlier build is tried again when asked for."""

from cfgen.storage.store import Store
from tests.benches import run
from tests.benchmark.test_build_faults import BAD, arguments, plant, scenes  # noqa: F401


def test_a_finished_benchmark_gets_what_it_lost_as_well_when_asked(
    scenes,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    out = tmp_path / "b"
    command = arguments(scenes, out, n=1)
    with monkeypatch.context() as patch:
        plant(patch, lambda r: r.hazard.id == BAD)
        assert run(*command)[0] == 0
    lost = {p.case_id for p in Store(out).planned} - {c.case_id for c in Store(out).cases()}
    assert run(*command)[0] == 0
    assert len(Store(out).cases()) == 1, "it is finished"
    assert run(*command, "--retry-faults")[0] == 0
    assert lost
    assert lost < {c.case_id for c in Store(out).cases()}
    assert not Store(out).rejections()
    assert run("bench", "verify", out)[0] == 0
