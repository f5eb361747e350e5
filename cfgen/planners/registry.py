"""From what a user types after ``--planner`` to something that answers observations."""

import contextlib
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cfgen.core.engines.registry import importable
from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.network import current, without_secrets
from cfgen.core.registry import Extra, Registry
from cfgen.core.sanitize import MAX_CHARS, visible
from cfgen.models.limits import TERMS
from cfgen.models.registry import MODELS
from cfgen.planners.answer import PlanFaultError, check_response
from cfgen.planners.external import Command, Server
from cfgen.planners.fingerprint import file_hash, of_command
from cfgen.planners.outputs import Outputs
from cfgen.planners.process import (
    Answers,
    AskedPlanner,
    PlannerObject,
    PlannerProcess,
    PlannerStartError,
    adapter,
    parts_of,
    spec_of,
)
from cfgen.planners.prompts import load_files
from cfgen.planners.protocol import Observation, Planner, Requirements, Response
from cfgen.planners.runtime import Runtime, given, network_record
from cfgen.planners.serialization import decode_needs
from cfgen.planners.serving import declared_needs
from cfgen.planners.settings import BASELINES, PATIENCE
from cfgen.records import Isolation, PlannerRun

PLANNERS = Registry(
    "planner",
    "cfgen.planners",
    {
        "alpamayo": "cfgen.planners.alpamayo:Alpamayo",
        **{name: f"cfgen.planners.baselines:{cls}" for name, cls in BASELINES.items()},
        "navsim": "cfgen.planners.navsim:Navsim",
        "cheating": "cfgen.planners.cheating:Cheating",
        "scripted": "cfgen.planners.responders:Responder",
    },
    MODELS,
    "cfgen.planners.vlm:model_planner",
    extras={"alpamayo": Extra("", "alpamayo1_5|alpamayo_r1"), "navsim": Extra("", "navsim")},
)


@dataclass(frozen=True)
class OpenPlanner:
    """A planner ready to be asked. ``ask`` returns one answer or fault per observation and never raises for them."""

    name: str
    spec: str
    hash: str
    needs: Requirements
    ask: Callable[[Sequence[Observation]], Answers]
    isolation: Isolation = "process"
    #: sees the recorded future (the ``logged`` planner)
    replays_log: bool = False
    close: Callable[[], None] = field(default=lambda: None)
    #: what it could reach and how that was held, for the record; "": everything
    network: str = ""
    #: what it could see and how that was held, for the record
    sight: str = ""
    #: what it consists of, name of a part -> hash or version
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    #: forget all it has seen; the next question is put to a new process
    renew: Callable[[], None] = field(default=lambda: None)
    #: cfgen's own code, which may know which question it answers
    trusted: bool = False


def open_planner(
    spec: str | type | Planner,
    options: Mapping[str, Any] | None = None,
    name: str | None = None,
    timeout_s: float = 120.0,
    max_chars: int = MAX_CHARS,
    startup_s: float = PATIENCE.startup_s,
    cache: Path | None = None,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    exports: Path | None = None,
) -> OpenPlanner:
    """A planner, started and ready.

    Args:
        spec: a registered name, that of a model provider, ``package.module:Class``, ``cmd:program arguments``,
            ``http://host:port``, or a ``.jsonl`` file of outputs. A class is as its
            ``package.module:Class``; an object runs in this process.
        timeout_s: for one answer. max_chars: of an answer's text; the rest is cut, with a note.
        startup_s: for it to start, each time.
        cache: where planners made of models keep replies and what they spent, unless their option
            ``cache`` says otherwise.
        runtime: the Python or container in which a class or a name runs, and what it and a program may see and reach.
        exports: what the ids in a file of outputs stand for; see :mod:`cfgen.planners.outputs`.

    Raises:
        InputError: the spec fits none of these, or the planner cannot be imported or made.
    """
    options = dict(options or {})
    for which, seconds in (("timeout", timeout_s), ("startup timeout", startup_s)):
        if not 0 < seconds <= PATIENCE.most_s:
            raise InputError(
                f"{which}: expected more than 0 and at most {PATIENCE.most_s:g} s, found {seconds:g}"
            )
    if max_chars < 1:
        raise InputError(f"max_answer_chars: expected a whole number above 0, found {max_chars}")
    if name and identifier(name) != name:
        raise InputError(
            f"--name '{name}': expected letters, digits, '.', '_' and '-', as it names a folder; such as "
            f"'{identifier(name)}'"
        )
    limits = timeout_s, max_chars, startup_s
    if isinstance(spec, type):
        spec = importable(spec)
    if not isinstance(spec, str):
        return _instance(spec, options, name, max_chars)
    if spec.endswith(".jsonl"):
        outputs = partial(Outputs, spec, max_chars, exports)
        return _in_process(spec, outputs, name or Path(spec).stem, hash_bytes(_read(spec)))
    if spec.startswith("cmd:"):
        return _program(spec, name, limits, runtime)
    if spec.startswith(("http://", "https://")):
        return _server(spec, name, limits)
    if ":" in spec:
        return _isolated(spec, (spec, options), options, name, limits, runtime)
    return _registered(spec, options, name, limits, cache, runtime)


