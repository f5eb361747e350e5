"""A static site out of a leaderboard: one table for each set of rows that may be compared, one page a row, and the
figures as JSON and CSV. Everything that a bundle says is text here.
"""

import html
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from urllib.parse import quote

from cfgen.core.errors import InputError
from cfgen.core.files import write_bytes
from cfgen.core.network import without_secrets
from cfgen.core.sanitize import visible
from cfgen.planners.registry import model_of, recorded_options
from cfgen.records import DIMENSIONS, JudgeRun, Sha256
from cfgen.reporting import page as report_page
from cfgen.reporting.footnotes import describe_testing
from cfgen.reporting.section import Table
from cfgen.sharing.bundle import Share, benchmark_hash
from cfgen.sharing.definitions import shipped
from cfgen.sharing.leaderboard import BUNDLE, KINDS, Board, Row

MARKER = "leaderboard.json"
_STYLES = (Path(report_page.__file__).parent / "assets" / "page.css", Path(__file__).parent / "site.css")
_BUNDLE_SUFFIX = Path(BUNDLE).suffix
#: characters of a name or an option in a heading or beside it, and of all that is told of a judge
_LONGEST, _LONGEST_JUDGE = 80, 400
_RAN = {"process": "in a process of its own", "server": "behind a URL", "none": "in the process that scored"}
_COLUMNS = (
    *("planner", "who vouches", "hit rate minus false-alarm rate, percentage points"),
    *(f"{name} %" for name in reversed(DIMENSIONS)),
    *("cases", "excluded", "judge failed", "planner failed"),
)
_NOTE = (
    "In brackets: 95% intervals. Strict success: share of cases scored 2. Cases: scored ones and planner failures, "
    "which count as no success. Excluded: the judge could not name the change; judge failed: it gave no usable reply. "
    "Ranked by hit rate minus false-alarm rate, then by share; -: not asked about nuisance scenes. "
    "Contradicted: the board's maintainer judged the same answers by the same judge and came to another result; "
    "ranked no more."
)


@dataclass(frozen=True)
class Site:
    """What was written where."""

    out: Path
    rows: int
    tables: int


