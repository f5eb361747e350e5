"""A benchmark in an object store: the same files as in a folder, one claim for all machines, and nothing lost.

The store is a real S3 server on loopback; a machine is a cache folder of its own.
"""

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest
from moto.server import ThreadedMotoServer

import cfgen
from cfgen.core import object_store
from cfgen.core.errors import InputError, StoreError
from cfgen.core.locks import NameClaims, claim
from cfgen.core.network import Network, limited
from cfgen.core.object_store import Bucket, bucket_of, is_url, working_copy
from cfgen.storage.store import Store
from tests.benches import run


@pytest.fixture(scope="module")
def server():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
    patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fsspec.filesystem("s3").mkdir("bucket")
    yield server
    patch.undo()
    server.stop()


@pytest.fixture
def machine(server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Go to another machine."""

    def go(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    go("first")
    return go


def options(scenes: Path) -> dict:
    fixed = {"hazards": "cone_line", "controls": "null,nuisance", "perception": "colour"}
    return {"n": 2, "scenes": scenes, "quiet": True, **fixed}


def there(url: str) -> dict[str, bytes]:
    """Every object but claims."""
    system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    found = {name.removeprefix(f"{root}/"): system.cat_file(name) for name in system.find(root)}
    return {name: data for name, data in found.items() if not name.startswith(".work/")}


def pixels(files: dict[str, bytes]) -> dict[str, bytes]:
    return {
        n: d for n, d in files.items() if n.startswith(("cases/", "scenes/")) and not n.endswith("/case.json")
    }


def files(folder: Path) -> dict[str, bytes]:
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {name: data for name, data in found.items() if not name.startswith(".work/")}


@pytest.fixture(scope="module")
def stored(server, scenes: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Built by a worker process each; not to be changed."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("builder")))
    cfgen.build("s3://bucket/stored/bench", jobs=2, **options(scenes))
    patch.undo()
    return "s3://bucket/stored/bench"


def test_the_same_files_as_in_a_folder_and_another_machine_goes_on_with_them(
    stored: str, bench: Path, machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found = there(stored)
    assert pixels(found) == pixels(files(bench))
    assert {n for n in found if not n.startswith("perception")} >= {
        "benchmark.json",
        "plan.jsonl",
        "build.json",
    }
    monkeypatch.chdir(tmp_path)
    code, _, err = run("score", stored, "--planner", "cruise", "--arms", "original,hazard", "--quiet")
    assert code == 0, err
    assert len([n for n in there(stored) if n.startswith("runs/") and not n.endswith("planner.json")]) == 4
    machine("second")
    code, out, err = run("report", stored)
    assert code == 0, err
    assert str(working_copy(stored)) not in out + err
    code, out, err = run("bench", "verify", str(working_copy(stored)))  # the copy stands for it
    assert code == 0, err
    assert out.startswith(f"{stored}: ")
    assert "cruise" in (tmp_path / "bench-report" / "report.md").read_text()
    assert not cfgen.verify(stored).faults
    assert files(Path(working_copy(stored))) == there(stored)


def test_a_build_that_is_killed_is_ended_elsewhere_and_nothing_is_made_twice(
    machine, scenes: Path, bench: Path
):
    url = "s3://bucket/killed/bench"
    words = f"build --out {url} --n 2 --scenes {scenes} --hazards cone_line --jobs 1 --controls null,nuisance".split()
    words += ["--perception", "colour"]
    command = subprocess.Popen([sys.executable, "-m", "cfgen", *words], start_new_session=True)
    system = fsspec.filesystem("s3", use_listings_cache=False)
    while not (made := system.glob("bucket/killed/bench/cases/*/*/case.json")):
        assert command.poll() is None
        time.sleep(0.05)
    os.killpg(command.pid, signal.SIGKILL)
    command.wait()
    before = {name: system.cat_file(name) for name in made}
    machine("second")
    object_store.STALE_S, kept = 2.0, object_store.STALE_S
    try:
        assert len(cfgen.build(url, jobs=1, **options(scenes))) == 2
    finally:
        object_store.STALE_S = kept
    assert {name: system.cat_file(name) for name in before} == before
    assert pixels(there(url)) == pixels(files(bench))


def test_one_machine_holds_a_claim_until_it_lets_go_or_shows_no_sign_of_life(
    machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    url = "s3://bucket/claims/bench"
    here = Bucket(url, tmp_path / "a" / "bench")
    other = Bucket(url, tmp_path / "b" / "bench")
    with here.claim("x") as mine, other.claim("x") as theirs, other.claim("y") as apart:
        assert (mine, theirs, apart) == (True, False, True)
    with other.claim("x") as theirs:
        assert theirs
    dead = here.take("x")
    object_store._BEATS.drop(dead)
    monkeypatch.setattr(object_store, "STALE_S", 0.1)
    assert other.take("x") is None  # seen for the first time
    time.sleep(0.2)
    taken = other.take("x")
    assert taken is not None
    assert here.take("x") is None
    other.release(taken)
    assert not [n for n in fsspec.filesystem("s3").find("bucket/claims") if "/x@" in n]


def test_locks_of_a_working_copy_are_those_of_every_machine(machine, tmp_path: Path):
    url = "s3://bucket/locks/bench"
    first = working_copy(url)
    ours = NameClaims(first, "asking")
    with claim(first, "benchmark") as mine:
        assert mine
        machine("second")
        second = working_copy(url)
        assert bucket_of(second).url == url
        assert bucket_of(first) is None  # that is on the other machine
        with claim(second, "benchmark") as theirs:
            assert not theirs
    assert ours.take("q")
    with ours, NameClaims(second, "asking") as their:
        assert not their.take("q")
        ours.release("q")
        assert their.take("q")


def test_what_one_machine_takes_away_is_gone_on_the_other(stored: str, machine, bench: Path, tmp_path: Path):
    url = "s3://bucket/reviewed/bench"
    folder = working_copy(url)
    for name, data in there(stored).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        bucket_of(folder).send(folder / name, data)
    store = Store(folder)
    case_id = store.case_ids()[0]
    machine("second")
    assert Store(working_copy(url)).has_case(case_id)
    machine("first")
    store.discard_case(case_id)
    assert not store.has_case(case_id)
    machine("second")
    time.sleep(1.1)
    assert not Store(working_copy(url)).has_case(case_id)


def test_names_that_lead_out_of_the_working_copy_are_refused_and_marks_of_folders_passed_over(
    machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    bucket = Bucket("s3://bucket/odd/bench", tmp_path / "copy" / "bench")
    root = "bucket/odd/bench"
    monkeypatch.setattr(Bucket, "_entries", lambda *_: {f"{root}/": {}, f"{root}/cases/": {}})
    bucket.pull()
    for name in ("../../out", "cases/../../out", "/out"):
        monkeypatch.setattr(Bucket, "_entries", lambda *_, name=name: {f"{root}/{name}": {}})
        with pytest.raises(StoreError, match="lies outside it"):
            bucket.pull()
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="expected an address"):
        working_copy("s3://bucket/..")


def test_an_address_is_told_from_a_path_and_what_cannot_be_reached_is_one_line(machine, tmp_path: Path):
    assert is_url("s3://bucket/bench")
    assert is_url(Path("s3://bucket/bench"))
    assert not is_url("bench")
    assert not is_url("/s3:/bench")
    with pytest.raises(StoreError, match=r"^s3://nobody/bench: cannot .*check the address, the keys"):
        cfgen.build("s3://nobody/bench", n=1)
    with limited(Network(allow_hosts=("example.org",))), pytest.raises(StoreError) as held:
        bucket_of(working_copy("s3://bucket/held")).send(tmp_path / "file", b"")
    assert "--allow-hosts example.org is in force: name 127.0.0.1 in --allow-hosts, too" in str(held.value)
    code, _, err = run("report", "s3://bucket/none")
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert "s3://bucket/none: expected a benchmark directory" in err
    with pytest.raises(InputError, match="out: expected a path of this machine, found the address s3:"):
        cfgen.report("bench", "s3://bucket/report")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s4://bucket/x", r"expected a folder, or an address that begins with s3://"),
        ("s3://", r"expected an address such as s3://bucket/folder"),
        ("s3://bucket/" + "x" * 1100, r"expected at most 800 characters, found 1112"),
    ],
)
def test_an_address_that_is_none_makes_no_folder(address: str, words: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("build", "--n", "1", "--out", address)
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    with pytest.raises(InputError, match=words):
        cfgen.build(address, n=1)
    assert not list(tmp_path.iterdir())


def test_a_store_that_is_away_for_a_while_is_waited_for_and_told_of(
    machine, tmp_path: Path, monkeypatch, capsys
):
    folder = working_copy("s3://bucket/patient")
    bucket, now, sent = Bucket("s3://bucket/patient", folder), [0.0], []
    bucket.pull()
    monkeypatch.setattr(time, "sleep", lambda s: now.__setitem__(0, now[0] + s))
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def send(place: str, data: bytes) -> None:
        if now[0] < away:
            raise OSError("An error occurred (503) when calling the PutObject operation: Please try again")
        sent.append(place)

    monkeypatch.setattr(bucket._fs, "pipe_file", send)
    away = 100.0
    bucket.send(folder / "a.json", b"{}")
    assert sent == ["bucket/patient/a.json"]
    lines = capsys.readouterr().err.splitlines()
    assert 3 <= len(lines) <= 5
    assert "s3://bucket/patient is away" in lines[0]
    away = 1e9
    with pytest.raises(StoreError, match=r"cannot write .*503"):
        bucket.send(folder / "b.json", b"{}")
    assert 690 < now[0] < 730, "ten minutes"
    before = now[0]
    monkeypatch.setattr(bucket._fs, "pipe_file", lambda *_: (_ for _ in ()).throw(PermissionError("no")))
    with pytest.raises(StoreError):
        bucket.send(folder / "c.json", b"{}")
    assert now[0] == before, "what is forbidden stays so"
