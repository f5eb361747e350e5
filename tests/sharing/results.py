"""Runs of planners on the tiny benchmark, judged by scripted replies, and bundles of them."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import cfgen
from cfgen.core.hashing import canonical_json, hash_bytes
from cfgen.sharing import bundle as bundles
from cfgen.sharing.archive import new_archive, undated

ARMS = ("original", "hazard", "null", "nuisance")


def reply(reasoning: int, waypoints: int, overall: int) -> str:
    scores = (("reasoning", reasoning), ("waypoints", waypoints), ("overall", overall))
    tags = "".join(f"<{name}_score>{score}</{name}_score>\n" for name, score in scores)
    return (
        "<thinking>It brakes for the cones.</thinking>\n<change_identified>yes</change_identified>\n"
        "<element_type>cones</element_type>\n"
        f"<element_position>ahead</element_position>\n{tags}<explanation>It <b>brakes</b>.</explanation>"
    )


def scored(bench: Path, out: Path, planner: str = "reactive", judge_says: str = "", **options) -> Path:
    """A copy of the benchmark, with answers of ``planner`` and verdicts of a scripted judge."""
    shutil.copytree(bench, out)
    replies = out.parent / f"{out.name}-replies.json"
    replies.write_text(json.dumps({"default": judge_says or reply(2, 2, 2)}))
    cfgen.score(
        out, planner, judge="scripted", judge_options={"file": str(replies)}, arms=ARMS, quiet=True, **options
    )
    return out


def forged(bundle: Path, out: Path, name: str, change: Callable[[bytes], bytes], index: bool = True) -> Path:
    """Another bundle, every hash of which fits, in which the content of one file was changed.

    Args:
        index: the other hashes are set right as well.
    """
    with zipfile.ZipFile(bundle) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    files[name] = change(files[name])
    if index and name != bundles.INDEX:
        told = json.loads(files[bundles.INDEX])
        told["files"][name] = hash_bytes(files[name])
        files[bundles.INDEX] = canonical_json(told)
    with new_archive(out) as archive:
        for entry, content in files.items():
            archive.writestr(undated(entry), content)
    return out


def lines(change: Callable[[list[dict]], None]) -> Callable[[bytes], bytes]:
    """A change of records, one a line."""

    def apply(content: bytes) -> bytes:
        records = [json.loads(line) for line in content.splitlines()]
        change(records)
        return b"".join(canonical_json(one) + b"\n" for one in records)

    return apply


def record(change: Callable[[dict], object]) -> Callable[[bytes], bytes]:
    """A change of one record."""

    def apply(content: bytes) -> bytes:
        value = json.loads(content)
        change(value)
        return canonical_json(value)

    return apply