def _registered(
    spec: str,
    options: dict[str, Any],
    name: str | None,
    limits: tuple[float, int, float],
    cache: Path | None,
    runtime: Runtime,
) -> OpenPlanner:
    """A planner by its name: cfgen's own, a model's, or one that is installed here or under ``--python``."""
    model, builtin = PLANNERS.adapts(spec), spec in PLANNERS.builtin
    if runtime.python and model:
        raise InputError(f"planner '{spec}': asks its model from cfgen's own Python; leave --python out")
    if runtime.python and not builtin:
        return _isolated(spec, (spec, options), options, name, limits, runtime)
    if spec not in PLANNERS.names():
        raise InputError(
            f"planner '{spec}': expected a name ({', '.join(PLANNERS.names())}), package.module:Class, cmd:PROGRAM, "
            f"a URL, or a .jsonl file of outputs{did_you_mean(spec, PLANNERS.names())}"
        )
    if is_weightless(spec):
        identity = hash_json({"spec": spec, "options": options})
        return _in_process(spec, PLANNERS.get(spec), name, identity, options)
    if runtime.python:
        return _isolated(spec, (PLANNERS.place(spec), options), options, name, limits, runtime)
    decisive = options
    if model:
        options = load_files(options)
        # a budget may be raised half-way: the terms on which a model is asked do not count
        decisive = {name: value for name, value in options.items() if name not in TERMS}
        options = {"cache": str(cache or ""), **options}
        # what asks a model through cfgen's client may ask one on this machine, and keeps replies in the benchmark
        runtime = replace(runtime, trusted=True)
    target = ("cfgen.planners.registry:make_registered", {"name": spec, "options": options})
    return _isolated(spec, target, decisive, name, limits, runtime)


def is_weightless(spec: str) -> bool:
    """Whether it is quick and cannot hang: it runs in this process."""
    modules = ("cfgen.planners.baselines", "cfgen.planners.responders")
    return spec in PLANNERS.builtin and PLANNERS.get(spec).__module__ in modules


def _in_process(
    spec: str,
    factory: Callable[..., Planner],
    name: str | None,
    identity: str,
    options: Mapping[str, Any] | None = None,
) -> OpenPlanner:
    try:
        planner = factory(**(options or {}))
    except TypeError as error:
        raise InputError(f"planner '{spec}': options {dict(options or {})} do not fit ({error})") from error
    needs = _checked_needs(spec, planner)

    def ask(observations: Sequence[Observation]) -> Answers:
        return [_ask_one(planner, observation) for observation in observations]

    return OpenPlanner(
        identifier(name or str(getattr(planner, "name", spec))), spec, identity, needs, ask, "none",
        replays_log=bool(getattr(planner, "replays_log", False)), trusted=True,
        sight="runs in this process", network=current().words("Python's sockets refused in this process"),
    )  # fmt: skip


def _ask_one(planner: Planner, observation: Observation) -> str | Response | PlanFaultError:
    try:
        return check_response(planner.plan([observation])[0])
    except PlanFaultError as fault:
        return fault


def _instance(planner: Planner, options: dict[str, Any], name: str | None, max_chars: int) -> OpenPlanner:
    if options:
        raise InputError("planner_options are for a name or a class; an object was made with its own")
    spec, parts = spec_of(planner), parts_of(planner)
    asked = PlannerObject(planner, _checked_needs(spec, planner), max_chars)
    return _opened(
        spec, name or str(getattr(planner, "name", "") or type(planner).__name__), asked, parts, "none",
        network=_warn_unconfined(spec, "Python's sockets refused in this process"),
        sight="runs in this process: nothing is hidden from it",
    )  # fmt: skip


def _checked_needs(spec: str, planner: object) -> Requirements:
    """What it declares, checked before the first question."""
    try:
        return decode_needs(declared_needs(planner), own=True)
    except PlanFaultError as fault:
        raise InputError(f"planner '{spec}': {fault}") from fault


def _isolated(
    spec: str,
    target: tuple[str, Mapping[str, Any]],
    decisive: dict[str, Any],
    name: str | None,
    limits: tuple[float, int, float],
    runtime: Runtime,
) -> OpenPlanner:
    where = f" under --python {shlex.join(runtime.python)}" if runtime.python else ""
    with _named_start(f"{spec}'{where}"):
        sends = adapter(spec) if runtime.python and spec in PLANNERS.builtin else {}
        planner = PlannerProcess(target[0], target[1], *limits, runtime, sends)
    consists = {**planner.fingerprint, **{f"sent {m}": hash_bytes(s.encode()) for m, s in sends.items()}}
    if runtime.trusted:  # what it answers is the model's doing, not this environment's
        consists = {part: digest for part, digest in consists.items() if part.startswith("weights")}
    elif runtime.python:
        home = str(Path.home())
        consists["--python"] = hash_json([word.replace(home, "~") for word in runtime.python])
    parts = {
        "options": hash_json(decisive),
        **recordable_options(decisive, PLANNERS.adapts(spec)),
        **consists,
        **given(runtime),
    }
    return _opened(
        spec, name, planner, parts, trusted=runtime.trusted, sight=runtime.sight_record(),
        network=_network_of(spec, runtime, "Python's sockets refused in the planner's process"),
    )  # fmt: skip


