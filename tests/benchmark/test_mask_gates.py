"""The detector's gates: what was asked for is there, inside the edit, and large enough."""

import numpy as np
import pytest

from cfgen.benchmark.detector_gates import detector_gates, noun
from cfgen.benchmark.masks import MaskPipeline
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.edit import make_edits
from cfgen.perception.detection import Detection, Segment
from tests.benchmark.painted import hazard_of, job_of, placed
from tests.benchmark.truth import Repaint
from tests.hazards import drawn

BOX = (300.0, 200.0, 340.0, 280.0)


class Finder:
    """Finds what it is told, given in pixels of the whole frame; notes what it was asked."""

    name, options, identity, threshold = "finder", {"threshold": 0.3}, {"model": "finder"}, 0.3

    def __init__(self, *boxes, score=0.7, mask=None):
        self.boxes, self.score, self.mask, self.asked = boxes, score, mask, []

    def detect(self, image, text):
        self.asked.append((image.shape, text))
        return [Detection(self._local(box, image), self.score, self.mask) for box in self.boxes]

    def _local(self, box, image):
        # the window around the mask of these tests is centred on it
        dx, dy = 320 - image.shape[1] / 2, 240 - image.shape[0] / 2
        return (box[0] - dx, box[1] - dy, box[2] - dx, box[3] - dy)


def frame():
    mask = np.zeros((480, 640), np.uint8)
    mask[190:290, 290:350] = 255
    return np.zeros((480, 640, 3), np.uint8), mask


def outcome(finder, segmenter=None):
    gates = detector_gates(finder, segmenter, *frame(), BOX, "deer")
    names = ["detected", "detected_inside", "detected_size"]
    assert [g.gate for g in gates] == names[: len(gates)]
    assert all(bool(g.reason) != g.passed and g.bound for g in gates)
    return tuple(g.passed for g in gates), gates


def test_what_is_found_in_its_place_passes_and_the_values_are_kept():
    finder = Finder((302, 205, 338, 278))
    passed, gates = outcome(finder)
    assert passed == (True, True, True)
    assert gates[0].value == 0.7
    assert gates[1].value == 1.0
    assert gates[2].value == pytest.approx(36 * 73 / (40 * 80), abs=1e-3)
    assert finder.asked == [((320, 320, 3), "deer")], "it looks at the edit and its surroundings"


@pytest.mark.parametrize(
    ("finder", "passed", "reason"),
    [
        (Finder(), (False,), "finds no deer"),
        (Finder((400, 300, 440, 380)), (False,), "finds no deer"),
        (Finder((302, 205, 338, 278), score=0.2), (False,), "finds no deer"),
        (Finder((290, 250, 350, 310)), (True, False, True), "only 67% of what the detector finds"),
        (Finder((310, 220, 325, 235)), (True, True, False), "fills only 7% of the box"),
    ],
    ids=["nothing", "elsewhere", "unsure", "leaves the edit", "too small"],
)
def test_what_is_wrong_fails_and_says_why(finder, passed, reason):
    found, gates = outcome(finder)
    assert found == passed
    assert reason in "; ".join(g.reason for g in gates)


def test_a_mask_counts_before_a_box_and_the_segmenter_gives_one():
    corner = (296, 195, 344, 285)  # the box leaves little room, but the thing itself is slim
    slim = np.zeros((320, 320), bool)
    slim[120:200, 155:165] = True
    _, gates = outcome(Finder(corner, mask=slim))
    assert gates[2].value == pytest.approx(800 / 3200)

    class Cutter:
        min_score = 0.8

        def segment(self, image, prompts):
            wide = np.ones(image.shape[:2], bool)
            return [[Segment(wide, 0.9)] for _ in prompts]

    passed, gates = outcome(Finder(corner), Cutter())
    assert passed == (True, False, True), "the segment spills out of the edit"


def test_the_hazard_is_asked_for_by_name_and_the_null_edit_is_not_asked_about():
    hazard = hazard_of("deer")
    job = job_of(drawn.road(), hazard, placed(hazard, 15.0, 0.0))
    edit = make_edits([job], Repaint())[0]
    finder = Finder()
    gates = MaskPipeline(None, finder).gates(job, edit)
    assert [g.passed for g in gates] == [False]
    assert (hazard.name, finder.asked[0][1]) == ("deer crossing the road", "deer")
    null = hazard.model_copy(update={"kind": "null"})
    assert (
        MaskPipeline(None, finder).gates(type(job)(job.scene, job.images, null, job.placement, 5), edit) == ()
    )
    assert len(finder.asked) == 1


def test_a_name_is_cut_to_what_it_names():
    known = {
        "burning car in the lane": "burning car",
        "person in a high-visibility vest beside a stopped truck": "person",
        "line of traffic cones closing the lane": "line of traffic cones",
        "car out of control, spun round in the lane": "car",
        "school bus stopped with red lights flashing": "school bus",
        "roadside advertising board": "roadside advertising board",
        "deer": "deer",
    }
    assert {name: noun(name) for name in known} == known
    taxonomy = load_taxonomy(None)
    nouns = [noun(h.name) for h in taxonomy.hazards]
    assert not [n for n in nouns if n.endswith(("road", "lane", "ing")) or " the " in n]
