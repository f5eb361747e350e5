"""A planner runs where it lives: in any Python, told nothing, held to its limits; what goes wrong is one line."""

import ast
import json
import os
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path

import attrs
import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.options import ScoreOptions
from cfgen.planners import process
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.client import Channel, ChannelError
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import open_planner
from cfgen.planners.runtime import Runtime, permitted, python_of
from cfgen.records import FAILURES, Camera, Motion
from cfgen.rollouts.workers import runtime_of

STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))
LEVEL = ((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, 0), (0, 0, 0, 1))
PLAIN = "tests.planners.plain_planners"


@pytest.fixture
def _permitted():
    if not {"network", "sight", "writes", "processes"} <= permitted():
        pytest.skip("this system permits no namespaces")


def question(pixels: np.ndarray | None = None) -> Observation:
    if pixels is None:
        return Observation("q", 1, {}, {}, STILL)
    camera = Camera(width=pixels.shape[1], height=pixels.shape[0], cx=1, cy=1, T_cam_ego=LEVEL)
    return Observation("q", 1, {"front": (TimedImage(0.0, pixels),)}, {"front": camera}, STILL)


def asked(name: str, options: dict | None = None, runtime: Runtime = Runtime(), times: int = 1):  # noqa: B008
    planner = open_planner(f"{PLAIN}:{name}", options, runtime=runtime, timeout_s=20.0)
    try:
        return [planner.ask([question()])[0] for _ in range(times)]
    finally:
        planner.close()


