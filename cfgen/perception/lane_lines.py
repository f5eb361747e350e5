"""Lane lines of a mask as chains of points: one thin line each, cut where lines meet or part."""

from typing import NamedTuple

import cv2
import numpy as np

from cfgen.geometry.lens import Array, Mask

#: A chain has at least this share of the grid's rows, and of its longest chains this many are kept.
_SHORTEST, _MOST = 1 / 45, 16
#: The points of a chain: enough for a parabola, few enough for speed.
_POINTS = 48
#: Islands smaller than this share of the grid are noise.
_SPECK = 5e-5
#: A run of pixels this much narrower than its chain's usual one is the line's frayed end.
_FRAYED = 0.6


class _Run(NamedTuple):
    row: int
    first: int
    last: int

    @property
    def middle(self) -> float:
        return (self.first + self.last) / 2


def lane_chains(mask: Mask) -> list[Array]:
    """The lane lines of ``mask`` (H, W), longest first: (N, 2) columns and rows of each line's middle, px of the grid.

    A dashed line or one that something hides comes as several chains. Where two lines run into one, both end.
    """
    height, width = mask.shape
    shortest = max(4, round(height * _SHORTEST))
    chains = [_middle(runs, width) for runs in _linked(_runs(_mended(mask))) if len(runs) >= shortest]
    chains = [chain for chain in chains if len(chain) >= shortest]
    chains.sort(key=lambda chain: (-len(chain), *chain[0]))
    return [_thinned(chain) for chain in chains[:_MOST]]


def _mended(mask: Mask) -> Mask:
    """Without pinholes and specks."""
    whole = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(whole, connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= _SPECK * mask.size
    large[0] = False
    return np.asarray(large[labels])


def _runs(mask: Mask) -> list[list[_Run]]:
    """The runs of set pixels of each row, the lowest row first."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    step = np.diff(padded, axis=1)
    out: list[list[_Run]] = [[] for _ in range(len(mask))]
    for (row, first), (_, after) in zip(np.argwhere(step == 1), np.argwhere(step == -1), strict=True):
        out[row].append(_Run(int(row), int(first), int(after) - 1))
    return out[::-1]


def _linked(rows: list[list[_Run]]) -> list[list[_Run]]:
    """Runs that touch exactly one run above and are touched by exactly one below, as chains."""
    done: list[list[_Run]] = []
    going: list[list[_Run]] = []
    for runs in rows:
        above = [
            [r for r in runs if r.first <= chain[-1].last + 1 and r.last >= chain[-1].first - 1]
            for chain in going
        ]
        below = {run: sum(run in touched for touched in above) for run in runs}
        longer: list[list[_Run]] = []
        taken = set()
        for chain, touched in zip(going, above, strict=True):
            if len(touched) == 1 and below[touched[0]] == 1:
                longer.append([*chain, touched[0]])
                taken.add(touched[0])
            else:
                done.append(chain)
        going = longer + [[run] for run in runs if run not in taken]
    return done + going


def _middle(runs: list[_Run], width: int) -> Array:
    """Middles of the runs that the frame's side does not cut and that are not the line's frayed ends."""
    wide = np.array([run.last - run.first + 1 for run in runs])
    whole = np.array([run.first > 0 and run.last < width - 1 for run in runs])
    keep = whole & (wide >= _FRAYED * np.median(wide))
    return np.array(
        [(run.middle, run.row) for run, kept in zip(runs, keep, strict=True) if kept], float
    ).reshape(-1, 2)


def _thinned(chain: Array) -> Array:
    at = np.unique(np.linspace(0, len(chain) - 1, min(len(chain), _POINTS)).round().astype(int))
    return chain[at]
