"""Fixtures for every test: no network but loopback, and the real drives where they are."""

import os
import socket
from pathlib import Path

import pytest

# Tests run side by side, one on each core: threads of their own would only wait for each other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_CONNECT = socket.socket.connect
_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True, scope="session")
def _no_network():
    """Connecting anywhere but loopback fails the test that tried."""

    def connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {address}; tests may only use loopback")
        return _CONNECT(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", connect)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _colours_see():
    """Other weights of the default network must not move what tests of other rooms count on.

    tests/perception/test_unsure.py builds with the real default, and so do commands in processes of their own.
    """
    patch = pytest.MonkeyPatch()
    patch.setattr("cfgen.perception.registry.DEFAULT", "colour")
    yield
    patch.undo()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test, mypy, comes first: at the end one core would wait for it."""
    items.sort(key=lambda item: item.path.name != "test_code.py")


def _fail_if_skipped_in_ci(report) -> None:
    """CI installs everything, so a skip there hides a hole."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    _fail_if_skipped_in_ci(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    _fail_if_skipped_in_ci(outcome.get_result())


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real drives: ``$CFGEN_REAL``, or ``../shared/real`` beside the clone."""
    folder = Path(os.environ.get("CFGEN_REAL", Path(__file__).resolve().parents[2] / "shared" / "real"))
    if not folder.is_dir():
        pytest.skip("no real drives here: put them in ../shared/real or set CFGEN_REAL")
    return folder


@pytest.fixture(scope="session")
def models(real: Path) -> Path:
    """The folder of small pretrained networks: ``$CFGEN_TEST_MODELS``, or ``models`` beside the real drives."""
    folder = Path(os.environ.get("CFGEN_TEST_MODELS", real.parent / "models"))
    if not folder.is_dir():
        pytest.skip("no networks here: put them in ../shared/models or set CFGEN_TEST_MODELS")
    return folder


@pytest.fixture(scope="session")
def bench(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small benchmark of real scenes, built once; copy it before changing it."""
    from tests.benches import build_arguments, run

    out = tmp_path_factory.mktemp("bench") / "b"
    code, _, err = run(*build_arguments(real, out))
    assert code == 0, err
    return out
