"""What a record says of the machine and the packages that its pictures were made with."""

import platform
from importlib import metadata

#: the packages that decide how pictures are drawn, read and written
PACKAGES = ("numpy", "opencv-python", "pillow", "scipy", "deflate")


def environment() -> dict[str, str]:
    """Version of Python and of each of :data:`PACKAGES`, "" where it is not installed, and the kind of processor."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    return found | {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        if name == "opencv-python":  # installed by another of its names
            import cv2

            return str(cv2.__version__)
        return ""
