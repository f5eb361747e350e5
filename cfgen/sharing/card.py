"""The data set card and the Croissant file of an exported data set, and what both say of it."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cfgen.core.sanitize import markdown_line, one_line
from cfgen.records import Benchmark, BuildReport
from cfgen.scenes.licences import OPEN, card_id

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
        frame = self.benchmark.sampling
        seed = self.benchmark.seed
        pairs = (
            f"Pairs of scene and hazard were tried in an order drawn by seed {seed}, until there were enough."
        )
        if frame is None:
            return pairs
        return (
            f"{pairs[:-1]}; of {frame.found} scenes the {frame.matched} that meet '{frame.where}' were used."
        )

    @property
    def licence(self) -> str:
        """The card's identifier, where all sources share one; else ``other``."""
        identifiers = {card_id(licence) for licence, _ in self.sources}
        return identifiers.pop() if len(identifiers) == 1 else "other"

    @property
    def licences(self) -> list[str]:
        return sorted({licence for licence, _ in self.sources})

    @property
    def collection(self) -> str:
        origins = "; ".join(
            f"{n} scenes of {source} ({licence})" for (licence, source), n in self.sources.items()
        )
        return f"Front camera frames and ego motion of driving logs or rendered scenes: {origins}."

    @property
    def manipulation(self) -> str:
        benchmark = self.benchmark
        guided = f", guided by '{benchmark.guide}'" if benchmark.guide else ""
        return (
            f"One hazard of a taxonomy was placed on the road by required deceleration "
            f"({benchmark.decel_band[0]:g} to {benchmark.decel_band[1]:g} m/s^2, its default) and drawn by "
            f"'{benchmark.inpainter}'{guided} into every frame that would see it; pixels outside the mask are those of "
            "the source. Edits that failed a quality gate were refused."
        )


# --- card --------------------------------------------------------------------------------------
# The data set card: what is in it, how it came to be, under which licences, and a datasheet.

#: refusals that are listed
_REASONS = 12


def card(about: About) -> str:
    """``README.md`` as the Hugging Face hub reads it: front matter, then Markdown."""
    parts = [
        _front_matter(about),
        f"# {markdown_line(about.publication.name)}\n\n{markdown_line(about.summary)}",
        f"> **Contains AI-generated or synthetic content.** {about.notice}",
        _loading(about),
        _taxonomy(about),
        _acceptance(about),
        _licences(about),
        _datasheet(about),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(about: About) -> str:
    licence = [f"license: {about.licence}"]
    if about.licence == "other":
        licence += ["license_name: see-sources", "license_link: README.md"]
    return "\n".join(
        [
            "---",
            f"pretty_name: {json.dumps(about.publication.name)}",
            *licence,
            "language: [en]",
            f"size_categories: ['{_size(len(about.rows))}']",
            "tags: [autonomous-driving, counterfactual, hazard, benchmark, synthetic, cfgen]",
            "configs:",
            "- config_name: default",
            "  data_files:",
            "  - split: test",
            "    path: test/**",
            "---",
        ]
    )


def _size(n: int) -> str:
    steps = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K"}
    return next((name for limit, name in steps.items() if n < limit), "100K<n<1M")


def _loading(about: About) -> str:
    row = about.rows[0]
    pictures = {
        "original": "the front frame as recorded",
        "augmented": "the same with the hazard",
        "mask": "255 where the two may differ",
    }
    arms = [
        name.removesuffix("_file_name")
        for name in sorted({k for r in about.rows for k in r if k.endswith("_file_name")})
    ]
    lines = [f"- `{name}`: {pictures.get(name, 'this control arm; null where it has none')}" for name in arms]
    if any("history_t" in r for r in about.rows):
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
        f'cases[0]["original"], cases[0]["augmented"], cases[0]["hazard_name"]  # {one_line(row["hazard_name"])}\n'
        "```\n\n" + "\n".join(lines)
    )