def wrapper(folder: Path, before: str) -> str:
    """A Python that runs ``before`` first."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "import sys\n{before}\nexec(sys.argv[2])" "$@"\n')
    script.chmod(0o755)
    return str(script)


# --- another environment ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_a_planner_in_another_python_gets_the_client_sent_and_every_pixel(shared: bool, monkeypatch):
    if not shared:
        monkeypatch.setattr(process, "_shared_memory", lambda: -1)
    pixels = np.random.default_rng(1).integers(0, 256, (90, 160, 3), np.uint8)
    planner = open_planner(f"{PLAIN}:Tells", runtime=Runtime(python=(sys.executable,)))
    try:
        for frame in (pixels[:45], pixels):  # the second one needs more room
            (answer,) = planner.ask([question(frame)])
            told = json.loads(answer.text)  # type: ignore[union-attr]
            assert (told["sum"], told["shape"]) == (int(frame.sum()), list(frame.shape))
    finally:
        planner.close()
    assert told["sent"] == "sent by cfgen"
    assert told["locked"]
    assert not told["pydantic"], "nothing but NumPy is needed there"
    assert (told["width"], told["speed"]) == (160, 8.0)


def test_what_is_sent_is_python_3_9():
    adapters = {**process.adapter("alpamayo"), **process.adapter("navsim")}
    sources = {**process._sources(), "bootstrap": process._bootstrap(), **adapters}
    for name, source in sources.items():
        tree = ast.parse(source, name, feature_version=(3, 9))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "typing"]
        typing = {alias.name for node in imports for alias in node.names}
        assert typing <= {"Any", "Callable", "Protocol", "TYPE_CHECKING", "TypeVar", "cast"}, name
        old = not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                assert not isinstance(node.args[1], ast.BinOp), f"{name}: {ast.unparse(node)}"
            if isinstance(node, ast.FunctionDef) and old:
                assert "|" not in ast.unparse(node.args), f"{name}: {node.name}"
            assert not any(k.arg == "strict" for k in getattr(node, "keywords", []) if name != "x" and getattr(
                getattr(node, "func", None), "id", "") == "zip"), f"{name}: zip(strict=)"  # fmt: skip


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("sys.version_info = (3, 8, 1)", "expected Python 3.9 or later, found 3.8; name another one with --python"),
        ("sys.modules['numpy'] = None", "expected NumPy in it, found none; install it there: pip install numpy"),
        ("print('Welcome!', flush=True)", "found b'Welcome!"),
        ("sys.exit('no device cuda:7')", "exit code 1, last on stderr: no device cuda:7"),
    ],
)  # fmt: skip
def test_a_python_that_will_not_do_is_one_line(tmp_path: Path, before: str, words: str):
    runtime = Runtime(python=python_of(wrapper(tmp_path, before)))
    with pytest.raises(InputError) as found:
        open_planner(f"{PLAIN}:Plain", runtime=runtime)
    assert words in str(found.value)
    assert "\n" not in str(found.value)


def test_a_python_that_is_not_there_and_a_container_that_does_not_start(tmp_path: Path, monkeypatch):
    with pytest.raises(InputError, match=r"--python nowhere/python: expected a Python that can be started"):
        python_of("nowhere/python")
    with pytest.raises(InputError, match=r"see that this prints 1: /bin/true -c 'import numpy; print\(1\)'$"):
        open_planner(f"{PLAIN}:Plain", runtime=Runtime(python=python_of("/bin/true")))
    with pytest.raises(
        InputError, match=r"^[^#]*the program of --python is no Python; see that this prints 1: "
    ):
        open_planner(f"{PLAIN}:Plain", runtime=Runtime(python=python_of("/bin/ls")))
    with pytest.raises(InputError, match=r"--name '../../evil': expected letters.*such as 'evil'"):
        open_planner("cruise", name="../../evil")
    docker = tmp_path / "docker"
    docker.write_text(
        "#!/bin/sh\necho \"Cannot connect to the Docker daemon\nSee 'docker run --help'.\" >&2\nexit 125\n"
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    runtime = Runtime(python=python_of("docker run -i --rm image python"))
    assert runtime.sight_record() == "docker: it sees what its command line gives it"
    with pytest.raises(
        InputError, match=r"exit code 125, last on stderr: Cannot connect to the Docker daemon; see that"
    ):
        open_planner(f"{PLAIN}:Plain", runtime=runtime)


def test_a_client_of_another_version_is_named(monkeypatch):
    monkeypatch.setattr(process, "VERSION", 2)
    with pytest.raises(InputError, match="expected a client that speaks version 2, found 1"):
        open_planner(f"{PLAIN}:Plain")


# --- the channel --------------------------------------------------------------------------------------------------


def test_nothing_that_a_planner_answers_is_unpickled(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (answer,) = asked("Pickles", runtime=Runtime(writable=(tmp_path,)))
    assert answer.report["x"].startswith("<tests.planners.plain_planners.Evil object")
    assert not (tmp_path / "reduced").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Chatters", "found b'Loading mode': something writes into the channel"),
        ("Closes", "closed the channel to cfgen"),
        ("RunsAhead", "expected the answer to question 1, found that to 999"),
    ],
)
def test_a_planner_that_spoils_the_channel_loses_its_answer_and_the_next_one_is_fine(name: str, words: str):
    (fault,) = asked(name)
    assert isinstance(fault, PlanFaultError)
    assert words in str(fault)
    assert fault.kind in ("answer", "died"), "it is the planner's own doing"


@pytest.mark.parametrize(
    ("length", "text", "error"),
    [
        (2**31, b"", "at most 1000 bytes"),
        (2, b"[]", "expected JSON"),
        (0, b'{"content": 1, "arrays": [[9, 999, 3]]}', "arrays of at most 1000 bytes"),
        (0, b'{"content": 1, "arrays": [[0]]}', "arrays with a size"),
    ],
)
def test_messages_are_bounded_before_anything_is_made_of_them(length: int, text: bytes, error: str):
    source, sink = os.pipe()
    try:
        os.write(sink, b"cfgen<1>" + struct.pack("<I", length or len(text)) + text)
        with pytest.raises(ChannelError, match=error):
            Channel(source, sink).receive(max_bytes=1000)
    finally:
        os.close(source)
        os.close(sink)


# --- limits -------------------------------------------------------------------------------------------------------


def test_a_planner_with_reset_is_fresh_for_every_question_and_any_other_when_it_is_renewed():
    planner = open_planner(f"{PLAIN}:Remembers")
    try:
        first = [planner.ask([question()])[0].text for _ in range(2)]  # type: ignore[union-attr]
        planner.renew()
        assert [*first, planner.ask([question()])[0].text] == ["1", "2", "1"]  # type: ignore[union-attr]
    finally:
        planner.close()
    assert [answer.text for answer in asked("Forgets", times=2)] == ["1", "1"]


def test_memory_is_limited_where_that_is_wanted():
    (fault,) = asked("Eats", runtime=Runtime(memory=300_000_000))
    assert str(fault) == "died: took more than the 0.3 GB that it is given; --planner-memory gives it more"
    assert fault.kind == "died"


@pytest.mark.usefixtures("_permitted")
def test_files_in_memory_count_also_where_nobody_has_mapped_them():
    (fault,) = asked("FillsShm", {"files": 2}, runtime=Runtime(memory=130_000_000))
    assert str(fault) == "died: took more than the 0.13 GB that it is given; --planner-memory gives it more"
    (answer,) = asked("FillsShm", {"files": 1}, runtime=Runtime(memory=300_000_000))
    assert not isinstance(answer, PlanFaultError)


@pytest.mark.parametrize("trusted", [False, True], ids=["namespaces", "without"])
def test_what_a_planner_starts_ends_with_it(trusted: bool):
    seconds = 300 + trusted + os.getpid() / 1e6
    asked("Breeds", {"seconds": seconds}, Runtime(trusted=trusted))
    end = time.monotonic() + 10
    while left := _sleeping(str(seconds)):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def _sleeping(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        found += [str(path) for _ in [1] if words[:2] == [b"sleep", word.encode()]]
    return found


@pytest.fixture
def elsewhere(monkeypatch):
    """A folder that is not below /tmp, in which cfgen was started."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        monkeypatch.chdir(folder)
        yield Path(folder)
        monkeypatch.undo()


