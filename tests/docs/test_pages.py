"""The pages build without a warning and without a network; every command and link in them is true."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cyclopts import CycloptsError

from cfgen.cli.main import build_app
from cfgen.core.errors import CfgenError

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(p for f in ("cfgen", "docs", "tools") for p in (ROOT / f).rglob("*.md*"))]
)
CALL = re.compile(r"^(?:\w+=\S+ )*(?:\S*/)?cfgen( .*)$")


def _commands(page: Path) -> list[str]:
    """What is typed after ``cfgen`` in the page's command blocks, continued lines joined."""
    lines = re.findall(r"^    (\S.*)$", page.read_text().replace("\\\n", " "), re.MULTILINE)
    calls = (CALL.match(part.strip()) for line in lines for part in line.split("&&"))
    return [call[1].strip() for call in calls if call]


def _mentions(page: Path) -> list[str]:
    """Commands within a sentence: these may leave arguments out."""
    text = page.read_text().replace("\n", " ")
    return [m.strip() for m in re.findall(r"`cfgen( [a-z][^`]*)`", text)]


COMMANDS = [(page, command) for page in PAGES for command in _commands(page)]
#: a change log names what is gone
MENTIONS = [(p, command) for p in PAGES if p.name != "CHANGELOG.md" for command in _mentions(p)]


APP = build_app()


def _complaint(command: str) -> str:
    try:
        APP.parse_args(shlex.split(command, comments=True), exit_on_error=False, print_error=False)
    except (CycloptsError, CfgenError) as error:
        return f"{error}"
    return ""


def test_every_command_of_the_pages_parses():
    """Those in a sentence may leave arguments out."""
    assert len(COMMANDS) > 30
    assert len(MENTIONS) > 10
    wrong = [(page.name, command, why) for page, command in COMMANDS if (why := _complaint(command))]
    wrong += [
        (page.name, command, why)
        for page, command in MENTIONS
        if (why := _complaint(command)) and "requires an argument" not in why
    ]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path):
    pytest.importorskip("sphinx", reason='needs pip install ".[docs]"')
    flags = ["-q", "-W", "--keep-going", "-j2", "-d", str(tmp_path / "trees")]
    build = [sys.executable, "-m", "sphinx", *flags, str(ROOT / "docs"), str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 30
    loaded = [
        (page.name, tag)
        for page in pages
        for tag in re.findall(r"<(?:script|img|link|iframe)\b[^>]*>", page.read_text())
        if re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag)
    ]
    assert loaded == []
