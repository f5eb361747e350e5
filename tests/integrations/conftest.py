"""Tests of an integration run where its extra is installed."""

from importlib.util import find_spec

from tests.sharing.conftest import bench, scenes  # noqa: F401

collect_ignore = [] if find_spec("inspect_ai") else ["test_inspect.py"]