@pytest.mark.usefixtures("_permitted")
def test_it_writes_to_a_tmp_of_its_own_and_nowhere_else(elsewhere: Path):
    (fault,) = asked("Writes")
    assert "Read-only file system" in str(fault)
    assert str(fault).endswith("unless --writable opens another folder")
    assert fault.kind == "error"
    (answer,) = asked("Writes", runtime=Runtime(writable=(elsewhere,)))
    assert (elsewhere / "written").is_file()
    assert json.loads(answer.text)["own"] == "/tmp"
    assert not Path("/tmp/mine").exists(), "what it writes there ends with it"


@pytest.mark.usefixtures("_permitted")
def test_it_reads_the_system_its_modules_and_what_is_named_and_nothing_else(elsewhere: Path):
    for name in (
        "drives/a.jpg",
        "weights/w.bin",
        "notes.txt",
        "helper.py",
        "package/__init__.py",
        "package/data.json",
    ):
        file = elsewhere / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("x = 1\n")
    names = ["drives/a.jpg", "weights/w.bin", "notes.txt", "helper.py", "package/data.json"]
    places = {name: str(elsewhere / name) for name in names} | {
        "shell": "/bin/sh",
        "home": str(Path.home() / ".bashrc"),
    }

    def seen(runtime: Runtime) -> set[str]:
        (answer,) = asked("Reaches", {"places": list(places.values())}, runtime)
        told = json.loads(answer.text)["found"]
        return {name for name, place in places.items() if told[place] != "No such file or directory"}

    assert seen(Runtime()) == {"helper.py", "package/data.json", "shell"}
    assert seen(Runtime(paths=(elsewhere / "weights",))) == {
        "helper.py",
        "package/data.json",
        "shell",
        "weights/w.bin",
    }


@pytest.mark.usefixtures("_permitted")
def test_a_file_that_it_was_not_given_is_named_with_the_option_that_gives_it(elsewhere: Path):
    (elsewhere / "weights.bin").write_text("x")
    (fault,) = asked("Reads", {"path": str(elsewhere / "weights.bin")})
    assert str(fault).endswith(f"--planner-path {elsewhere}/weights.bin")
    (answer,) = asked(
        "Reads", {"path": str(elsewhere / "weights.bin")}, Runtime(paths=(elsewhere / "weights.bin",))
    )
    assert not isinstance(answer, PlanFaultError)


