"""A row and its table in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from cfgen.core.network import without_secrets
from cfgen.planners.registry import model_of, recorded_options
from cfgen.records import JudgeRun, Sha256
from cfgen.reporting.basis import tested_words
from cfgen.sharing.bundle import Share, benchmark_hash
from cfgen.sharing.definitions import shipped
from cfgen.sharing.leaderboard.board import KINDS, Row

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
    titled = []
    for like in likes:
        same_title = [namesake.options for namesake in likes if namesake.title == like.title]
        names = dict.fromkeys(name for options in same_title for name in options)
        own = like.options
        differing = [name for name in names if len({options.get(name) for options in same_title}) > 1]
        has = [f"{name} {own[name]}" for name in differing if name in own]
        difference = "; ".join(has or [f"no {name}" for name in differing])[:200]
        title = f"{like.title}, {difference or short(like.key)}" if counts[like.title] > 1 else like.title
        titled.append(replace(like, title=title))
    return titled


def _flat(value: object, name: str = "") -> dict[str, str]:
    """Every option below ``value``, by its name in words."""
    if isinstance(value, (list, tuple)):
        value = {str(i + 1) if len(value) > 1 else "": item_value for i, item_value in enumerate(value)}
    if not isinstance(value, Mapping):
        words = _plain(value)
        return {name or "options": short(words) if words.startswith("sha256:") else words}
    options: dict[str, str] = {}
    for key, item_value in value.items():
        options |= _flat(
            item_value, f"{name} {short_of(str(key))}".replace("_", " ").removeprefix("models ").strip()
        )
    return options


def models_of(judge: JudgeRun) -> tuple[str, ...]:
    """The models that its options name, in words; () where it asks none."""
    models = judge.options.get("models")
    return tuple(
        " ".join(str(model[name]) for name in ("provider", "model") if name in model) or "unnamed"
        for model in (models if isinstance(models, list) else ())
        if isinstance(model, dict)
    )


def who_judges(judge: JudgeRun) -> str:
    """Out of what tables are told apart by: the models of its options, or what it was given as."""
    models = " and ".join(map(short_of, models_of(judge)))
    return models or short_of(" ".join(dict.fromkeys(judge.spec.split()))) or "a judge of no name"


def short_of(words: str) -> str:
    """Bounded, so that no bundle fills a heading."""
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."


def known_answers(row: Row) -> str:
    """How the judge did, and whose word that is: totals follow from counts, but the counts are as handed in."""
    tested = tested_words(row.bundle.probe, {row.bundle.judge.rubric_hash})
    by_submitter = row.bundle.probe is not None and row.entry.kind == "self-reported"
    return f"told by the submitter: {tested}" if by_submitter else tested


def beside(row: Row, like: Like) -> Iterator[tuple[str, str]]:
    """What a page of a row says before its facts."""
    yield "Vouched for", f"{row.entry.kind}: {KINDS[row.entry.kind]}"
    if row.entry.of:
        yield "Answers of", row.entry.of
    yield "Added", row.entry.added
    figures = row.proof.figures
    yield "Above the floor", f"{points(figures.above)} points, {figures.leading}, {figures.above.n} cases"
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
    """Signed points and their interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f})"


def share(estimate: Share) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:.1f} ({100 * estimate.low:.1f}-{100 * estimate.high:.1f})"


def _judge(judge: JudgeRun) -> str:
    """Who judges, each model with what else was set, and the other options."""
    models = judge.options.get("models")
    names = models_of(judge)
    rest = {name: value for name, value in judge.options.items() if not (names and name == "models")}
    if not names or not isinstance(models, list):
        return f"{who_judges(judge)}, {_plain(rest) or 'no options'}"[:400]
    settings = (
        {k: v for k, v in model.items() if k not in ("provider", "model")}
        for model in models
        if isinstance(model, dict)
    )
    each = (
        f"{name} ({_plain(settings_of)})" if settings_of else name
        for name, settings_of in zip(names, settings, strict=False)
    )
    return "; ".join(filter(None, (" and ".join(each), _plain(rest))))[:400]


def _plain(value: object) -> str:
    """In words: what belongs to one thing in commas, things in semicolons."""
    if isinstance(value, Mapping):
        nested = any(isinstance(part, (Mapping, list, tuple)) for part in value.values())
        parts = (f"{short_of(str(name)).replace('_', ' ')} {_plain(part)}" for name, part in value.items())
        return ("; " if nested else ", ").join(parts)
    if isinstance(value, (list, tuple)):
        return " and ".join(map(_plain, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return short_of(without_secrets(str(value)))


def _floor(row: Row) -> str:
    controls = row.proof.figures.controls
    return f"{row.bundle.index.floor} of {', '.join(controls)}" if controls else "no control arm was judged"