def _program(spec: str, name: str | None, limits: tuple[float, int, float], runtime: Runtime) -> OpenPlanner:
    runtime, command = replace(runtime, python=()), spec.removeprefix("cmd:")
    with _named_start(f"{spec}'"):
        program = Command(command, *limits, runtime)
    parts = {f"file {file}": file_hash(path) for file, path in of_command(command).items()} | given(runtime)
    return _opened(
        spec, name, program, parts, sight=runtime.sight_record(),
        network=_network_of(spec, runtime, "the program is NOT held"),
    )  # fmt: skip


def _server(spec: str, name: str | None, limits: tuple[float, int, float]) -> OpenPlanner:
    with _named_start(f"{spec}'"):
        server = Server(spec, *limits)
    return _opened(
        without_secrets(spec), name, server, server.about, "server",
        network=current().words("its server was allowed; what that reaches is its own"),
        sight="a server: what it sees and remembers is its own",
    )  # fmt: skip


@contextlib.contextmanager
def _named_start(planner: str) -> Iterator[None]:
    try:
        yield
    except PlannerStartError as error:
        raise InputError(f"planner '{planner}: {error}") from error


def _opened(
    spec: str,
    name: str | None,
    planner: AskedPlanner,
    parts: Mapping[str, str],
    isolation: Isolation = "process",
    *,
    network: str,
    sight: str,
    trusted: bool = False,
) -> OpenPlanner:
    """Identified by its ``parts``; refused where it wants what only cfgen's own planners may know."""
    if planner.needs.truth:
        planner.close()
        raise InputError(
            f"planner '{spec}': needs.truth is for cfgen's own scripted responders; set it to False"
        )
    return OpenPlanner(
        identifier(name or spec), spec, hash_json({"spec": spec, "fingerprint": dict(parts)}), planner.needs,
        planner.plan, isolation, close=planner.close, renew=planner.renew, network=network, sight=sight,
        fingerprint=parts, trusted=trusted,
    )  # fmt: skip


def _network_of(spec: str, runtime: Runtime, restraint: str) -> str:
    return (not runtime.no_network and _warn_unconfined(spec, restraint)) or network_record(runtime)


def _warn_unconfined(spec: str, restraint: str) -> str:
    """For the record, and told to the user: what it may start is free to send."""
    if current().limits:
        warnings.warn(
            f"planner '{spec}': {current().asked} does not hold programs that it starts", stacklevel=2
        )
    return current().words(f"{restraint}; programs that it starts are NOT held")


def make_registered(name: str, options: Mapping[str, Any]) -> Planner:
    return PLANNERS.get(name)(**options)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror}); check the path") from error


def identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", ".", name).strip(".-_")[:100] or "planner"


# --- options on record ----------------------------------------------------------------------------

#: of what is in a fingerprint, an option
_OPTION = "option "
#: of planners of others, whose other options may be anything
_KNOWN = ("model", "checkpoint", "weights", "revision", "base_url", "provider")
_SECRET = re.compile(r"key|token(?!s)|secret|passw|credential|auth|header|cookie", re.I)
_LONGEST = 200


def recordable_options(options: Mapping[str, Any], ours: bool) -> dict[str, str]:
    """Parts of a fingerprint. ``ours``: the options are those of a planner of cfgen's, so all but secrets are told."""
    return {
        f"{_OPTION}{name}": _word(value)
        for name, value in options.items()
        if not _SECRET.search(name) and (ours or name in _KNOWN)
    }


def recorded_options(run: PlannerRun) -> dict[str, str]:
    """The options that its fingerprint tells in words."""
    return {
        name.removeprefix(_OPTION): words
        for name, words in run.fingerprint.items()
        if name.startswith(_OPTION)
    }


def model_of(run: PlannerRun) -> str:
    """Which model it asked; "" where none is on record."""
    return recorded_options(run).get("model", "")


def _word(value: Any) -> str:
    if isinstance(value, Mapping) and {"file", "text"} <= value.keys():
        return f"{value['file']} {hash_bytes(str(value['text']).encode())}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_word(v)}" for k, v in value.items() if not _SECRET.search(str(k)))[:_LONGEST]
    return visible(without_secrets(str(value)).replace(str(Path.home()), "~"))[:_LONGEST]