def test_what_it_does_to_the_memory_that_it_shares_costs_it_no_more_than_an_answer():
    pixels = np.full((90, 160, 3), 7, np.uint8)
    planner = open_planner(f"{PLAIN}:Shrinks")
    try:
        for _ in range(3):
            (answer,) = planner.ask([question(pixels)])
            assert json.loads(answer.text) == {
                "shrunk": "Operation not permitted",
                "sealed": "Operation not permitted",
            }
    finally:
        planner.close()


@pytest.mark.parametrize(("name", "words"), [("KILL", "signal SIGKILL"), ("TERM", "signal SIGTERM")])
def test_a_planner_that_ends_itself_was_not_ended_by_the_machine(name: str, words: str):
    (fault,) = asked("Ends", {"signal_name": name})
    assert words in str(fault)
    assert fault.kind == "died"


def test_files_and_variables_that_decide_are_part_of_who_answers(tmp_path: Path, monkeypatch):
    (tmp_path / "weights" / "deep").mkdir(parents=True)
    file = tmp_path / "weights" / "deep" / "w.bin"
    file.write_text("1")
    monkeypatch.setenv("MODE", "careful")
    hashes = []
    for change in (lambda: None, lambda: file.write_text("2"), lambda: monkeypatch.setenv("MODE", "bold")):
        change()
        runtime = Runtime(paths=(tmp_path / "weights",), variables=("MODE",))
        planner = open_planner(f"{PLAIN}:Plain", runtime=runtime)
        planner.close()
        hashes.append(planner.hash)
    assert len(set(hashes)) == 3


@pytest.mark.usefixtures("_permitted")
def test_it_reaches_no_device_and_no_setting_of_the_machine():
    outside = {
        str(p)
        for name in ("kmsg", "kvm", "loop*", "zram*", "tty0", "mem", "vda", "sda")
        for p in Path("/dev").glob(name)
    }
    settings = [p for p in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger") if Path(p).exists()]
    if not {"devices", "settings"} <= permitted():
        pytest.skip("this system permits no devices and settings of its own")
    (answer,) = asked("Reaches", {"places": sorted(outside) + settings})
    told = json.loads(answer.text)
    assert set(told["found"].values()) <= {"No such file or directory", "Read-only file system"}
    assert {"null", "urandom", "shm", "pts"} <= set(told["devices"])
    assert told["space"] != str(Path("/proc/self/ns/uts").readlink())
    assert "DEVICES" not in Runtime().sight_record()


@pytest.mark.parametrize("given", [".", "bench", "bench/sub", "link"])
def test_no_folder_that_holds_the_benchmark_or_lies_in_it_is_opened(given: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bench/sub", "beside"):
        Path(name).mkdir(parents=True)
    Path("link").symlink_to(tmp_path)
    options = ScoreOptions(bench=Path("bench"), planner="cruise")
    with pytest.raises(InputError, match=rf"^--writable {given}: .*benchmark.*; name a folder beside it$"):
        runtime_of(attrs.evolve(options, writable=(Path(given),)))
    assert runtime_of(attrs.evolve(options, writable=(Path("beside"),))).writable == (Path("beside"),)


@pytest.mark.usefixtures("_permitted")
def test_an_open_folder_does_not_bring_back_what_is_hidden_in_it(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "secret").write_text("x")
    runtime = Runtime(hidden=(tmp_path / "bench",), writable=(tmp_path,))
    (answer,) = asked("Reaches", {"places": [str(tmp_path / "bench" / "secret")]}, runtime)
    assert list(json.loads(answer.text)["found"].values()) == ["No such file or directory"]


@pytest.mark.usefixtures("_permitted")
def test_it_has_no_network_unless_that_is_asked_for():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = {"port": server.getsockname()[1]}
        (fault,) = asked("Calls", port)
        assert (fault.kind, "unless --planner-network gives it one" in str(fault)) == ("unavailable", True)
        (answer,) = asked("Calls", port, Runtime(network=True))
        assert not isinstance(answer, PlanFaultError)


def test_kinds_of_failures_are_those_of_the_records():
    from cfgen.planners.response import KINDS

    assert set(KINDS) == set(FAILURES)
