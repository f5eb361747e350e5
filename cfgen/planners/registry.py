"""From what a user types after ``--planner`` to something that answers observations."""

import importlib
import importlib.util
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.core.errors import CfgenError, InputError, did_you_mean
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.network import current, own_network
from cfgen.core.plain import MAX_CHARS
from cfgen.core.processes import importable
from cfgen.core.registry import Extra, Registry
from cfgen.models.limits import TERMS
from cfgen.models.registry import MODELS
from cfgen.planners.answer import PlanFaultError, received
from cfgen.planners.process import PlannerProcess, PlannerStartError
from cfgen.planners.protocol import Observation, Planner, Requirements, Response, needs_of
from cfgen.planners.serialization import decode_needs, needs_content
from cfgen.planners.waiting import STARTUP_TIMEOUT_S
from cfgen.records import Isolation

PLANNERS = Registry(
    "planner",
    "cfgen.planners",
    {
        "alpamayo": "cfgen.planners.alpamayo:Alpamayo",
        "cruise": "cfgen.planners.builtin:Cruise",
        "logged": "cfgen.planners.builtin:Logged",
        "navsim": "cfgen.planners.navsim:Navsim",
        "reactive": "cfgen.planners.reactive:Reactive",
        "scripted": "cfgen.planners.responders:Responder",
    },
    MODELS,
    "cfgen.planners.vlm:model_planner",
    extras={"alpamayo": Extra("", "alpamayo1_5|alpamayo_r1"), "navsim": Extra("", "navsim")},
)

#: modules of planners that are quick and cannot hang: they run in this process
WEIGHTLESS = ("cfgen.planners.builtin", "cfgen.planners.responders", "cfgen.planners.reactive")

#: s; a week
MAX_TIMEOUT_S = 604_800.0

if TYPE_CHECKING:
    from cfgen.planners.command import Command
    from cfgen.planners.http import Server

Answers = Sequence[str | Response | PlanFaultError]


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


def open_planner(
    spec: str | type | Planner,
    options: Mapping[str, Any] | None = None,
    name: str | None = None,
    timeout_s: float = 120.0,
    max_chars: int = MAX_CHARS,
    startup_s: float = STARTUP_TIMEOUT_S,
    cache: Path | None = None,
) -> OpenPlanner:
    """A planner, started and ready.

    Args:
        spec: a registered name, that of a model provider, ``package.module:Class``, ``cmd:program arguments``,
            ``http://host:port``, or a ``.jsonl`` file of outputs; or ``verified:`` before any of these. A class is as
            its ``package.module:Class``; an object runs in this process.
        timeout_s: for one answer. max_chars: of an answer's text; the rest is cut, with a note.
        startup_s: for it to start, each time.
        cache: where planners and verifiers made of models keep replies and what they spent, unless their option
            ``cache`` says otherwise.

    Raises:
        InputError: the spec fits none of these, or the planner cannot be imported or made.
    """
    options = dict(options or {})
    for which, given in (("timeout", timeout_s), ("startup timeout", startup_s)):
        if not 0 < given <= MAX_TIMEOUT_S:
            raise InputError(
                f"{which}: expected more than 0 and at most {MAX_TIMEOUT_S:g} s, found {given:g}"
            )
    if max_chars < 1:
        raise InputError(f"max_answer_chars: expected a whole number above 0, found {max_chars}")
    limits = timeout_s, max_chars, startup_s
    if isinstance(spec, type):
        spec = importable(spec)
    if not isinstance(spec, str):
        return _instance(spec, options, name, max_chars)
    if spec.startswith("verified:"):
        return _verified(spec, options, name, limits, cache)
    if spec.endswith(".jsonl"):
        return _in_process(
            spec, _make_outputs, (spec, max_chars), name or Path(spec).stem, hash_bytes(_read(spec))
        )
    if spec.startswith("cmd:"):
        from cfgen.planners.command import Command

        program = Command(spec.removeprefix("cmd:"), *limits)
        network = _own() if program.alone else _loose(spec, "the program is NOT held")
        return _elsewhere(spec, program, name, network)
    if spec.startswith(("http://", "https://")):
        from cfgen.planners.http import Server

        network = current().words("its server was allowed; what that reaches is its own")
        return _elsewhere(spec, Server(spec, *limits), name, network)
    if ":" in spec:
        identity = hash_json({"spec": spec, "options": options, "source": _source_hash(spec)})
        return _isolated(spec, _make_class, (spec, options), name or spec, identity, limits, own_network())
    if spec not in PLANNERS.names():
        raise InputError(
            f"planner '{spec}': expected a name ({', '.join(PLANNERS.names())}), package.module:Class, cmd:PROGRAM, "
            f"a URL, or a .jsonl file of outputs{did_you_mean(spec, PLANNERS.names())}"
        )
    decisive = options
    if PLANNERS.adapts(spec):
        decisive = _decisive(options)
        options = {"cache": str(cache or ""), **options}
    identity = hash_json({"spec": spec, "options": decisive})
    if getattr(PLANNERS.get(spec), "__module__", "") in WEIGHTLESS:
        return _in_process(spec, PLANNERS.get(spec), (), name, identity, options)
    # what asks a model through cfgen's client may ask one on this machine
    alone = own_network() and not PLANNERS.adapts(spec)
    return _isolated(spec, _make_registered, (spec, options), name or spec, identity, limits, alone)


