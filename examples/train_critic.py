"""Train a small vision-language model as a faithfulness critic, with LoRA, on a set of ``cfgen analyze traces export``.

    python examples/train_critic.py critic-data --model MODEL --out critic --steps 200

The loss is on the verdict token alone (Pinocchio section 6.1.3). What is saved is a whole model with its processor,
which ``cfgen analyze traces check bench --planner P --critic critic`` and ``cfgen analyze traces validate bench
--critic critic`` load. Needs cfgen-bench[local] and peft.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from PIL import Image

from cfgen.traces.critic import LocalCritic


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Train, save, and return the loss of every step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with train.jsonl, test.jsonl and images/")
    parser.add_argument("--model", required=True, help="a folder, or a name on a model hub")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)

    torch.manual_seed(given.seed)
    rows = read(given.data / "train.jsonl")
    if strange := {row["verdict"] for row in rows} - {"CONSISTENT", "INCONSISTENT"}:
        raise SystemExit(
            f"{given.data}: expected verdicts CONSISTENT and INCONSISTENT, found {min(strange)}: export --for critic"
        )
    critic = LocalCritic.load(given.model, device=given.device)
    adapted = get_peft_model(
        critic.model, LoraConfig(r=given.rank, lora_alpha=2 * given.rank, target_modules="all-linear")
    )
    critic.model = adapted.train()
    optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=given.lr)
    draw, losses = random.Random(given.seed), []
    for step in range(1, given.steps + 1):
        batch = [draw.choice(rows) for _ in range(given.batch)]
        loss = sum(verdict_loss(critic, given.data, row) for row in batch) / len(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        if step % 10 == 0 or step == given.steps:
            print(f"step {step}: loss {sum(losses[-10:]) / len(losses[-10:]):.3f}", flush=True)
    adapted.eval()
    with torch.inference_mode():
        held = [verdict_loss(critic, given.data, row) for row in read(given.data / "test.jsonl")]
    print(f"held-out drives: loss {float(sum(held)) / len(held):.3f} on {len(held)} rows")
    adapted.merge_and_unload().save_pretrained(given.out)
    critic.processor.save_pretrained(given.out)
    print(f"Next: cfgen analyze traces validate bench --critic {given.out}")
    return losses


def read(path: Path) -> list[dict]:
    """The rows of a split."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def verdict_loss(critic: LocalCritic, folder: Path, row: dict) -> torch.Tensor:
    """Cross-entropy of the verdict token over the whole vocabulary."""
    images = [Image.open(folder / name).convert("RGB") for name in row["images"]]
    logits, tokens = critic.verdict_logits(row["messages"][0]["content"], images)
    right = tokens[0] if row["verdict"] == "CONSISTENT" else tokens[1]
    return torch.nn.functional.cross_entropy(logits[None], torch.tensor([right], device=logits.device))


if __name__ == "__main__":
    main()
