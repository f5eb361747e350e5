"""BEV, speed plot and delta table of one case against the same two plots through matplotlib, in one run.

Usage: python benchmarks/render.py   (needs the extra: pip install ".[dev]")
"""

import io
import time
from collections.abc import Callable

import matplotlib
import numpy as np

from cfgen.geometry.trajectory import speeds
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.speed import speed_plot

matplotlib.use("Agg")
from matplotlib import pyplot as plt

T = 0.25 * np.arange(1, 25)


def plans(i: int) -> tuple[np.ndarray, np.ndarray]:
    """A different pair every time, so that nothing but axes can be cached."""
    speed = 6 + (i % 40) * 0.5
    braked = np.minimum(T, speed / 3)
    return (
        np.stack([speed * T, 0.02 * i * T, np.zeros(24)], axis=1),
        np.stack([speed * braked - 1.5 * braked**2, 0.3 * T, np.zeros(24)], axis=1),
    )


def ours(i: int) -> None:
    original, modified = plans(i)
    bev(original, modified)
    speed_plot(original, modified)
    delta_table(original, modified)


def through_matplotlib(i: int) -> None:
    """Two figures of the same sizes with lines, end points, grid, labels and legend, as arrays."""
    pair = plans(i)
    for size, kind in (((7.2, 7.2), "bev"), ((7.2, 3.8), "speed")):
        figure, axes = plt.subplots(figsize=size, dpi=100)
        for plan, color, name in zip(pair, ("teal", "orange"), ("original", "modified"), strict=True):
            values = 3.6 * speeds(plan)
            x, y = (plan[:, 1], plan[:, 0]) if kind == "bev" else (0.25 * np.arange(25), values)
            axes.plot(x, y, color=color, marker="o", markersize=3, label=name)
            axes.annotate(f"{y[-1]:.1f}", (x[-1], y[-1]))
        if kind == "bev":
            axes.set_aspect("equal", "datalim")
            axes.invert_xaxis()
        axes.grid(True)
        axes.set_xlabel("y (m)" if kind == "bev" else "time (s)")
        axes.set_ylabel("x (m)" if kind == "bev" else "speed (km/h)")
        axes.legend()
        figure.savefig(io.BytesIO(), format="raw")
        plt.close(figure)


def milliseconds(draw: Callable[[int], None], times: int) -> float:
    """Median of single runs, after one to warm up."""
    draw(0)
    spent = []
    for i in range(times):
        start = time.perf_counter()
        draw(i)
        spent.append(time.perf_counter() - start)
    return 1000 * float(np.median(spent))


def main() -> None:
    quick, slow = milliseconds(ours, 100), milliseconds(through_matplotlib, 15)
    print(f"cfgen: BEV + speed + delta  {quick:7.2f} ms a case")
    print(f"matplotlib: BEV + speed     {slow:7.2f} ms a case")
    print(f"ratio                       {slow / quick:7.1f} x (at least 15 wanted)")


if __name__ == "__main__":
    main()
