"""The tiny benchmark of exports serves integrations too."""

from tests.sharing.conftest import bench, scenes  # noqa: F401
