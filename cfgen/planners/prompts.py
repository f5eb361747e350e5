"""Prompts from files: what a vision-language model is asked, stage after stage, in somebody's own words.

A file is YAML, or plain text for a prompt of one stage::

    system: You drive a car.
    frame_times: [-1.0, -0.5, 0.0]      # of the front camera, s
    max_pixels: 307200
    parser: openemma                    # who reads the answer; --planner-options parser=... comes first
    stages:
      scene: Describe the road ahead.
      plan: "The scene: {{scene}} Past speeds, m/s: {{speeds}}. Give six pairs (speed, curvature)."

Every stage is shown the frames and may quote the answers of earlier stages by their names.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cfgen.core.errors import InputError, did_you_mean
from cfgen.geometry.frames import pose_at
from cfgen.planners.answer import PlanFaultError, check_response
from cfgen.planners.baselines import write_text
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.response import words_of

#: what a prompt may quote besides earlier answers
VALUES = {
    "speeds": "past speeds, m/s, 0.5 s apart, the last is now",
    "curvatures": "past curvatures, 1/m, > 0 to the left, at the same times",
    "speeds_and_curvatures": "both as [speed, 100 x curvature], as OpenEMMA writes them",
    "motion": "past poses and speeds, a row a step",
    "instruction": "the route's next instruction, or nothing",
    "speed": "speed now, m/s",
}
#: where a prompt brings none
SYSTEM = "You are the driver of a car."
_FIELDS = ("system", "frame_times", "max_pixels", "parser", "stages")
_QUOTED = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_STEP_S, _LONGEST_S = 0.5, 5.0
#: rad/s divided by less than this, m/s, says nothing of a curve
_STANDING_MPS = 0.5
#: options of model planners that name files
FILES = ("prompt", "parser")


@dataclass(frozen=True)
class Prompt:
    """``stages``: name -> text, in the order asked; ``look``: what is shown; ``parser``: who reads the answers."""

    stages: Mapping[str, str]
    system: str = SYSTEM
    parser: str = "papers"
    look: Mapping[str, Any] = field(default_factory=dict)

    @property
    def last(self) -> str:
        return list(self.stages)[-1]

    def fill(self, stage: str, observation: Observation, answers: Mapping[str, str]) -> str:
        """The words of a stage, with what they quote."""
        values = {**_values(observation), **answers}
        return _QUOTED.sub(lambda quoted: values[quoted[1]], self.stages[stage])


def load_files(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a model planner with the content of the files that they name in place of their paths.

    So what is in a file counts for the planner's identity, and its own process, wherever it runs, need not find it.

    Raises:
        InputError: a file cannot be read.
    """
    named = dict(options)
    for key in FILES:
        value = named.get(key)
        if isinstance(value, str) and _is_path(value):
            try:
                text = Path(value).expanduser().read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(
                    f"planner option '{key}': expected a text file, cannot read {value} ({error}); check the path"
                ) from error
            named[key] = {"file": Path(value).name, "text": text}
    return named


def shipped_prompts() -> list[str]:
    folder = resources.files("cfgen.planners").joinpath("prompts_shipped")
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".yaml"))


def create_prompt(source: Any) -> Prompt:
    """A prompt by its name, if it ships with cfgen, or from what :func:`load_files` read.

    Raises:
        InputError: no such prompt, or a file that is none; names the field, what was expected and found.
    """
    if isinstance(source, str):
        if source not in shipped_prompts():
            raise InputError(
                f"planner option 'prompt': expected a file (.yaml, .txt) or one of {', '.join(shipped_prompts())}, "
                f"found '{source}'{did_you_mean(source, shipped_prompts())}"
            )
        file = resources.files("cfgen.planners").joinpath("prompts_shipped", f"{source}.yaml")
        source = {"file": f"{source}.yaml", "text": file.read_text(encoding="utf-8")}
    name, text = str(source["file"]), str(source["text"])
    if not name.endswith((".yaml", ".yml")):
        return _parse_prompt(name, {"stages": {"plan": text}})
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{name}: expected YAML ({' '.join(str(error).split())})") from error
    return _parse_prompt(name, content)


def motion_in_words(observation: Observation) -> str:
    history = observation.history
    rows = [
        f"t={t:+.2f} s: x={pose[0]:.2f}, y={pose[1]:.2f}, theta={pose[2]:.3f}, v={v:.2f} m/s"
        for t, pose, v in zip(history.t, history.poses, history.v, strict=True)
    ]
    return "The car's own motion up to now:\n" + "\n".join(rows[-9:])


