"""A row and its table in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from cfgen.core.network import without_secrets
from cfgen.planners.told import model_of, told
from cfgen.records import JudgeRun, Sha256
from cfgen.reporting.basis import tested_words
from cfgen.sharing.bundle import benchmark_hash
from cfgen.sharing.consistent import models_of
from cfgen.sharing.definitions import shipped
from cfgen.sharing.figures import Share
from cfgen.sharing.leaderboard.board import KINDS, Row
from cfgen.sharing.proof import Proof

#: of a name or an option in a heading or beside it, characters
_LONGEST = 80
_RAN = {"process": "in a process of its own", "server": "behind a URL", "none": "in the process that scored"}


@dataclass(frozen=True)
class Like:
    """What all rows of a table have in common.

    Attributes:
        key: its place on the page. options: by which tables of one title are told apart, name -> value.
    """

    key: str
    title: str
    facts: tuple[tuple[str, str], ...]
    options: Mapping[str, str]
    #: whether its judge scores the answer as a whole
    reads_words: bool

    @classmethod
    def of(cls, like: Sha256, rows: Sequence[Row]) -> Self:
        index, judge = rows[0].bundle.index, rows[0].bundle.judge
        name, errata = known_as(index.benchmark)
        called = name or f"Benchmark {short(index.benchmark)}"
        who = who_judges(judge)
        tested = dict.fromkeys(known_answers(row) for row in rows)
        named = name or "of no name that ships with cfgen"
        facts = (
            ("Benchmark", f"{named}, {len(index.cases)} cases, {index.benchmark}"),
            *((("Errata", "; ".join(errata)),) if errata else ()),
            ("Judge", _judge(judge)),
            ("Known answers", "; ".join(tested)),
            ("Rubric", f"{index.wording.name} {index.wording.version}, {short(index.wording.hash)}"),
            ("Plans", f"of {index.horizon_s:g} s"),
            ("Arms", f"{', '.join(index.arms)}; floor: {_floor(rows[0])}"),
            ("Intervals", index.blocks),
        )
        options = {
            "rubric": f"{index.wording.name} {index.wording.version} {short(index.wording.hash)}",
            "judge": judge.spec,
            **_flat(judge.options),
            "plans of": f"{index.horizon_s:g} s",
            "arms": ", ".join(sorted(index.arms)),
            "floor": index.floor,
        }
        title = f"{called}, judged by {who}"
        return cls(f"t{short(like)}", title, facts, options, "overall" in index.scores)


def told_apart(likes: Sequence[Like]) -> list[Like]:
    """The same with titles that differ: to equal ones is added in what their options differ."""
    counts = Counter(like.title for like in likes)
    found = []
    for like in likes:
        others = [other.options for other in likes if other.title == like.title]
        names = dict.fromkeys(name for options in others for name in options)
        own = like.options
        differing = [name for name in names if len({options.get(name) for options in others}) > 1]
        has = [f"{name} {own[name]}" for name in differing if name in own]
        said = "; ".join(has or [f"no {name}" for name in differing])[:200]
        title = f"{like.title}, {said or short(like.key)}" if counts[like.title] > 1 else like.title
        found.append(replace(like, title=title))
    return found


def _flat(value: object, name: str = "") -> dict[str, str]:
    """Every option below ``value``, by its name in words."""
    if isinstance(value, (list, tuple)):
        value = {str(i + 1) if len(value) > 1 else "": one for i, one in enumerate(value)}
    if not isinstance(value, Mapping):
        words = _plain(value)
        return {name or "options": short(words) if words.startswith("sha256:") else words}
    found: dict[str, str] = {}
    for key, one in value.items():
        found |= _flat(one, f"{name} {short_of(str(key))}".replace("_", " ").removeprefix("models ").strip())
    return found


def who_judges(judge: JudgeRun) -> str:
    """Out of what tables are told apart by: the models of its options, or what it was given as."""
    models = " and ".join(map(short_of, models_of(judge)))
    return models or short_of(" ".join(dict.fromkeys(judge.spec.split()))) or "a judge of no name"


def short_of(words: str) -> str:
    """Bounded, so that no bundle fills a heading."""
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."


def known_answers(row: Row) -> str:
    """How the judge did, and whose word that is: totals follow from counts, but the counts are as handed in."""
    said = tested_words(row.bundle.probe, {row.bundle.judge.rubric_hash})
    told = row.bundle.probe is not None and row.entry.kind == "self-reported"
    return f"told by the submitter: {said}" if told else said


def beside(row: Row, like: Like) -> Iterator[tuple[str, str]]:
    """What a page of a row says before its facts."""
    yield "Vouched for", f"{row.entry.kind}: {KINDS[row.entry.kind]}"
    if row.entry.of:
        yield "Answers of", row.entry.of
    yield "Added", row.entry.added
    figures = row.proof.figures
    yield "Above the floor", f"{points(figures.above)} points, {figures.leading}, {figures.above.n} cases"
    for name, found in figures.rates.items():
        yield name.capitalize(), f"{share(found)} % of {found.n} cases" if found.n else "not judged"
    for arm, found in figures.controls.items():
        yield f"Credited in {arm}", f"{share(found)} % of {found.n} cases"
    yield from like.facts


def called(row: Row) -> str:
    """The planner, and the model that it asked."""
    planner, model = row.bundle.run.planner, model_of(row.bundle.run)[:_LONGEST]
    return f"{planner} ({model})" if model and model != planner else planner


def facts(row: Row) -> Iterator[tuple[str, str]]:
    """Planner, judge and environment, for the page of one row."""
    run, bundle, proof = row.bundle.run, row.bundle, row.proof
    options = ", ".join(f"{name} {value[:_LONGEST]}" for name, value in told(run).items())
    yield "Planner", ", ".join(filter(None, (without_secrets(run.spec), options, run.planner_hash)))
    yield "Ran", _RAN.get(run.isolation, "not recorded how")
    yield "Could see", "; ".join(run.sight) or "not recorded"
    yield "Could reach", "; ".join(run.network) or "not recorded, so everything"
    yield "Repeats", str(run.repeats)
    yield "Answers", _answers(proof)
    yield (
        "Replies",
        f"{proof.reread} of {proof.scored} verdicts follow from replies of the judge in the bundle, read again"
        if proof.wording
        else "not read again: the rubric's words are not those of its hash here, or it is of a shape of its own",
    )
    yield "Environment", ", ".join(f"{name} {version}" for name, version in bundle.index.environment.items())
    yield "Bundle", row.entry.bundle


def _answers(proof: Proof) -> str:
    """Of how many the text, read again, is all that the plan holds."""
    others = proof.plans - proof.said - proof.beside
    return "; ".join(
        (
            f"{proof.said} of {proof.plans} plans are what their texts say, words and waypoints, read again",
            *([f"{proof.beside} have waypoints that stand in no text"] if proof.beside else []),
            *([f"{others} say otherwise in their texts"] if others else []),
        )
    )


def known_as(benchmark: Sha256) -> tuple[str, tuple[str, ...]]:
    """The name of the definition that proves this benchmark, and its errata; "" where none does."""
    for one in shipped():
        if benchmark_hash(one.cases) == benchmark:
            return one.name, one.errata
    return "", ()


def short(told: Sha256) -> str:
    return told.removeprefix("sha256:")[:12]


def points(found: Share) -> str:
    """Signed points and their interval."""
    if found.value is None or found.low is None or found.high is None:
        return "-"
    return f"{100 * found.value:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def share(found: Share) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "-"
    return f"{100 * found.value:.1f} ({100 * found.low:.1f}-{100 * found.high:.1f})"


def _judge(judge: JudgeRun) -> str:
    """Who judges, each model with what else was set, and the other options."""
    told = judge.options.get("models")
    names = models_of(judge)
    rest = {name: value for name, value in judge.options.items() if not (names and name == "models")}
    if not names or not isinstance(told, list):
        return f"{who_judges(judge)}, {_plain(rest) or 'no options'}"[:400]
    settings = (
        {k: v for k, v in one.items() if k not in ("provider", "model")}
        for one in told
        if isinstance(one, dict)
    )
    each = (f"{name} ({_plain(more)})" if more else name for name, more in zip(names, settings, strict=False))
    return "; ".join(filter(None, (" and ".join(each), _plain(rest))))[:400]


def _plain(value: object) -> str:
    """In words: what belongs to one thing in commas, things in semicolons."""
    if isinstance(value, Mapping):
        nested = any(isinstance(one, (Mapping, list, tuple)) for one in value.values())
        parts = (f"{short_of(str(name)).replace('_', ' ')} {_plain(one)}" for name, one in value.items())
        return ("; " if nested else ", ").join(parts)
    if isinstance(value, (list, tuple)):
        return " and ".join(map(_plain, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return short_of(without_secrets(str(value)))


def _floor(row: Row) -> str:
    controls = row.proof.figures.controls
    return f"{row.bundle.index.floor} of {', '.join(controls)}" if controls else "no control arm was judged"
