"""What is told of an exported data set, in words that the card and the Croissant file share."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cfgen.records import Benchmark, BuildReport
from cfgen.sharing.licences import card_id

NOTICE = (
    "Every picture but the originals and the masks was made by a program out of an original: it shows an object that "
    "was never there (the null arm excepted). Such pictures carry the IPTC digital source type {term} in their XMP. "
    "Do not pass them off as records of what happened."
)
BIASES = (
    "Scenes and hazards are those that the build accepted: pairs whose hazard could not be placed plausibly, or whose "
    "edit failed a gate, are missing, and they are not missing at random. The acceptance by hazard is in the card."
)
LIMITS = (
    "Inserted objects are rendered or generated: they may look less real than what is around them. Depth, light and "
    "cameras are estimated where the source does not tell them. One hazard a scene; the recorded future is that of a "
    "road without it."
)
USES = (
    "Testing whether a driving planner notices an inserted hazard, says so and acts on it, by asking it before and "
    "after. Not for training detectors, and no evidence that a planner is safe on roads."
)
PERSONAL = (
    "Frames of real drives may show people, number plates and places. {blurred} What the source did holds here too. "
    "Demo scenes are rendered and show nobody. Nobody shown was asked by cfgen; who publishes this answers requests to "
    "remove a scene."
)
LABELS = (
    "Masks, placements and hazard names are those that the pictures were made from: nobody annotated them. Distances "
    "in metres are as right as the camera that the source tells, or that was measured from the frames."
)
MAINTENANCE = (
    "Whoever publishes this export maintains it. cfgen never changes an exported file; a corrected benchmark is a new "
    "export with hashes of its own."
)


@dataclass(frozen=True)
class Told:
    """What only who publishes it can say of a data set."""

    name: str
    creator: str = ""
    url: str = ""
    #: licence files and notices of the sources, handed on word for word
    notices: tuple[Path, ...] = ()


@dataclass(frozen=True)
class About:
    """``rows``: those of the metadata. ``sources``: (licence, source) -> scenes. ``source_type``: the IPTC term."""

    told: Told
    benchmark: Benchmark
    built: BuildReport | None
    sources: Counter[tuple[str, str]]
    source_type: str
    rows: list[dict[str, Any]]
    #: who blurred faces and plates, and with which weights -> scenes
    anonymized: Counter[str] = field(default_factory=Counter)

    @property
    def summary(self) -> str:
        hazards = len({row["hazard"] for row in self.rows})
        scenes = len({row["scene_id"] for row in self.rows})
        return (
            f"{len(self.rows)} driving scenes before and after one safety-critical hazard was inserted: {hazards} "
            f"kinds of hazard in {scenes} scenes, with mask, placement in metres and provenance. Made by cfgen "
            f"{self.benchmark.cfgen_version} with the inpainter '{self.benchmark.inpainter}'."
        )

    @property
    def term(self) -> str:
        """The last part of the IPTC term."""
        return self.source_type.rsplit("/", 1)[1]

    @property
    def notice(self) -> str:
        return NOTICE.format(term=f"`{self.term}`")

    @property
    def personal(self) -> str:
        scenes = len({row["scene_id"] for row in self.rows})
        blurred = "; ".join(f"in {n} of {scenes} scenes by {by}" for by, n in self.anonymized.items())
        return PERSONAL.format(
            blurred=f"Faces and plates were blurred before anything was drawn, alike in all arms, {blurred}; "
            "no detector finds all."
            if blurred
            else "cfgen did not blur them (cfgen scenes anonymize)."
        )

    @property
    def sampling(self) -> str:
        drawn = self.benchmark.sampling
        seed = self.benchmark.seed
        if drawn is None:
            return f"Pairs of scene and hazard were tried in an order drawn by seed {seed}, until there were enough."
        met = f"those that meet '{drawn.where}'" if drawn.where else "all"
        return f"Scenes were drawn by seed {seed} from {met}, in {len(drawn.strata)} strata."

    @property
    def licence(self) -> str:
        """The card's identifier, where all sources share one; else ``other``."""
        found = {card_id(licence) for licence, _ in self.sources}
        return found.pop() if len(found) == 1 else "other"

    @property
    def licences(self) -> list[str]:
        return sorted({licence for licence, _ in self.sources})

    @property
    def collection(self) -> str:
        told = "; ".join(
            f"{n} scenes of {source} ({licence})" for (licence, source), n in self.sources.items()
        )
        return f"Front camera frames and ego motion of driving logs or rendered scenes: {told}."

    @property
    def manipulation(self) -> str:
        made = self.benchmark
        guided = f", guided by '{made.guide}'" if made.guide else ""
        return (
            f"One hazard of a taxonomy was placed on the road by required deceleration "
            f"({made.decel_band[0]:g} to {made.decel_band[1]:g} m/s^2, its default) and drawn by '{made.inpainter}'"
            f"{guided} into every frame that would see it; pixels outside the mask are those of the source. Edits "
            "that failed a quality gate were refused."
        )