def past_actions(observation: Observation) -> tuple[np.ndarray, np.ndarray]:
    """(T,) speeds in m/s and (T,) curvatures in 1/m, left > 0, 0.5 s apart up to now, over at most 5 s of history."""
    history = observation.history
    reach = min(_LONGEST_S, -history.t[0])
    times = -_STEP_S * np.arange(int(reach / _STEP_S + 1e-6), -1, -1)
    v = np.interp(times, history.t, history.v)
    if len(times) < 2:
        return v, np.zeros(len(v))
    theta = np.array([pose_at(history, t)[2] for t in times])
    rate = np.gradient(np.unwrap(theta), times)
    return v, np.where(v > _STANDING_MPS, rate / np.maximum(v, _STANDING_MPS), 0.0)


def _values(observation: Observation) -> dict[str, str]:
    v, curvatures = past_actions(observation)
    return {
        "speeds": "[" + ", ".join(f"{x:.2f}" for x in v) + "]",
        "curvatures": "[" + ", ".join(f"{x:.4f}" for x in curvatures) + "]",
        "speeds_and_curvatures": ", ".join(
            f"[{x:.1f},{100 * k:.1f}]" for x, k in zip(v, curvatures, strict=True)
        ),
        "motion": motion_in_words(observation),
        "instruction": observation.instruction,
        "speed": f"{observation.speed:.2f}",
    }


def _is_path(text: str) -> bool:
    return "/" in text or Path(text).suffix in (".yaml", ".yml", ".txt", ".md", ".py")


def _parse_prompt(name: str, content: Any) -> Prompt:
    stages = content.get("stages") if isinstance(content, dict) else None
    if (
        not isinstance(stages, dict)
        or not stages
        or not all(isinstance(t, str) and t.strip() for t in stages.values())
    ):
        raise InputError(
            f"{name}: field 'stages': expected names with the text of each, found {stages!r:.80}"
        )
    unknown = sorted(map(str, set(content) - set(_FIELDS)))
    if unknown:
        raise InputError(f"{name}: expected fields {', '.join(_FIELDS)}, found {', '.join(unknown)}")
    quotable = list(VALUES)
    for stage, text in stages.items():
        odd = [word for word in _QUOTED.findall(text) if word not in quotable]
        if odd:
            raise InputError(
                f"{name}: stage '{stage}': '{{{{{odd[0]}}}}}' is not known there; expected one of {', '.join(quotable)}"
            )
        quotable.append(str(stage))
    look = {key: content[key] for key in ("frame_times", "max_pixels") if key in content}
    system, parser = str(content.get("system", SYSTEM)), str(content.get("parser", "papers"))
    return Prompt({str(k): t for k, t in stages.items()}, system, parser, look)


# --- readers of answers ---------------------------------------------------------------------------

Parser = Callable[[Mapping[str, str], Observation], Any]

_PAIR = r"[\[(]\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*,\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*[\])]"


def integrate(speeds: Any, curvatures: Any, dt: float = _STEP_S) -> np.ndarray:
    """(N, 3) x, y, theta after each step of ``dt`` s: arcs driven from the origin, in the ego frame at t0.

    Args:
        speeds, curvatures: (N,) m/s and 1/m, left > 0, held over one step each.
    """
    x = y = theta = 0.0
    points = []
    for v, k in zip(np.asarray(speeds, float), np.asarray(curvatures, float), strict=True):
        turn = v * k * dt
        chord = v * dt * np.sinc(turn / (2 * np.pi))
        x, y = x + chord * np.cos(theta + turn / 2), y + chord * np.sin(theta + turn / 2)
        theta += turn
        points.append((x, y, theta))
    return np.array(points).reshape(-1, 3)


def pairs(text: str) -> np.ndarray:
    """(N, 2) of the pairs of numbers in brackets or parentheses, in their order."""
    return np.array([(float(a), float(b)) for a, b in re.findall(_PAIR, text)]).reshape(-1, 2)


def papers(answers: Mapping[str, str], observation: Observation) -> Response:
    """The papers' format, in the last answer."""
    return Response(list(answers.values())[-1])