def write_site(board: Board, out: Path, bundles: bool = False) -> Site:
    """Write the site into a new folder, or over an earlier site.

    Args:
        bundles: with the bundles themselves, answers and all, so that others can check and judge them.

    Raises:
        InputError: ``out`` holds something else, the board is empty, or an entry does not verify.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARKER).is_file())):
        raise InputError(
            f"{out}: expected a new folder or an earlier site, found something else; choose another --out"
        )
    rows = list(board.rows())
    if not rows:
        raise InputError(
            f"{board.root}: holds no entry yet; add one: cfgen share leaderboard add {board.root} BUNDLE"
        )
    groups = grouped(rows)
    for old in [*out.glob("entries/*.html"), *out.glob(f"entries/*{_BUNDLE_SUFFIX}")]:
        old.unlink()
    write_bytes(out / "page.css", b"".join(path.read_bytes() for path in _STYLES))
    for like, members in groups:
        for row in members:
            name = row.entry.entry
            write_bytes(
                out / "entries" / f"{name}.html", _entry_page(board.title, like, row, bundles).encode()
            )
            if bundles:
                write_bytes(
                    out / "entries" / f"{name}{_BUNDLE_SUFFIX}", (board.folder(name) / BUNDLE).read_bytes()
                )
    write_bytes(out / "leaderboard.csv", _table(groups).csv().encode())
    write_bytes(out / "index.html", _index(board.title, groups).encode())
    write_bytes(out / MARKER, (json.dumps(_figures(groups), indent=1, allow_nan=False) + "\n").encode())
    return Site(out, len(rows), len(groups))


@dataclass(frozen=True)
class Like:
    """What all rows of a table have in common; ``key``: its place on the page."""

    key: str
    title: str
    facts: tuple[tuple[str, str], ...]
    #: whether its judge scores the answer as a whole
    reads_words: bool

    @classmethod
    def of(cls, like: Sha256, rows: Sequence[Row]) -> Self:
        index, judge = rows[0].bundle.index, rows[0].bundle.judge
        name, errata = known_as(index.benchmark)
        tested = dict.fromkeys(known_answers(row) for row in rows)
        facts = (
            (
                "Benchmark",
                f"{name or 'of no name that ships with cfgen'}, {len(index.cases)} cases, {index.benchmark}",
            ),
            *((("Errata", "; ".join(errata)),) if errata else ()),
            ("Judge", without_secrets(f"{who_judges(judge)}: {json.dumps(judge.options)}")[:_LONGEST_JUDGE]),
            ("Known answers", "; ".join(tested)),
            ("Rubric", f"{index.wording.name} {index.wording.version}, {short(index.wording.hash)}"),
            ("Plans", f"of {index.horizon_s:g} s"),
            ("Scenes", ", ".join(index.arms)),
            ("Intervals", index.blocks),
        )
        title = f"{name or f'Benchmark {short(index.benchmark)}'}, judged by {who_judges(judge)}"
        return cls(f"t{short(like)}", title, facts, "overall" in index.scores)


def grouped(rows: Iterable[Row]) -> list[tuple[Like, list[Row]]]:
    """Rows that may be compared together, the best first; the largest table first, titles that differ."""
    by_table: dict[str, list[Row]] = {}
    for row in rows:
        by_table.setdefault(row.like, []).append(row)
    groups = [(Like.of(key, members), sorted(members, key=_rank)) for key, members in by_table.items()]
    titles = Counter(like.title for like, _ in groups)
    groups = [
        (replace(like, title=f"{like.title}, table {like.key}") if titles[like.title] > 1 else like, members)
        for like, members in groups
    ]
    return sorted(groups, key=lambda g: (not g[0].reads_words, -len(g[1]), g[0].title))


def _rank(row: Row) -> tuple[object, ...]:
    figures = row.proof.figures
    above, lead = figures.above.value, figures.rates[figures.leading].value
    figure = (above is None, -(above or 0.0), -(-1.0 if lead is None else lead))
    return bool(row.entry.contradicted), *figure, row.entry.entry


# --- pages ------------------------------------------------------------------------------------------------


def _index(title: str, groups: Sequence[tuple[Like, list[Row]]]) -> str:
    count = sum(len(rows) for _, rows in groups)
    tables = "".join(_section(like, rows) for like, rows in groups)
    nav = (
        "".join(f'<a href="#{like.key}">{_text(like.title)}</a>' for like, _ in groups)
        if len(groups) > 1
        else ""
    )
    separate = (
        ""
        if len(groups) == 1
        else f" They stand in {len(groups)} tables, which are not to be compared with each other."
    )
    lead = (
        f"{count} {'entry' if count == 1 else 'entries'}, each checked: every figure is derived from the verdicts "
        f"in its bundle.{separate} How much that is worth depends on who vouches for a row:"
    )
    body = (
        f"<section><p>{_text(lead)}</p>{_listed(KINDS.items(), 'facts')}"
        "<p>As data: <a href='leaderboard.json'>JSON</a>, <a href='leaderboard.csv'>CSV</a>.</p></section>"
        + tables
    )
    return _page(title, "cfgen share leaderboard", body, nav)


def _section(like: Like, rows: list[Row]) -> str:
    table = Table(
        like.key,
        like.title,
        _COLUMNS,
        tuple(tuple(map(visible, _cells(row))) for row in rows),
        words=2,
        note=_NOTE,
        links=tuple(f"entries/{quote(row.entry.entry)}.html" for row in rows),
    )
    return (
        f"<section id='{like.key}'><h2>{_text(like.title)}</h2>{_listed(like.facts, 'facts')}"
        f'<p class="hint">Where the table goes on to the right, scroll it sideways.</p>{table.html()}</section>'
    )


def _listed(facts: Iterable[tuple[str, str]], kind: str = "") -> str:
    return f"<dl class='{kind}'>{''.join(f'<dt>{_text(k)}</dt><dd>{_text(v)}</dd>' for k, v in facts)}</dl>"


def _cells(row: Row) -> tuple[str, ...]:
    """As :data:`_COLUMNS`; no figures of an entry that is contradicted."""
    if row.entry.contradicted:
        return (called(row), "contradicted", *["-"] * (len(_COLUMNS) - 2))
    figures = row.proof.figures
    rates = [share(figures.rates[d]) for d in reversed(DIMENSIONS)]
    counts = (figures.n, figures.excluded, figures.judge_failed, figures.planner_failed)
    return (called(row), row.entry.kind, points(figures.above), *rates, *map(str, counts))


def _entry_page(title: str, like: Like, row: Row, bundles: bool) -> str:
    wording, fingerprint = row.bundle.index.wording, sorted(row.bundle.run.fingerprint.items())
    download = (
        f"<p><a href='{quote(row.entry.entry)}{_BUNDLE_SUFFIX}' download>The bundle</a>: check it with "
        "<code>cfgen share leaderboard add</code>.</p>"
    )
    parts = (
        f"<section><h2>The planner's fingerprint</h2><details><summary>{len(fingerprint)} parts</summary>"
        f"{_listed(fingerprint)}</details></section>"
    )
    body = (
        f"<section><h2>What it is</h2>{_listed([*beside(row, like), *facts(row)])}{download if bundles else ''}"
        f"</section><section><h2>The judge's instructions</h2><details><summary>Rubric {_text(wording.name)} "
        f"{_text(wording.version)}</summary><pre>{_text(wording.system.get('tags', ''))}</pre></details></section>"
        f"{parts if fingerprint else ''}"
    )
    return _page(row.bundle.run.planner, title, body, "<a href='../index.html'>All entries</a>", "../")


def _page(title: str, brand: str, body: str, nav: str, root: str = "") -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'\">"
        f'<title>{_text(title)} · {_text(brand)}</title><link rel="stylesheet" href="{root}page.css"></head><body>'
        '<a class="skip" href="#main">To the content</a>'
        f'<header><p class="brand">{_text(brand)}</p><h1>{_text(title)}</h1>'
        f"{f'<nav aria-label=Sections>{nav}</nav>' if nav else ''}</header>"
        f'<main id="main">{body}</main>'
        "<footer><p>Made by cfgen out of bundles; nothing here is loaded from elsewhere.</p></footer></body></html>\n"
    )


def _text(words: object) -> str:
    """Escaped, with what turns or hides text made visible."""
    return html.escape(visible(str(words)))


# --- a row and its table in words -----------------------------------------------------------------------------


def who_judges(judge: JudgeRun) -> str:
    """The models that its options name, or what it was given as; bounded, so that no bundle fills a heading."""
    models = judge.options.get("models")
    named = [m for m in models if isinstance(m, dict)] if isinstance(models, list) else []
    words = " and ".join(f"{m.get('provider', '')} {m.get('model', '')}".strip() or "unnamed" for m in named)
    return (words or " ".join(judge.spec.split()) or "a judge of no name")[:_LONGEST]


def known_answers(row: Row) -> str:
    """How the judge did, and whose word that is: totals follow from counts, but the counts are as handed in."""
    tested = describe_testing(row.bundle.probe, {row.bundle.judge.rubric_hash})
    by_submitter = row.bundle.probe is not None and row.entry.kind == "self-reported"
    return f"told by the submitter: {tested}" if by_submitter else tested


def beside(row: Row, like: Like) -> Iterator[tuple[str, str]]:
    """What a page of a row says before its facts."""
    yield "Vouched for", f"{row.entry.kind}: {KINDS[row.entry.kind]}"
    if row.entry.contradicted:
        yield "Contradicted", f"{row.entry.contradicted}; not ranked"
    if row.entry.of:
        yield "Answers of", row.entry.of
    yield "Added", row.entry.added
    figures = row.proof.figures
    yield (
        "Hit rate minus false-alarm rate",
        f"{points(figures.above)} percentage points, {figures.leading}, {figures.above.n} cases"
        if figures.above.n
        else "no false-alarm rate: ask it about nuisance scenes, cfgen score BENCH --planner PLANNER --arms "
        "hazard,nuisance, and bundle it again",
    )
    for name, estimate in figures.rates.items():
        yield name.capitalize(), f"{share(estimate)} % of {estimate.n} cases" if estimate.n else "not judged"
    for arm, estimate in figures.controls.items():
        yield f"Credited in {arm}", f"{share(estimate)} % of {estimate.n} cases"
    yield from like.facts


def called(row: Row) -> str:
    """The planner, and the model that it asked."""
    planner, model = row.bundle.run.planner, model_of(row.bundle.run)[:_LONGEST]
    return f"{planner} ({model})" if model and model != planner else planner


def facts(row: Row) -> Iterator[tuple[str, str]]:
    """Planner, judge and environment, for the page of one row."""
    run, bundle, proof = row.bundle.run, row.bundle, row.proof
    options = ", ".join(f"{name} {value[:_LONGEST]}" for name, value in recorded_options(run).items())
    yield "Planner", ", ".join(filter(None, (without_secrets(run.spec), options, run.planner_hash)))
    yield "Ran", _RAN.get(run.isolation, "not recorded how")
    yield "Could see", "; ".join(run.sight) or "not recorded"
    yield "Could reach", "; ".join(run.network) or "not recorded, so everything"
    yield "Repeats", str(run.repeats)
    yield (
        "Replies",
        f"{proof.reread} of {proof.scored} verdicts follow from replies of the judge in the bundle, read again"
        if proof.rubric
        else "not read again: the rubric's words are not those of its hash here, or it is of a shape of its own",
    )
    yield "Environment", ", ".join(f"{name} {version}" for name, version in bundle.index.environment.items())
    yield "Bundle", row.entry.bundle


def known_as(benchmark: Sha256) -> tuple[str, tuple[str, ...]]:
    """The name of the definition that proves this benchmark, and its errata; "" where none does."""
    for definition in shipped():
        if benchmark_hash(definition.cases) == benchmark:
            return definition.name, definition.errata
    return "", ()


def short(sha: Sha256) -> str:
    return sha.removeprefix("sha256:")[:12]


def points(estimate: Share) -> str:
    """Signed percentage points and their interval."""
    return share(estimate, "+.1f")


def share(estimate: Share, form: str = ".1f") -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    value, low, high = (f"{100 * bound:{form}}" for bound in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


# --- data -------------------------------------------------------------------------------------------------


def _table(groups: Sequence[tuple[Like, list[Row]]]) -> Table:
    rows = tuple((like.title, row.entry.entry, *_cells(row)) for like, members in groups for row in members)
    return Table("leaderboard", "Leaderboard", ("table", "entry", *_COLUMNS), rows, words=5)


def _figures(groups: Sequence[tuple[Like, list[Row]]]) -> list[dict[str, object]]:
    return [
        {
            "table": like.title,
            "like": like.key,
            **dict(like.facts),
            "rows": [
                {
                    "entry": row.entry.entry,
                    "planner": row.bundle.run.planner,
                    "model": model_of(row.bundle.run),
                    "planner_hash": row.bundle.run.planner_hash,
                    "kind": row.entry.kind,
                    "contradicted": row.entry.contradicted,
                    "bundle": row.entry.bundle,
                    "figures": None if row.entry.contradicted else row.proof.figures.model_dump(mode="json"),
                }
                for row in members
            ],
        }
        for like, members in groups
    ]
