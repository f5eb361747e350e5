"""The data set card: what is in it, how it came to be, under which licences, and a datasheet."""

import json
import re
from collections import Counter

from cfgen.core.plain import markdown_line, one_line
from cfgen.sharing import about as words
from cfgen.sharing.about import About

#: refusals that are listed
_REASONS = 12


def card(about: About) -> str:
    """``README.md`` as the Hugging Face hub reads it: front matter, then Markdown."""
    parts = [
        _front_matter(about),
        f"# {markdown_line(about.told.name)}\n\n{markdown_line(about.summary)}",
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
            f"pretty_name: {json.dumps(about.told.name)}",
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
    return next((name for most, name in steps.items() if n < most), "100K<n<1M")


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
        f'cases = load_dataset({json.dumps(about.told.name)}, split="test")\n'
        f'cases[0]["original"], cases[0]["augmented"], cases[0]["hazard_name"]  # {one_line(row["hazard_name"])}\n'
        "```\n\n" + "\n".join(lines)
    )


def _taxonomy(about: About) -> str:
    cases = Counter(row["hazard"] for row in about.rows)
    known = {row["hazard"]: row for row in about.rows}
    rows = [
        _row(h["cluster"], h["hazard_name"], h["why"], cases[h["hazard"]])
        for h in sorted(known.values(), key=lambda h: (h["cluster"], h["hazard"]))
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
    tried = sum(t for _, t in built.acceptance.values())
    rows = [_row(hazard, a, t) for hazard, (a, t) in built.acceptance.items()]
    reasons = [
        f"- {count}: {markdown_line(reason)}" for reason, count in list(built.reasons.items())[:_REASONS]
    ]
    return "\n".join(
        [
            "## Acceptance",
            "",
            f"{accepted} of {tried} tried pairs of scene and hazard were accepted.",
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
    creator, url = markdown_line(about.told.creator), re.sub(r"[\s<>]", "", about.told.url)
    answers = {
        "Motivation": words.USES,
        "Made by": creator or "not told",
        "Funded by": "not told; who publishes this knows.",
        "Composition": markdown_line(about.summary),
        "Splits": "One, `test`: nothing in it is meant to be trained on.",
        "Sampling": markdown_line(about.sampling),
        "Self-contained": "All pictures and metadata are in this folder; nothing is fetched from elsewhere.",
        "Labels and noise": words.LABELS,
        "Collection": markdown_line(about.collection),
        "Preprocessing": markdown_line(about.manipulation),
        "Raw data and software": (
            f"The originals are in it; cfgen {about.benchmark.cfgen_version} (Apache-2.0) made the rest from them."
        ),
        "People": about.personal,
        "Consent and ethics review": "None by cfgen; what holds for the sources holds here.",
        "Biases": words.BIASES,
        "Limits": words.LIMITS,
        "Distribution": f"Licences: {', '.join(map(markdown_line, about.licences))}. AI-generated content is tagged: "
        "see above.",
        "Maintenance": words.MAINTENANCE,
        "Corrections and removal": f"Ask {creator or 'who publishes this'}{f' (<{url}>)' if url else ''}.",
    }
    return "## Datasheet\n\n" + "\n".join(f"- **{name}.** {text}" for name, text in answers.items())