def _decisive(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without the terms on which a model is asked: a budget may be raised half-way."""
    return {name: value for name, value in options.items() if name not in TERMS}


def _in_process(
    spec: str,
    factory: Callable[..., Planner],
    arguments: tuple[Any, ...],
    name: str | None,
    identity: str,
    options: Mapping[str, Any] | None = None,
) -> OpenPlanner:
    try:
        planner = factory(*arguments, **(options or {}))
    except TypeError as error:
        raise InputError(f"planner '{spec}': options {dict(options or {})} do not fit ({error})") from error
    replays = bool(getattr(planner, "replays_log", False))
    needs = _sound(spec, needs_of(planner))

    def ask(observations: Sequence[Observation]) -> Answers:
        return [_guarded(planner, one) for one in observations]

    own_name = str(getattr(planner, "name", spec))
    network = current().words("Python's sockets refused in this process")
    return OpenPlanner(
        identifier(name or own_name), spec, identity, needs, ask, "none", replays, network=network
    )


def _instance(planner: Planner, options: dict[str, Any], name: str | None, max_chars: int) -> OpenPlanner:
    from cfgen.planners.instance import ask_instance, identity_of, spec_of

    if options:
        raise InputError("planner_options are for a name or a class; an object was made with its own")
    spec = spec_of(planner)
    needs = _untold(_sound(spec, needs_of(planner)), spec)
    own_name = name or str(getattr(planner, "name", "") or type(planner).__name__)
    ask = partial(ask_instance, planner, max_chars)
    network = _loose(spec, "Python's sockets refused in this process")
    return OpenPlanner(identifier(own_name), spec, identity_of(planner), needs, ask, "none", network=network)


def _guarded(planner: Planner, observation: Observation) -> str | Response | PlanFaultError:
    try:
        return received(planner.plan([observation])[0])
    except PlanFaultError as fault:
        return fault


def _sound(spec: str, needs: Requirements) -> Requirements:
    """What it declares, checked before the first question."""
    try:
        return decode_needs(needs_content(needs), own=True)
    except PlanFaultError as fault:
        raise InputError(f"planner '{spec}': {fault}") from fault


def _isolated(
    spec: str,
    factory: Callable[..., Planner],
    arguments: tuple[Any, ...],
    name: str,
    identity: str,
    limits: tuple[float, int, float],
    alone: bool,
) -> OpenPlanner:
    try:
        planner = PlannerProcess(factory, arguments, *limits, alone=alone)
    except PlannerStartError as error:
        raise InputError(f"planner '{spec}': {error}") from error
    try:
        needs = _untold(planner.needs, spec)
    except InputError:
        planner.close()
        raise
    network = _own() if alone else _loose(spec, "Python's sockets refused in the planner's process")
    return OpenPlanner(
        identifier(name), spec, identity, needs, planner.plan, close=planner.close, network=network
    )


def _own() -> str:
    return current().words("the planner has a network of its own with nothing in it")


def _loose(spec: str, held: str) -> str:
    """For the record, and told to the user: what it may start is free to send."""
    if current().limits:
        warnings.warn(
            f"planner '{spec}': {current().asked} does not hold programs that it starts", stacklevel=2
        )
    return current().words(f"{held}; programs that it starts are NOT held")


def _untold(needs: Requirements, spec: str) -> Requirements:
    if needs.truth:
        raise InputError(
            f"planner '{spec}': needs.truth is for cfgen's own scripted responders; set it to False"
        )
    return needs


def _elsewhere(spec: str, planner: "Command | Server", name: str | None, network: str) -> OpenPlanner:
    return OpenPlanner(
        identifier(name or spec),
        spec,
        hash_json({"spec": spec}),
        planner.needs,
        planner.plan,
        "server" if spec.startswith("http") else "process",
        close=planner.close,
        network=network,
    )


#: options of ``verified:`` itself; the rest go to the planner under it
SELECTION = ("mode", "n", "m", "threshold", "workers")


def _verified(
    spec: str, options: dict[str, Any], name: str | None, limits: tuple[float, int, float], cache: Path | None
) -> OpenPlanner:
    from cfgen.planners.model_verifier import create_verifier
    from cfgen.planners.verified import Verified

    selection = {key: options.pop(key) for key in SELECTION if key in options}
    by = options.pop("verifier", "offline"), options.pop("verifier_options", {})
    base = open_planner(spec.removeprefix("verified:"), options, None, *limits, cache)
    try:
        planner = Verified(base.ask, verifier=create_verifier(*by, str(cache or "")), **selection)
    except (CfgenError, TypeError) as error:
        base.close()
        raise InputError(f"planner '{spec}': {error}") from error
    oracle = selection.get("mode") == "oracle"
    return replace(
        base,
        name=identifier(name or f"verified.{base.name}.{selection.get('mode', 'best_of_n')}"),
        spec=spec,
        hash=hash_json({"base": base.hash, "selection": selection, "verifier": [by[0], _decisive(by[1])]}),
        needs=replace(base.needs, truth=base.needs.truth or oracle),
        ask=planner.plan,
        replays_log=base.replays_log or oracle,
    )


def _make_outputs(path: str, max_chars: int) -> Planner:
    from cfgen.planners.outputs import Outputs

    return Outputs(path, max_chars)


def _make_registered(name: str, options: Mapping[str, Any]) -> Planner:
    made: Planner = PLANNERS.get(name)(**options)
    return made


def class_of(spec: str) -> Callable[..., Any]:
    """What ``package.module:Class`` names; imports the module.

    Raises:
        InputError: there is no such module, or no such name in it.
    """
    module_name, _, attribute = spec.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        if error.name and module_name.startswith(error.name):
            raise InputError(
                f"module '{error.name}' is not found; install its package or run from its folder"
            ) from error
        raise
    except AttributeError as error:
        raise InputError(f"module '{module_name}' has no '{attribute}'") from error
    return found


def _make_class(spec: str, options: Mapping[str, Any]) -> Planner:
    made: Planner = class_of(spec)(**options)
    return made


def _source_hash(spec: str) -> str:
    """Of the module's file, so that changed code is not mistaken for the planner that ran before."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.util.find_spec(spec.partition(":")[0])
    except (ImportError, ValueError):
        return ""
    return hash_bytes(_read(found.origin)) if found and found.origin and found.has_location else ""


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror}); check the path") from error


def identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", ".", name).strip(".-_")[:100] or "planner"
