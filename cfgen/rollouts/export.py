"""``cfgen planner export-inputs``: exactly what a planner needs, as files, for those who run it elsewhere.

Blind and shuffled: one line of ``inputs.jsonl`` a question, named by a token. Tokens, seeds and order are of chance;
what each token stands for is kept in the benchmark alone. The answers come back as a ``.jsonl`` with the same ``id`` a
line (see :mod:`cfgen.planners.outputs`).
"""

import json
import secrets
from functools import partial
from pathlib import Path

from cfgen.core.errors import InputError, Shortfall
from cfgen.core.faults import contained
from cfgen.core.files import png_bytes, write_bytes
from cfgen.core.hashing import canonical_json
from cfgen.core.progress import Progress
from cfgen.planners.outputs import EXPORTS
from cfgen.planners.protocol import Requirements
from cfgen.planners.serialization import describe
from cfgen.records import Fault
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs
from cfgen.storage.store import Store


def export_inputs(
    bench: Path, out: Path, needs: Requirements, arms: tuple[str, ...], repeats: int = 1, quiet: bool = False
) -> int:
    """Write ``out/inputs.jsonl`` and ``out/images/``; returns the number of questions.

    Raises:
        InputError: ``out`` holds files that another export wrote, or no scene has what ``needs`` asks for.
        StoreError: not a benchmark, or one without cases.
        Shortfall: some questions could not be made; the others are written.
    """
    listing = out / "inputs.jsonl"
    if listing.exists():
        raise InputError(f"{listing}: is there already; delete the folder or choose another --out")
    store = Store(bench)
    inputs = RolloutInputs(store, store.benchmark.seed)
    questions = arm_inputs(store, arms, repeats)
    inputs.check(questions, needs)
    inputs.salt = secrets.token_hex(16)
    questions = questions.shuffled(secrets.randbits(64))
    stands_for = {}
    progress = Progress("inputs", len(questions), quiet)
    lines, faults = [], []
    for question in questions:
        observation = contained(
            partial(inputs.observation, question, needs), f"case {question.case.case_id}, arm {question.arm}"
        )
        if isinstance(observation, Fault):
            faults.append(observation)
            continue
        row = describe(observation)
        stands_for[observation.token] = list(question.key)
        row["images"] = {}
        for camera, images in observation.images.items():
            row["images"][camera] = []
            for number, image in enumerate(images):
                name = f"images/{observation.token}.{camera}.{number}.png"
                write_bytes(out / name, png_bytes(image.pixels))
                row["images"][camera].append({"t": image.t, "file": name})
        lines.append(json.dumps(row))
        progress.step()
    write_bytes(
        store.root / EXPORTS / f"{secrets.token_hex(4)}.json", canonical_json({"questions": stands_for})
    )
    write_bytes(listing, ("\n".join(lines) + "\n").encode())
    if faults:
        raise Shortfall(
            f"{len(faults)} of {len(questions)} questions could not be made, for example {faults[0]}"
        )
    return len(lines)
