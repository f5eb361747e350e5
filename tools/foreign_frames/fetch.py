"""Brings road pictures of data sets that cfgen was not developed on, to judge by eye what it draws into them.

    python -m tools.foreign_frames.fetch frames                  # from GitHub
    python -m tools.foreign_frames.fetch frames --from mirrors   # from git clones here, named owner+name

Each picture is checked against the hash in manifest.yaml before it takes its place in OUT/DATA_SET. Run it again to go
on where it stopped. OUT/sources.csv says whose the pictures are.
"""

import argparse
import csv
import hashlib
import io
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from cfgen.core.errors import CfgenError, InputError, SetupError
from cfgen.core.files import reading, write_bytes

MANIFEST = Path(__file__).parent / "manifest.yaml"
RAW = "https://raw.githubusercontent.com"
TIMEOUT = 30.0  # s
MOST_BYTES = 32 << 20
#: Where the git directory of a clone is: bare, plain, or either in a folder ``repo``.
GIT_DIRECTORIES = ("", ".git", "repo", "repo/.git")


@dataclass(frozen=True)
class DataSet:
    """Whose pictures they are and, where published, the lens.

    Attributes:
        split: "dev", or "test" for judging only.
        licence, use: of the pictures; what it allows.
        fov_deg: horizontal, degrees. camera_height_m: above the road.
    """

    split: str
    licence: str
    use: str
    fov_deg: float | None = None
    camera_height_m: float | None = None

    def options(self) -> list[str]:
        """For ``cfgen scenes import image``."""
        known = {
            "license": self.licence,
            "fov_deg": self.fov_deg,
            "camera_height_m": self.camera_height_m,
        }
        return [word for key, value in known.items() if value for word in ("--options", f"{key}={value}")]


@dataclass(frozen=True)
class Picture:
    """One file of a public repository at one commit; ``file`` is its name here."""

    file: str
    data_set: str
    repository: str
    commit: str
    path: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.repository} {self.path}"


#: The bytes of a picture. Raises InputError for this one picture, SetupError where no other would fare better.
Source = Callable[[Picture], bytes]


def read_manifest(path: Path = MANIFEST) -> tuple[dict[str, DataSet], list[Picture]]:
    """
    Raises:
        InputError: it does not parse, or lacks a field.
    """
    with reading(path, "data_sets and repositories as in tools/foreign_frames/manifest.yaml", "mend it"):
        content: dict[str, Any] = yaml.safe_load(path.read_text())
        data_sets = {name: DataSet(**row) for name, row in content["data_sets"].items()}
        pictures = [
            Picture(repository=one["repository"], commit=one["commit"], **row)
            for one in content["repositories"]
            for row in one["pictures"]
        ]
        if strange := {one.data_set for one in pictures} - set(data_sets):
            raise ValueError(f"pictures of {sorted(strange)}, which data_sets does not list")
    return data_sets, pictures


def from_web(base: str = RAW) -> Source:
    """Pictures from GitHub's raw addresses, or from a server with the same paths."""

    def get(picture: Picture) -> bytes:
        url = f"{base}/{picture.repository}/{picture.commit}/{quote(picture.path)}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as reply:
                data: bytes = reply.read(MOST_BYTES)
        except urllib.error.HTTPError as error:
            raise InputError(
                f"{url}: expected the picture, found HTTP {error.code} {error.reason}; run again later, or, if it is "
                "gone for good, take its entry out of manifest.yaml"
            ) from error
        except (OSError, HTTPException) as error:
            raise SetupError(
                f"{url}: cannot be reached ({getattr(error, 'reason', None) or error!r}); run again with a network: "
                "what came is kept; or give git clones with --from"
            ) from error
        return data

    return get