def _taxonomy(about: About) -> str:
    cases = Counter(row["hazard"] for row in about.rows)
    hazards = {row["hazard"]: row for row in about.rows}
    rows = [
        _row(h["cluster"], h["hazard_name"], h["why"], cases[h["hazard"]])
        for h in sorted(hazards.values(), key=lambda h: (h["cluster"], h["hazard"]))
    ]
    return "\n".join(
        [
            "## Hazards",
            "",
            "| cluster | hazard | why a driver must respond | cases |",
            "|---|---|---|---:|",
            *rows,
        ]
    )


def _acceptance(about: About) -> str:
    built = about.built
    if built is None:
        return "## Acceptance\n\nNot known: the build's report is missing."
    accepted = sum(a for a, _ in built.acceptance.values())
    pairs = sum(t for _, t in built.acceptance.values())
    rows = [_row(hazard, a, t) for hazard, (a, t) in built.acceptance.items()]
    reasons = [
        f"- {count}: {markdown_line(reason)}" for reason, count in list(built.reasons.items())[:_REASONS]
    ]
    return "\n".join(
        [
            "## Acceptance",
            "",
            f"{accepted} of {pairs} tried pairs of scene and hazard were accepted.",
            "",
            "| hazard | accepted | tried |",
            "|---|---:|---:|",
            *rows,
            "",
            *(["Refused, by reason (numbers as #):", "", *reasons] if reasons else ["Nothing was refused."]),
        ]
    )


def _licences(about: About) -> str:
    rows = [_row(source, licence, n) for (licence, source), n in sorted(about.sources.items())]
    return "\n".join(
        [
            "## Licences",
            "",
            "Pictures keep the licence of the scene that they are made of; what cfgen added is under Apache-2.0. "
            "`NOTICE.md` holds what the licences ask to be handed on.",
            "",
            "| source | licence | scenes |",
            "|---|---|---:|",
            *rows,
        ]
    )


def _row(*cells: object) -> str:
    return f"| {' | '.join(markdown_line(str(cell)) for cell in cells)} |"


def _datasheet(about: About) -> str:
    creator, url = markdown_line(about.publication.creator), re.sub(r"[\s<>]", "", about.publication.url)
    answers = {
        "Motivation": USES,
        "Made by": creator or "not told",
        "Funded by": "not told; who publishes this knows.",
        "Composition": markdown_line(about.summary),
        "Splits": "One, `test`: nothing in it is meant to be trained on.",
        "Sampling": markdown_line(about.sampling),
        "Self-contained": "All pictures and metadata are in this folder; nothing is fetched from elsewhere.",
        "Labels and noise": LABELS,
        "Collection": markdown_line(about.collection),
        "Preprocessing": markdown_line(about.manipulation),
        "Raw data and software": (
            f"The originals are in it; cfgen {about.benchmark.cfgen_version} (Apache-2.0) made the rest from them."
        ),
        "People": about.personal,
        "Consent and ethics review": "None by cfgen; what holds for the sources holds here.",
        "Biases": BIASES,
        "Limits": LIMITS,
        "Distribution": f"Licences: {', '.join(map(markdown_line, about.licences))}. AI-generated content is tagged: "
        "see above.",
        "Maintenance": MAINTENANCE,
        "Corrections and removal": f"Ask {creator or 'who publishes this'}{f' (<{url}>)' if url else ''}.",
    }
    return "## Datasheet\n\n" + "\n".join(f"- **{name}.** {text}" for name, text in answers.items())


# --- croissant ---------------------------------------------------------------------------------
# The data set in Croissant 1.0 with its responsible-AI fields, as venues and search engines read it.

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TEXTS = (
    "case_id",
    "scene_id",
    "hazard",
    "hazard_name",
    "cluster",
    "why",
    "zone",
    "source",
    "license",
    "case",
)
_TYPES = {
    **dict.fromkeys(_TEXTS, "sc:Text"),
    **dict.fromkeys(("distance_m", "required_decel", "speed"), "sc:Float"),
    "motion_known": "sc:Boolean",
}


