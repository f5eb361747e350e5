"""Export: `python -m tools.road_net.export WEIGHTS.pt NOTES.json ROAD_NET.onnx` (needs the package `onnx`).

Input `frame` (1, 3, 112, 192) float32 RGB in [0, 1], output `logits` (1, 2, 112, 192): drivable, lane. A pixel is
drivable as surely as the least sure of the nine around it, since most errors lie along edges. Beside the network goes
its card, ROAD_NET.json: the notes (thresholds, how it was trained, figures) with sizes and hash.
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .network import HEIGHT, WIDTH, RoadNet


class Shipped(nn.Module):
    """A trained network, its road drawn in by a pixel."""

    def __init__(self, net: RoadNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        """As RoadNet."""
        logits = self.net(x)
        inner = -functional.max_pool2d(-logits[:, :1], 3, 1, 1)
        return torch.cat([inner, logits[:, 1:]], 1)


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("weights", type=Path)
    ap.add_argument("notes", type=Path)
    ap.add_argument("out", type=Path)
    args = ap.parse_args()
    trained = RoadNet()
    trained.load_state_dict(torch.load(args.weights))
    net = Shipped(trained).eval()
    frame = torch.rand(1, 3, HEIGHT, WIDTH)
    names = {"input_names": ["frame"], "output_names": ["logits"]}
    torch.onnx.export(net, (frame,), str(args.out), opset_version=13, dynamo=False, **names)
    read = cv2.dnn.readNetFromONNX(str(args.out))
    read.setInput(frame.numpy())
    off = float(np.abs(read.forward() - net(frame).detach().numpy()).max())
    if off > 1e-3:
        raise SystemExit(
            f"{args.out}: cv2.dnn's logits differ from torch's by {off:.2g}, expected at most 0.001"
        )
    data = args.out.read_bytes()
    card = {
        "network": args.out.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "licence": "Apache-2.0",
        "input": {"name": "frame", "shape": [1, 3, HEIGHT, WIDTH], "values": "whole frame, RGB / 255"},
        "output": {"name": "logits", "shape": [1, 2, HEIGHT, WIDTH], "planes": ["drivable", "lane"]},
        **json.loads(args.notes.read_text()),
    }
    args.out.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n")
    print(f"{args.out}: {len(data)} bytes, cv2.dnn within {off:.1g} of torch")


if __name__ == "__main__":
    main()