def from_mirrors(folder: Path) -> Source:
    """Pictures from git clones in ``folder``, named owner+name; nothing is fetched into them."""
    if not folder.is_dir():
        raise InputError(
            f"{folder}: expected a folder of git clones named owner+name, found none; check --from"
        )

    def get(picture: Picture) -> bytes:
        clone = folder / picture.repository.replace("/", "+")
        places = [clone / name for name in GIT_DIRECTORIES]
        git_dir = next((place for place in places if (place / "HEAD").is_file()), None)
        if git_dir is None:
            raise InputError(
                f"{clone}: expected a git clone, found none; run: "
                f"git clone --bare https://github.com/{picture.repository} {shlex.quote(str(clone))}"
            )
        command = ["git", "-c", "safe.directory=*", "--git-dir", str(git_dir)]
        done = subprocess.run(
            [*command, "cat-file", "blob", f"{picture.commit}:{picture.path}"],
            capture_output=True,
            env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
        )
        if done.returncode:
            raise InputError(
                f"{git_dir}: expected {picture.path} at commit {picture.commit}, found: "
                f"{done.stderr.decode(errors='replace').strip()}; fetch that commit into the clone"
            )
        return done.stdout

    return get


def bring(pictures: Sequence[Picture], out: Path, get: Source, say: Callable[[str], None]) -> int:
    """Puts each picture in its place, unless the right one is there; returns how many are missing in the end.

    Raises:
        SetupError: nothing can be reached. StoreError: ``out`` cannot be written.
    """
    missing = 0
    for picture in pictures:
        place = out / picture.data_set / picture.file
        if place.is_file() and _hash(place.read_bytes()) == picture.sha256:
            continue
        try:
            data = get(picture)
            if (found := _hash(data)) != picture.sha256:
                raise InputError(
                    f"{picture}: expected content with sha256 {picture.sha256}, found {len(data)} bytes with {found}; "
                    "it was not kept: run again, and if that does not help, take its entry out of manifest.yaml"
                )
        except SetupError:
            raise
        except InputError as error:
            missing += 1
            say(str(error))
            continue
        write_bytes(place, data)
    return missing


def sources(data_sets: dict[str, DataSet], pictures: Sequence[Picture]) -> bytes:
    """A CSV table with the origin and the licence of each picture."""
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["file", "split", "licence", "use", "repository", "commit", "path", "sha256"])
    for one in pictures:
        whose = data_sets[one.data_set]
        origin = (one.repository, one.commit, one.path, one.sha256)
        rows.writerow([f"{one.data_set}/{one.file}", whose.split, whose.licence, whose.use, *origin])
    return table.getvalue().encode()


def import_commands(data_sets: dict[str, DataSet], names: Sequence[str], out: Path) -> list[str]:
    """What makes scenes of the pictures: a command for each data set, with its lens where that is known, and with who
    sees enough to measure the rest."""
    command, eyes = ["cfgen", "scenes", "import", "image"], ["--perception", "twinlitenet"]
    return [
        shlex.join([*command, str(out / name), "--out", f"{out}-scenes", *data_sets[name].options(), *eyes])
        for name in names
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 when all pictures are there, 1 when some are missing, 2 for bad usage or no network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--from", dest="mirrors", type=Path, help="folder of git clones named owner+name")
    parser.add_argument("--split", choices=("dev", "test"), help="only the data sets of this split")
    given = parser.parse_args(arguments)
    try:
        data_sets, pictures = read_manifest()
        pictures = [one for one in pictures if given.split in (None, data_sets[one.data_set].split)]
        get = from_mirrors(given.mirrors) if given.mirrors else from_web()
        missing = bring(pictures, given.out, get, lambda line: print(line, file=sys.stderr))
        write_bytes(given.out / "sources.csv", sources(data_sets, pictures))
    except CfgenError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"{len(pictures) - missing} of {len(pictures)} pictures are in {given.out}. Make scenes of them with:"
    )
    there = [name for name in data_sets if (given.out / name).is_dir()]
    print(*import_commands(data_sets, there, given.out), sep="\n")
    return 1 if missing else 0


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
