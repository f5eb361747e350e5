"""How planners of others write their plans: readers of the answers that :mod:`cfgen.planners.prompts` asks for.

A reader is a function ``parse(answers, observation)``; ``answers`` has the text of every stage by its name. It returns
a :class:`Response`, or the text alone where that is in the papers' format. Users name a file that defines one:
``--planner-options parser=my_parser.py``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cfgen.core.errors import InputError, did_you_mean
from cfgen.planners.answer import PlanFaultError, check_response
from cfgen.planners.builtin import write_text
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.response import words_of

Parser = Callable[[Mapping[str, str], Observation], Any]

_PAIR = r"[\[(]\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*,\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*[\])]"
_STEP_S = 0.5
#: m/s that DriveLM's words for a speed stand for here, and 1/m for its words of steering; DriveLM gives no figures
_DRIVELM_SPEEDS = (
    ("not moving", 0.0),
    ("very fast", 20.0),
    ("fast", 14.0),
    ("slowly", 4.0),
    ("normal speed", 9.0),
)
_DRIVELM_CURVATURES = (("slightly steering to the left", 0.01), ("slightly steering to the right", -0.01),
                       ("steering to the left", 0.05), ("steering to the right", -0.05), ("straight", 0.0))  # fmt: skip
#: m/s^2 towards the speed that DriveLM's words name
_DRIVELM_RATE = 3.0


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
    """LightEMMA: ``[(v1, c1), ..., (v6, c6)]`` in m/s and 1/m, 0.5 s apart; what was said before is the reasoning."""
    return _driven(answers, scale=1.0)


def openemma(answers: Mapping[str, str], observation: Observation) -> Response:
    """OpenEMMA: ``[v1, k1], ..., [v10, k10]`` with 100 times the curvature in 1/m, 0.5 s apart."""
    return _driven(answers, scale=0.01)


def drivelm(answers: Mapping[str, str], observation: Observation) -> Response:
    """DriveLM: a sentence on steering and one on speed; figures for these words are ours."""
    text = list(answers.values())[-1]
    sentence = text.lower()
    speed = next((v for words, v in _DRIVELM_SPEEDS if words in sentence), None)
    curvature = next((k for words, k in _DRIVELM_CURVATURES if words in sentence), None)
    if speed is None or curvature is None:
        raise PlanFaultError(
            "answer: expected a behaviour in DriveLM's words ('going straight', 'slightly steering to the left', ...; "
            f"'driving slowly', 'not moving', ...), found '{text.strip()[:80]}'"
        )
    t = _STEP_S * np.arange(1, 13)
    change = np.clip(speed - observation.speed, -_DRIVELM_RATE * t, _DRIVELM_RATE * t)
    v = np.maximum(observation.speed + change, 0.0)
    return Response(_reasons(answers), integrate(v, np.full(len(v), curvature)), t)


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
    "drivelm": drivelm,
}


def create_parser(source: Any) -> Parser:
    """A parser by its name, if it ships with cfgen, or of a file that defines ``parse(answers, observation)``.

    Args:
        given: a name, or ``{"file": ..., "text": ...}`` as :func:`cfgen.planners.prompts.named_files` reads it.

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


def _driven(answers: Mapping[str, str], scale: float) -> Response:
    text = list(answers.values())[-1]
    actions = pairs(text)
    if not len(actions):
        raise PlanFaultError(
            f"answer: expected pairs of speed and curvature such as (5.2, 0.01), found '{text.strip()[:80]}'"
        )
    points = integrate(actions[:, 0], actions[:, 1] * scale)
    return Response(_reasons(answers), points, _STEP_S * np.arange(1, len(points) + 1))


def _reasons(answers: Mapping[str, str]) -> str:
    """Earlier answers in the papers' form: the first is what is seen, the others are why."""
    earlier = list(answers.values())[:-1] or list(answers.values())
    scene, why = earlier[0].strip(), " ".join(words.strip() for words in earlier[1:])
    return write_text(scene, why or scene, "", "", np.empty((0, 3)))