def croissant(about: About, metadata_hash: str) -> dict[str, Any]:
    """``croissant.json``. ``metadata_hash``: of ``test/metadata.jsonl``, as cfgen writes hashes."""
    publication = about.publication
    urls = [licence.url for licence in OPEN if licence.id == about.licence]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": re.sub(r"[^A-Za-z0-9_.-]+", "-", publication.name),
        "description": f"{about.summary} {about.notice}",
        "license": urls or about.licences,
        **({"url": publication.url} if publication.url else {}),
        "creator": {"@type": "Organization", "name": publication.creator or "not told"},
        "datePublished": datetime.now(UTC).date().isoformat(),
        "version": "1.0.0",
        "citeAs": f"{publication.creator or publication.name}: {publication.name}. Made with cfgen "
        f"{about.benchmark.cfgen_version}.",
        "keywords": ["autonomous driving", "counterfactual", "hazard", "benchmark", "synthetic"],
        **_responsible(about),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "metadata",
                "name": "metadata",
                "description": "One line a case.",
                "contentUrl": "test/metadata.jsonl",
                "encodingFormat": "application/jsonlines",
                "sha256": metadata_hash.removeprefix("sha256:"),
            },
            {
                "@type": "cr:FileSet",
                "@id": "pictures",
                "name": "pictures",
                "description": "All pictures, named by case and arm.",
                "encodingFormat": "image/png",
                "includes": "test/images/*.png",
            },
        ],
        "recordSet": [_cases(about), _pictures()],
    }


def _responsible(about: About) -> dict[str, Any]:
    return {
        "rai:dataCollection": about.collection,
        "rai:dataCollectionType": ["Software Collection", "Secondary Data Analysis"],
        "rai:dataManipulationProtocol": about.manipulation,
        "rai:dataPreprocessingProtocol": [about.manipulation],
        "rai:dataAnnotationProtocol": LABELS,
        "rai:machineAnnotationTools": [f"cfgen {about.benchmark.cfgen_version}"],
        "rai:dataUseCases": [USES],
        "rai:dataBiases": [BIASES],
        "rai:dataLimitations": [LIMITS],
        "rai:dataSocialImpact": about.notice,
        "rai:personalSensitiveInformation": [about.personal],
        "rai:dataReleaseMaintenancePlan": MAINTENANCE,
    }


def _cases(about: About) -> dict[str, Any]:
    files = sorted({k for row in about.rows for k in row if k.endswith("_file_name")})
    fields = [_field(name, kind) for name, kind in {**_TYPES, **dict.fromkeys(files, "sc:Text")}.items()]
    return {
        "@type": "cr:RecordSet",
        "@id": "cases",
        "name": "cases",
        "description": "One record a case; *_file_name is relative to the folder test/.",
        "key": {"@id": "cases/case_id"},
        "field": fields,
    }


def _field(name: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"cases/{name}",
        "name": name,
        "dataType": kind,
        "source": {"fileObject": {"@id": "metadata"}, "extract": {"column": name}},
    }


def _pictures() -> dict[str, Any]:
    def one(name: str, kind: str, what: str) -> dict[str, Any]:
        return {
            "@type": "cr:Field",
            "@id": f"pictures_by_name/{name}",
            "name": name,
            "dataType": kind,
            "source": {"fileSet": {"@id": "pictures"}, "extract": {"fileProperty": what}},
        }

    return {
        "@type": "cr:RecordSet",
        "@id": "pictures_by_name",
        "name": "pictures_by_name",
        "description": "Every picture with its file name, which begins with the case id and the arm.",
        "field": [one("file", "sc:Text", "filename"), one("picture", "sc:ImageObject", "content")],
    }