def lightemma(answers: Mapping[str, str], observation: Observation) -> Response:
    """LightEMMA: ``[(v1, c1), ..., (v6, c6)]`` in m/s and 1/m, 0.5 s apart, integrated by Euler's method as there;
    what was said before is the reasoning."""
    v, curvature = _actions(answers).T
    theta = np.cumsum(v * curvature) * _STEP_S
    before = np.concatenate([[0.0], theta[:-1]])
    xy = np.cumsum(v * np.array([np.cos(before), np.sin(before)]), axis=1) * _STEP_S
    return _answer(answers, np.column_stack([*xy, theta]))


def openemma(answers: Mapping[str, str], observation: Observation) -> Response:
    """OpenEMMA: ``[v1, k1], ..., [v10, k10]``; v is metres in 0.5 s, k is 100 times the curvature in 1/m.

    The first ten pairs count. As there, the trapezoidal rule over n pairs at n points of a time from 0 to n steps, of
    which the first is the car itself.
    """
    v, curvature = _actions(answers)[:10].T
    if len(v) < 2:
        raise PlanFaultError("answer: expected ten pairs [speed, curvature], found one")
    width = len(v) / (len(v) - 1)

    def integral(rate: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2) * width])

    theta = integral(v * curvature / 100)
    points = np.column_stack([integral(v * np.cos(theta)), integral(v * np.sin(theta)), theta])
    return _answer(answers, points[1:])


def speed_curvature(answers: Mapping[str, str], observation: Observation) -> Response:
    """``[v1, k1], [v2, k2], ...`` in m/s and 100/m, 0.5 s apart, driven as arcs: what cfgen's own prompts ask for."""
    v, curvature = _actions(answers).T
    return _answer(answers, integrate(v, curvature / 100))


def parsed(
    parser: Parser, answers: Mapping[str, str], observation: Observation, report: Mapping[str, float]
) -> Response | PlanFaultError:
    """What ``parser`` makes of the answers; whatever it raises is a failed answer."""
    try:
        response = check_response(parser(answers, observation))
    except PlanFaultError as fault:
        return fault
    except Exception as error:  # of a file of the user's
        return PlanFaultError(f"parser: raised {type(error).__name__}: {words_of(error)[:200]}")
    return Response(response.text, response.waypoints, response.t, {**report, **response.report})


SHIPPED: dict[str, Parser] = {
    "papers": papers,
    "lightemma": lightemma,
    "openemma": openemma,
    "speed-curvature": speed_curvature,
}


def create_parser(source: Any) -> Parser:
    """A parser by its name, if it ships with cfgen, or of a file that defines ``parse(answers, observation)``.

    Args:
        source: a name, or ``{"file": ..., "text": ...}`` as :func:`load_files` reads it.

    Raises:
        InputError: no such parser, or a file that does not define one.
    """
    if isinstance(source, str):
        if source not in SHIPPED:
            raise InputError(
                f"planner option 'parser': expected a file (.py) or one of {', '.join(SHIPPED)}, found '{source}'"
                f"{did_you_mean(source, SHIPPED)}"
            )
        return SHIPPED[source]
    name, space = str(source["file"]), {"__name__": "parser"}
    try:
        exec(
            compile(str(source["text"]), name, "exec"), space
        )  # the user's own file, in the planner's process
    except Exception as error:
        raise InputError(
            f"parser {name}: cannot be run ({type(error).__name__}: {words_of(error)[:200]})"
        ) from error
    function: Any = space.get("parse")
    if not callable(function):
        raise InputError(f"parser {name}: expected a function 'parse(answers, observation)', found none")
    parser: Parser = function
    return parser


def _actions(answers: Mapping[str, str]) -> np.ndarray:
    """(N, 2) pairs of the last answer, one at least."""
    text = list(answers.values())[-1]
    actions = pairs(text)
    if not len(actions):
        raise PlanFaultError(
            f"answer: expected pairs of speed and curvature such as (5.2, 0.01), found '{text.strip()[:80]}'"
        )
    return actions


def _answer(answers: Mapping[str, str], points: np.ndarray) -> Response:
    return Response(_reasons(answers), points, _STEP_S * np.arange(1, len(points) + 1))


def _reasons(answers: Mapping[str, str]) -> str:
    """Earlier answers in the papers' form: the first is what is seen, the others are why."""
    earlier = list(answers.values())[:-1] or list(answers.values())
    scene, why = earlier[0].strip(), " ".join(words.strip() for words in earlier[1:])
    return write_text(scene, why or scene, "", "", np.empty((0, 3)))
