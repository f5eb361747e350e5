"""The card of an exported data set: what is in it, how it came to be, under which licences, and a datasheet."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cfgen.core.sanitize import markdown_line, one_line
from cfgen.records import BenchmarkRecord, BuildReport
from cfgen.reporting.section import Table
from cfgen.scenes.licences import card_id

#: refusals that are listed
_REASONS = 12
_PICTURES = {
    "original": "the front frame as recorded",
    "augmented": "the same with the hazard",
    "mask": "255 where the two may differ",
}


@dataclass(frozen=True)
class Publication:
    """What only who publishes it can say of a data set."""

    name: str
    creator: str = ""
    url: str = ""
    #: licence files and notices of the sources, handed on word for word
    notices: tuple[Path, ...] = ()


@dataclass(frozen=True)
class About:
    """``rows``: those of the metadata. ``sources``: (licence, source) -> scenes. ``source_type``: the IPTC term."""

    publication: Publication
    benchmark: BenchmarkRecord
    built: BuildReport | None
    sources: Counter[tuple[str, str]]
    source_type: str
    rows: list[dict[str, Any]]
    #: who blurred faces and plates, and with which weights -> scenes
    anonymized: Counter[str] = field(default_factory=Counter)


def card(about: About) -> str:
    """``README.md`` as the Hugging Face hub reads it: front matter, then Markdown."""
    parts = [
        _front_matter(about),
        f"# {markdown_line(about.publication.name)}\n\n{markdown_line(_summary(about))}",
        "> **Contains AI-generated or synthetic content.** Every picture but the originals and the masks was made by a "
        "program out of an original: it shows an object that was never there (the null arm excepted). Such pictures "
        f"carry the IPTC digital source type `{about.source_type.rsplit('/', 1)[1]}` in their XMP. Do not pass them "
        "off as records of what happened.",
        _loading(about),
        _hazards(about),
        _acceptance(about.built),
        _licences(about),
        _datasheet(about),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(about: About) -> str:
    identifiers = {card_id(licence) for licence, _ in about.sources}
    licence = identifiers.pop() if len(identifiers) == 1 else "other"
    named = "license_name: see-sources\nlicense_link: README.md\n" if licence == "other" else ""
    return (
        f"---\npretty_name: {json.dumps(about.publication.name)}\nlicense: {licence}\n{named}language: [en]\n"
        "tags: [autonomous-driving, counterfactual, hazard, benchmark, synthetic, cfgen]\n"
        "configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: test/**\n---"
    )


def _summary(about: About) -> str:
    hazards, scenes = (len({row[name] for row in about.rows}) for name in ("hazard", "scene_id"))
    return (
        f"{len(about.rows)} driving scenes before and after one safety-critical hazard was inserted: {hazards} "
        f"kinds of hazard in {scenes} scenes, with mask, placement in metres and provenance. Made by cfgen "
        f"{about.benchmark.cfgen_version} with the inpainter '{about.benchmark.inpainter}'."
    )


def _loading(about: About) -> str:
    columns = sorted({name for row in about.rows for name in row})
    pictures = [name.removesuffix("_file_name") for name in columns if name.endswith("_file_name")]
    lines = [
        f"- `{name}`: {_PICTURES.get(name, 'this control arm; null where it has none')}" for name in pictures
    ]
    if "history_t" in columns:
        lines.append("- `original_history`, `augmented_history`: earlier frames, at `history_t` seconds")
    lines += [
        "- `hazard`, `hazard_name`, `cluster`, `why`: what was inserted, of the taxonomy",
        "- `zone`, `distance_m`, `required_decel` (m/s^2), `placement`: where, in the ego frame (m: x forward, y left) "
        "and in pixels",
        "- `camera`, `speed` (m/s), `motion_known`: the front camera's calibration and how fast the car was",
        "- `provenance`: inpainter, versions, hashes, seed; `case`: the whole record of cfgen as JSON text",
        "- `source`, `license`: of the scene",
    ]
    return (
        "## Use it\n\n```python\nfrom datasets import load_dataset\n\n"
        f'cases = load_dataset({json.dumps(about.publication.name)}, split="test")\n'
        'cases[0]["original"], cases[0]["augmented"], cases[0]["hazard_name"]'
        f"  # {one_line(about.rows[0]['hazard_name'])}\n```\n\n" + "\n".join(lines)
    )


def _hazards(about: About) -> str:
    cases = Counter((row["cluster"], row["hazard"], row["hazard_name"], row["why"]) for row in about.rows)
    rows = [(cluster, name, why, str(n)) for (cluster, _, name, why), n in sorted(cases.items())]
    columns = ("cluster", "hazard", "why a driver must respond", "cases")
    return Table("hazards", "Hazards", columns, rows, words=3).markdown()


def _acceptance(built: BuildReport | None) -> str:
    if built is None:
        return "### Acceptance\n\nNot known: the build's report is missing."
    rows = [(hazard, str(accepted), str(tried)) for hazard, (accepted, tried) in built.acceptance.items()]
    reasons = [
        f"- {count}: {markdown_line(reason)}" for reason, count in list(built.reasons.items())[:_REASONS]
    ]
    refused = (
        "\n".join(["Refused, by reason (numbers as #):\n", *reasons]) if reasons else "Nothing was refused."
    )
    return f"{Table('acceptance', 'Acceptance', ('hazard', 'accepted', 'tried'), rows).markdown()}\n{refused}"


def _licences(about: About) -> str:
    rows = [(source, licence, str(n)) for (licence, source), n in sorted(about.sources.items())]
    note = (
        "Pictures keep the licence of the scene that they are made of; what cfgen added is under Apache-2.0. NOTICE.md "
        "holds what the licences ask to be handed on."
    )
    return Table("licences", "Licences", ("source", "licence", "scenes"), rows, words=2, note=note).markdown()


def _datasheet(about: About) -> str:
    benchmark = about.benchmark
    creator, url = markdown_line(about.publication.creator), re.sub(r"[\s<>]", "", about.publication.url)
    origins = "; ".join(
        f"{n} scenes of {source} ({licence})" for (licence, source), n in about.sources.items()
    )
    sampling = f"Pairs of scene and hazard were tried in an order drawn by seed {benchmark.seed}."
    if (frame := benchmark.sampling) is not None:
        sampling = f"{sampling[:-1]}; of {frame.found} scenes the {frame.matched} that meet '{frame.where}' were used."
    low, high = benchmark.decel_band
    guided = f", guided by '{benchmark.guide}'" if benchmark.guide else ""
    blurred = "; ".join(f"in {n} scenes by {by}" for by, n in about.anonymized.items())
    people = (
        f"Faces and plates were blurred before anything was drawn, alike in all arms, {blurred}; no detector finds all."
        if blurred
        else "cfgen did not blur them (cfgen scenes anonymize)."
    )
    answers = {
        "Motivation": "Testing whether a driving planner notices an inserted hazard, says so and acts on it. Not for "
        "training detectors, and no evidence that a planner is safe on roads.",
        "Made by": creator or "not told",
        "Composition": markdown_line(_summary(about)),
        "Splits": "One, `test`: nothing in it is meant to be trained on.",
        "Sampling": markdown_line(sampling),
        "Self-contained": "All pictures and metadata are in this folder; nothing is fetched from elsewhere.",
        "Labels and noise": "Masks, placements and hazard names are those that the pictures were made from: nobody "
        "annotated them. Distances in metres are as right as the camera that the source tells, or that was measured "
        "from the frames.",
        "Collection": markdown_line(
            f"Front camera frames and ego motion of driving logs or rendered scenes: {origins}."
        ),
        "Preprocessing": markdown_line(
            f"One hazard of a taxonomy was placed on the road by required deceleration ({low:g} to {high:g} m/s^2, its "
            f"default) and drawn by '{benchmark.inpainter}'{guided} into every frame that would see it; pixels outside "
            "the mask are those of the source. Edits that failed a quality gate were refused."
        ),
        "People": "Frames of real drives may show people, number plates and places. "
        f"{people} What the source did holds here too. Demo scenes are rendered and show nobody.",
        "Consent and ethics review": "None by cfgen; what holds for the sources holds here.",
        "Biases": "Scenes and hazards are those that the build accepted: pairs whose hazard could not be placed "
        "plausibly, or whose edit failed a gate, are missing, and not at random.",
        "Limits": "Inserted objects are rendered or generated: they may look less real than what is around them. "
        "Depth, light and cameras are estimated where the source does not tell them. One hazard a scene; the recorded "
        "future is that of a road without it.",
        "Maintenance": "Whoever publishes this export maintains it, and answers requests to remove a scene: "
        f"{creator or 'not told'}{f' (<{url}>)' if url else ''}. A corrected benchmark is a new export.",
    }
    return "## Datasheet\n\n" + "\n".join(f"- **{name}.** {text}" for name, text in answers.items())
