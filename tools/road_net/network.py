"""The road network: 0.5 million parameters, a 112x192 frame in, logits of road and lane line out."""

import torch
from torch import Tensor, nn
from torch.nn import functional

HEIGHT, WIDTH = 112, 192


def conv(i: int, o: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    """Convolution, batch norm, ReLU."""
    body = nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(body, nn.BatchNorm2d(o), nn.ReLU(True))


class Block(nn.Module):
    """Two convolutions around a shortcut."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.one = conv(n, n)
        self.two = nn.Sequential(nn.Conv2d(n, n, 3, 1, 1, bias=False), nn.BatchNorm2d(n))

    def forward(self, x: Tensor) -> Tensor:
        """Same shape out as in."""
        return functional.relu(x + self.two(self.one(x)))


class RoadNet(nn.Module):
    """(n, 3, h, w) float32 RGB in [0, 1], h and w multiples of 16 -> (n, 2, h, w) logits: drivable, lane."""

    def __init__(self) -> None:
        super().__init__()
        self.at_half = conv(3, 16, stride=2)
        self.quarter = nn.Sequential(conv(16, 32, stride=2), Block(32))
        self.eighth = nn.Sequential(conv(32, 64, stride=2), Block(64), Block(64))
        self.sixteenth = nn.Sequential(conv(64, 72, stride=2), Block(72), Block(72))
        self.context = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(72, 72, 1), nn.ReLU(True))
        self.from16, self.at8 = nn.Conv2d(72, 64, 1), conv(64, 64)
        self.from8, self.at4 = nn.Conv2d(64, 32, 1), conv(32, 32)
        self.from4, self.at2 = nn.Conv2d(32, 16, 1), conv(16, 16)
        self.head = nn.Conv2d(16, 2, 1)
        with torch.no_grad():  # most pixels are neither
            self.head.bias.copy_(torch.tensor([-1.0, -4.0]))

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        a = self.at_half(x - 0.45)
        b = self.quarter(a)
        c = self.eighth(b)
        d = self.sixteenth(c)
        d = d + self.context(d)
        z = self.at8(c + _double(self.from16(d)))
        z = self.at4(b + _double(self.from8(z)))
        z = self.at2(a + _double(self.from4(z)))
        return _double(self.head(z))


def _double(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
