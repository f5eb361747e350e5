"""What this machine and this environment have of what cfgen can use, for ``cfgen doctor`` and for reports of faults."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cfgen.version import __version__

DISTRIBUTION = "cfgen-bench"
#: What each extra is for, as ``docs/extras.md`` says; extras for building cfgen itself are left out.
PURPOSES = {
    "app": "cfgen app: curate and rate in a browser",
    "gemini": "judge and planner gemini, inpainter nano-banana",
    "openai": "judge and planner openai, and servers that speak like it",
    "inspect": "inspect_ai: its models as planners and judges",
    "local": "judge and planner local: a vision-language model in this process",
    "sdxl": "inpainters sdxl, flux2-klein, qwen-image-edit, z-image",
    "sam": "--masks and --detector: SAM, SAM 2, SAM 3, Grounding DINO",
    "grpo": "training with TRL: rewards, critics",
    "argoverse2": "scenes import argoverse2",
    "gps": "scenes import video: GPS inside a dash camera's file, or GPX beside it",
    "hugging-face": "scenes import hugging-face",
    "mcap": "scenes import mcap",
    "ray": "--engine ray: build, score and check traces on a cluster",
    "s3": "benchmarks at s3:// addresses",
    "physical-ai-av": "scenes import physical-ai-av",
}
#: Variables that hold keys or name places: their values are never told.
KEYS = {
    "GEMINI_API_KEY": "gemini",
    "GOOGLE_API_KEY": "gemini",
    "OPENAI_API_KEY": "openai",
    "HF_TOKEN": "gated weights",
}
PLACES = {
    "CFGEN_MODELS": "model files",
    "HF_HOME": "weights of hubs",
}
_GPU_PATIENCE_S = 10


@dataclass(frozen=True)
class Package:
    """One requirement: ``found`` is the version that is installed, "" for none, and ``fits`` whether it is in range."""

    name: str
    wanted: str
    found: str

    @property
    def fits(self) -> bool:
        return bool(self.found) and all(_holds(self.found, part) for part in self.wanted.split(",") if part)


def computer() -> dict[str, str]:
    """Version of cfgen and Python, system, cores, memory and room on the disk of the current folder."""
    free = shutil.disk_usage(".").free
    return {
        "cfgen": __version__,
        "python": f"{platform.python_version()} ({os.fspath(Path(sys.executable))})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": _memory(),
        "disk free here": f"{free / 1e9:.1f} GB",
    }


def packages() -> dict[str, list[Package]]:
    """By extra, "" for the base install, what it requires on this Python.

    An installation without metadata (a bare source tree on the path) has none.
    """
    try:
        required = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    packages_of: dict[str, list[Package]] = {name: [] for name in ("", *PURPOSES)}
    for line in required:
        rule, _, marker = line.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        name = extra.group(1) if extra else ""
        match = re.match(r"\s*([\w.-]+)(?:\[[^\]]*\])?\s*(.*)", rule)
        if name in packages_of and match:
            packages_of[name].append(
                Package(match[1], match[2].strip(" ()").replace(" ", ""), _version(match[1]))
            )
    return packages_of


def gpus() -> list[str]:
    """A line for each GPU that the driver names, with its memory; empty where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [
        program,
        "--query-gpu=index,name,memory.total,memory.free,driver_version",
        "--format=csv,noheader",
    ]
    try:
        output = subprocess.run(query, capture_output=True, text=True, timeout=_GPU_PATIENCE_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in output.stdout.splitlines() if line.strip()]


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _holds(version: str, rule: str) -> bool:
    """Whether a version keeps to one rule as ours are written: ``>=1.2`` or ``<3``."""
    match = re.fullmatch(r"(>=|<)([\d.]+)", rule)
    if match is None:
        return True
    at, bound = _numbers(version), _numbers(match[2])
    return at >= bound if match[1] == ">=" else at < bound


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[+a-z]", version)[0]))


def memory_bytes() -> tuple[int, int]:
    """Of the whole machine, and what is available, from Linux's own table; (0, 0) elsewhere."""
    try:
        table = dict(re.findall(r"(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text()))
        return int(table["MemTotal"]) * 1024, int(table["MemAvailable"]) * 1024
    except (OSError, KeyError):
        return 0, 0


def _memory() -> str:
    total, available = memory_bytes()
    return f"{total / 1e9:.1f} GB, {available / 1e9:.1f} GB of it available" if total else "unknown"


# --- environment -------------------------------------------------------------------------------
# With which versions this process computes, for records and reports.

_PACKAGES = ("numpy", "scipy", "opencv-python", "pillow", "pydantic")


def environment() -> dict[str, str]:
    versions = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    for package in _PACKAGES:
        if version := _version(package):  # none: another distribution of the same module
            versions[package] = version
    return {**versions, "cfgen": __version__}
