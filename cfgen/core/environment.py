"""With which versions this process computes, for records and reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

from cfgen.version import __version__

_PACKAGES = ("numpy", "scipy", "opencv-python", "pillow", "pydantic")


def environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # another distribution of the same module
            continue
    return {**found, "cfgen": __version__}
