"""Every gate passes a sound edit and refuses the fault it is there for."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.benchmark.gates import GateInput, own_gates, run_gates
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.records import Camera, GateResult, Placement, Size

TAXONOMY = load_taxonomy()
CYCLIST = TAXONOMY.get("cyclist_crossing")
H, W = 480, 640
CAMERA = Camera(
    width=W, height=H, fx=600, fy=600, cx=319.5, cy=200,
    T_cam_ego=((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, 0), (0, 0, 0, 1)),
)  # fmt: skip


def road(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(105, 4, (H, W, 3)), 0, 255).astype(np.uint8)


def placed(x0: int = 300, y0: int = 180, width: int = 50, height: int = 70) -> Placement:
    """A hazard whose footprint spans the lowest tenth of its box."""
    return Placement(
        zone="crossing", x=12, y=0, yaw=0, size=Size(length=1.8, width=0.6, height=1.7), distance_m=12,
        lateral_m=0, required_decel=3, foot_px=(x0 + width / 2, y0 + height * 0.95),
        box_px=(x0, y0, x0 + width, y0 + height),
    )  # fmt: skip


def around(p: Placement, rim: int = 12) -> np.ndarray:
    mask = np.zeros((H, W), np.uint8)
    x0, y0, x1, y1 = (round(v) for v in p.box_px)
    mask[max(y0 - rim, 0) : y1 + rim, max(x0 - rim, 0) : x1 + rim] = 255
    return mask


def paint(
    image: np.ndarray, p: Placement, colour=(160, 60, 40), rise: int = 0, shadow: bool = True
) -> np.ndarray:
    """A blob in the hazard's box with a soft edge, ``rise`` pixels above its ground, and its shadow."""
    alpha = np.zeros((H, W), np.float32)
    x0, y0, x1, y1 = (round(v) for v in p.box_px)
    alpha[max(y0 + 3 - rise, 0) : y1 - 2 - rise, x0 + 4 : x1 - 4] = 1
    alpha = cv2.GaussianBlur(alpha, (0, 0), 1)[..., None]
    ground = image.astype(np.float32)
    if shadow:
        dark = np.zeros((H, W), np.float32)
        cv2.ellipse(dark, ((x0 + x1) // 2, y1 - 2), ((x1 - x0) // 2, 6), 0, 0, 360, 0.5, -1)
        ground *= 1 - cv2.GaussianBlur(dark, (0, 0), 1.5)[..., None]
    out = ground * (1 - alpha) + np.array(colour, np.float32) * alpha
    return np.clip(np.rint(out), 0, 255).astype(np.uint8)


def measured(original, augmented, mask, p, hazard=CYCLIST) -> tuple[GateResult, ...]:
    return run_gates(GateInput(original, augmented, mask, CAMERA, p, hazard), own_gates())


def failed(original, augmented, mask, p, hazard=CYCLIST) -> set[str]:
    return {g.gate for g in measured(original, augmented, mask, p, hazard) if not g.passed}


def test_a_sound_edit_passes_with_every_value_inside_its_bound():
    p, image = placed(), road()
    gates = measured(image, paint(image, p), around(p), p)
    assert [g.gate for g in gates if g.value is None] == ["seen-again"], "nobody who could tell looked"
    gates = [g for g in gates if g.value is not None]
    assert {g.gate for g in gates} == {"outside-mask", "seam", "visibility", "contrast", "base", "height"}
    assert all(g.passed and not g.reason and g.bound for g in gates), gates


@given(
    st.integers(30, 520), st.integers(40, 330), st.integers(24, 90), st.integers(40, 120), st.integers(0, 5)
)
@settings(max_examples=40, deadline=None)
def test_sound_edits_pass_anywhere(x0, y0, width, height, seed):
    p, image = placed(x0, y0, width, height), road(seed)
    assert failed(image, paint(image, p), around(p), p) == set()


@given(st.integers(0, H - 1), st.integers(0, W - 1), st.integers(0, 2), st.sampled_from([-1, 1]))
@settings(max_examples=40, deadline=None)
def test_a_single_value_outside_the_mask_is_found(v, u, channel, by):
    p, image = placed(), road()
    mask, augmented = around(p), paint(image, p)
    augmented[v, u, channel] = np.clip(int(augmented[v, u, channel]) + by, 0, 255)
    assert ("outside-mask" in failed(image, augmented, mask, p)) == (not mask[v, u])


@pytest.mark.parametrize("rise", [20, -20])
def test_floating_above_the_ground_and_sinking_below_it_is_refused(rise):
    p, image = placed(), road()
    assert "base" in failed(image, paint(image, p, rise=rise, shadow=rise < 0), around(p, 60), p)


@pytest.mark.parametrize(
    ("share", "wrong"), [(0.3, True), (0.6, True), (0.9, False), (1.0, False), (1.5, True)]
)
@pytest.mark.parametrize("noise", [0, 8])
def test_another_height_than_the_ordered_one_is_refused(share, wrong, noise):
    p, image = placed(), road()
    drawn = placed(300, round(250 - 70 * share), 50, round(70 * share))
    mask = around(p, 60)
    augmented = paint(image, drawn, shadow=False).astype(np.float32)
    augmented += np.random.default_rng(0).normal(0, noise, image.shape) * (mask > 0)[..., None]
    gates = measured(image, np.clip(augmented, 0, 255).astype(np.uint8), mask, p)
    (found,) = [g for g in gates if g.gate == "height"]
    assert found.passed == (not wrong), found
    if share <= 1:
        assert found.value == pytest.approx(share, abs=0.08)


def test_a_shadow_towards_the_camera_is_not_sinking():
    p, image = placed(), road()
    augmented = paint(image, p).astype(np.float32)
    dark = np.zeros((H, W), np.float32)
    cv2.ellipse(dark, (325, 275), (18, 30), 0, 0, 360, 0.55, -1)
    augmented *= 1 - cv2.GaussianBlur(dark, (0, 0), 2)[..., None]
    assert failed(image, augmented.astype(np.uint8), around(p, 80), p) == set()


def test_nothing_where_it_was_placed_is_refused():
    p, image = placed(), road()
    assert {"visibility", "contrast", "base"} <= failed(image, image.copy(), around(p), p)


def test_what_vanishes_at_the_planners_size_is_refused():
    p, image = placed(width=13, height=17), road()
    assert "visibility" in failed(image, paint(image, p, shadow=False), around(p), p)


def test_road_coloured_things_are_refused():
    p, image = placed(), road()
    assert "contrast" in failed(image, paint(image, p, colour=(118, 105, 105), shadow=False), around(p), p)


@pytest.mark.parametrize("offset", [-6, 6])
def test_a_box_of_another_brightness_is_refused(offset):
    p, image = placed(), road()
    mask, augmented = around(p), paint(image, p).astype(np.int16)
    augmented[mask > 0] += offset
    assert "seam" in failed(image, np.clip(augmented, 0, 255).astype(np.uint8), mask, p)


@pytest.mark.parametrize("offset", [-8, 5])
def test_a_soft_edged_box_of_another_tone_is_refused(offset):
    p, image = placed(), road()
    mask = around(p, 30)
    soft = cv2.GaussianBlur(cv2.erode(mask, np.ones((9, 9))).astype(np.float32) / 255, (0, 0), 1.5)
    toned = np.clip(paint(image, p) + np.rint(offset * soft)[..., None], 0, 255).astype(np.uint8)
    toned = np.where(mask[..., None] > 0, toned, image)
    assert "seam" in failed(image, toned, mask, p)


def test_an_object_cut_off_by_its_mask_is_refused():
    p, image = placed(), road()
    mask = around(p, 0)
    mask[:, : round(p.box_px[0]) + 15] = 0
    augmented = np.where(mask[..., None] > 0, paint(image, p), image)
    assert "seam" in failed(image, augmented, mask, p)


def test_a_null_edit_may_change_nothing_and_must_not_leave_a_trace_outside():
    p, image = placed(), road()
    assert failed(image, image.copy(), around(p), p, TAXONOMY.null) == set()
    leaked = image.copy()
    leaked[0, 0] += 1
    assert failed(image, leaked, around(p), p, TAXONOMY.null) == {"outside-mask"}
