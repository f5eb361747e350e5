"""The planner of :mod:`benchmarks.planner_channel`: a file that any Python can import."""

import time
from collections.abc import Sequence
from typing import Any


class SimilarityIndex:
    """Answers at once, and tells its processor time; needs no cfgen, so that any environment will do."""

    needs = {"cameras": ["front"], "frame_times": [0.0]}  # noqa: RUF012

    def plan(self, observations: Sequence[Any]) -> list[dict[str, Any]]:
        return [self._one(o.images["front"][0].pixels) for o in observations]

    def _one(self, pixels: Any) -> dict[str, Any]:
        points = [[k * 2.0, 0.0] for k in range(1, 25)]
        return {
            "text": str(pixels[-1, -1, 0]),
            "waypoints": points,
            "report": {"cpu_s": time.process_time()},
        }
