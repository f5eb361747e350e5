"""Train: `python -m tools.road_net.train OUT.pt --minutes 25 FRAMES.npz[=weight] ... [--resume FROM.pt]`.

Started by `torchrun --nproc-per-node N -m tools.road_net.train ...`, N processes train side by side and put the mean of
their weights in place of each one's every 25 steps. FRAMES are files of tools.road_net.label; a file's weight is the
share of the frames that is drawn from it (default: its number of frames). What frames are for judging, only
tools.road_net.evaluate reads.
"""

import argparse
import json
import os
import time
import zipfile
from pathlib import Path

import cv2
import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from .augment import augment
from .network import RoadNet

TOGETHER = 25  # steps


class Stream(IterableDataset):
    """Augmented frames without end, drawn by weight."""

    def __init__(self, files: list[str], sprites: Path, seed: int) -> None:
        self.frames, weights = [], []
        for entry in files:
            name, _, weight = entry.partition("=")
            data = dict(np.load(name))
            n = len(data["rgb"])
            road = np.maximum(data["road"], data["lane"])  # a painted line lies on the road
            self.frames += [(data["rgb"][i], road[i], data["lane"][i]) for i in range(n)]
            weights += [float(weight or n) / n] * n
        self.share = np.array(weights) / sum(weights)
        self.sprites, self.seed = read_sprites(sprites), seed

    def __iter__(self):
        info = get_worker_info()
        cv2.setNumThreads(1)
        rng = np.random.default_rng([self.seed, info.id if info else 0])
        while True:
            i, j = rng.choice(len(self.frames), 2, p=self.share)
            rgb, road, lane = augment(rng, self.frames[i], self.frames[j], self.sprites)
            yield rgb.transpose(2, 0, 1).copy(), np.stack([road, lane])


def read_sprites(folder: Path) -> list[np.ndarray]:
    """The hazards' pictures (RGBA, 110 px high at most) that stand on the ground."""
    found = []
    for path in sorted(folder.glob("*/*.zip")):
        with zipfile.ZipFile(path) as pack:
            names = [n for n in pack.namelist() if n.startswith("sky_")]
            for name in names[:: max(1, len(names) // 3)]:
                picture = cv2.imdecode(np.frombuffer(pack.read(name), np.uint8), cv2.IMREAD_UNCHANGED)
                scale = min(1.0, 110 / picture.shape[0])
                small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
                found.append(cv2.cvtColor(small, cv2.COLOR_BGRA2RGBA))
    if not found:
        raise SystemExit(f"{folder}: no packed sprite; give scenarios/assets with --sprites")
    return found


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("out", type=Path)
    ap.add_argument("files", nargs="+")
    ap.add_argument("--minutes", type=float, default=25)
    ap.add_argument("--resume", type=Path)
    ap.add_argument("--rate", type=float, default=3e-3)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument(
        "--coarse", type=float, default=0, help="share of the time, from the start, at 80x144: twice as fast"
    )
    ap.add_argument("--flat", action="store_true", help="keep the rate: another part follows")
    ap.add_argument("--sprites", type=Path, default=Path("scenarios/assets"))
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rank = int(os.environ.get("RANK", 0))
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    net = RoadNet().to(memory_format=torch.channels_last)
    if args.resume:
        net.load_state_dict(torch.load(args.resume))
    mean = torch.optim.swa_utils.AveragedModel(net, avg_fn=_trail, use_buffers=True)
    stream = Stream(args.files, args.sprites, args.seed + 1000 * rank)
    loader = DataLoader(
        stream, args.batch, num_workers=args.workers, prefetch_factor=6 if args.workers else None
    )
    optimizer = torch.optim.AdamW(net.parameters(), args.rate, weight_decay=1e-3)
    start, steps, recent = time.time(), 0, []
    for rgb, truth in loader:
        done = (time.time() - start) / (60 * args.minutes)
        if steps % TOGETHER == 0:
            if agree(net, done):
                break
            if rank == 0 and steps:
                line = {
                    "steps": steps,
                    "minutes": round((time.time() - start) / 60, 1),
                    "loss": np.mean(recent),
                }
                print(json.dumps(line), flush=True)
                torch.save(mean.module.state_dict(), args.out)
        for group in optimizer.param_groups:
            fall = 1.0 if args.flat else 0.5 * (1 + np.cos(np.pi * min(done, 1))) + 0.005
            group["lr"] = args.rate * min(1, (steps + 1) / 60) * fall
        loss = step(net, rgb.float() / 255, truth.float() / 255, done < args.coarse)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimizer.step()
        mean.update_parameters(net)
        steps, recent = steps + 1, [*recent[-99:], loss.item()]
    agree(mean.module, 1)
    if rank == 0:
        torch.save(mean.module.state_dict(), args.out)
        print(json.dumps({"end": steps, "frames": steps * args.batch}), flush=True)


def _trail(mean: torch.Tensor, now: torch.Tensor, steps: torch.Tensor | int) -> torch.Tensor:
    """The mean of all steps at first, then of about the last hundred."""
    return mean + (now - mean) * max(0.01, 1 / (int(steps) + 1))


def agree(net: RoadNet, done: float) -> bool:
    """Set every process's weights to their mean; true when the slowest clock says that time is up."""
    if not dist.is_initialized():
        return done >= 1
    clock = torch.tensor(float(done))
    with torch.no_grad():
        for value in [clock, *net.parameters(), *(b for b in net.buffers() if b.is_floating_point())]:
            dist.all_reduce(value)
            value /= dist.get_world_size()
    return bool(clock >= 1)


def step(net: RoadNet, x: torch.Tensor, want: torch.Tensor, coarse: bool = False) -> torch.Tensor:
    """Cross-entropy against the teacher's probabilities; lines are rare, so they weigh more where they are."""
    if coarse:
        x, want = (functional.interpolate(v, (80, 144), mode="area") for v in (x, want))
    with torch.autocast("cpu", torch.bfloat16):
        logits = net(x.contiguous(memory_format=torch.channels_last))
    logits = logits.float()
    road = functional.binary_cross_entropy_with_logits(logits[:, 0], want[:, 0])
    lane = functional.binary_cross_entropy_with_logits(logits[:, 1], want[:, 1], weight=1 + 4 * want[:, 1])
    return road + 0.5 * lane


if __name__ == "__main__":
    main()
