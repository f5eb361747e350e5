import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.planners.answer import MAX_TEXT, canonical_action, parse
from cfgen.planners.baselines import constant_turn, write_text
from cfgen.records import LATERAL, LONGITUDINAL

GOOD = write_text(
    "A road.", "Clear, so go on.", "set speed tracking", "lane keeping", constant_turn(10, 0.05)
)


def test_the_papers_format_reads_without_faults():
    parsed = parse(GOOD)
    assert parsed.faults == ()
    assert parsed.trace.scene == "A road."
    assert parsed.trace.justification == "Clear, so go on."
    assert (parsed.trace.longitudinal, parsed.trace.lateral) == ("set speed tracking", "lane keeping")
    assert parsed.waypoints is not None
    np.testing.assert_allclose(parsed.waypoints, constant_turn(10, 0.05), atol=1e-3)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda t: t.replace('"', "'"), "Python literal"),
        (lambda t: t.replace("{", "{,"), "fields taken by name"),
        (
            lambda t: t.replace("Lateral: lane keeping", "lateral = keep lane & centering"),
            "read as 'lane keeping'",
        ),
        (lambda t: t.replace("Longitudinal", "Sideways"), "'Longitudinal:' is missing"),
        (lambda t: t.replace("lane keeping", "teleport"), "not in the vocabulary"),
        (
            lambda t: t.replace("<think>", "").replace("</think>", ""),
            "<think>: expected one block, found none",
        ),
        (
            lambda t: t + "<action>Longitudinal: stop\nLateral: pull over</action>",
            "found 2; the first counts",
        ),
        (lambda t: t.replace("0.0125]", "0.0125, 4]"), "found 4 numbers"),
        (lambda t: t.split("<wp>")[0], "expected waypoints, found none"),
    ],
)
def test_every_departure_is_named(change, fault):
    assert any(fault in f for f in parse(change(GOOD)).faults)


def test_missing_theta_is_marked():
    parsed = parse("<wp>(1.0, 2.0)</wp>")
    assert parsed.waypoints is not None
    assert np.isnan(parsed.waypoints[0, 2])
    assert parsed.waypoints[0, :2].tolist() == [1.0, 2.0]


def test_long_text_is_cut_and_said():
    assert "only the first" in parse("x" * (MAX_TEXT + 1)).faults[0]


@pytest.mark.parametrize(
    ("words", "axis", "entry"),
    [
        ("Yield (agent right-of-way)", "longitudinal", "yield"),
        ("Stop for static constraints", "longitudinal", "stop"),
        ("Lead obstacle following", "longitudinal", "follow lead vehicle"),
        ("Acceleration for passing/overtaking", "longitudinal", "pass"),
        ("Lane keeping & centering", "lateral", "lane keeping"),
        ("Out-of-lane nudge left", "lateral", "out-of-lane nudge left"),
        ("Merge / Split (facility change)", "lateral", "merge"),
        ("", "lateral", ""),
        *((word, "longitudinal", word) for word in LONGITUDINAL),
        *((word.upper(), "lateral", word) for word in LATERAL),
    ],
)
def test_taxonomy_names_map_to_the_vocabulary(words, axis, entry):
    assert canonical_action(words, axis) == entry


_PIECES = [
    "<think>",
    "</think>",
    "<action>",
    "</action>",
    "<wp>",
    "</wp>",
    "[",
    "{",
    '"',
    "scene",
    ":",
    "1e999",
    "nan",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=20)), max_size=60).map("".join))
def test_no_text_breaks_the_parser(text):
    parsed = parse(text)
    assert parsed.faults
    assert parsed.trace.longitudinal in ("", *LONGITUDINAL)
