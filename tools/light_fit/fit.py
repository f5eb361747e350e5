"""Fits how hard shadows are by five signs, and measures the light of the demo scenes: `python -m tools.light_fit.fit`.

Every second demo scene by name is fitted, the others measure it. What it prints goes to ``LightSettings.hardness`` of
cfgen/perception/settings.py by hand. Their suns are exact. No randomness, no seed.
"""

import math
from pathlib import Path

import numpy as np

from cfgen.geometry.path import EgoPath
from cfgen.perception.light import CONFIDENT, estimate_light, hardness_signs, shadow_axis
from cfgen.perception.linear_light import probe_light
from cfgen.scenes.folder import SceneFolder, find_scenes, load_scene

SCENES = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"
STEPS, RIDGE = 40, 0.05


def signs(folder: SceneFolder) -> np.ndarray:
    """(5,) of its front frame at t0."""
    scene, image = folder.scene, folder.image()
    shadows = shadow_axis(image, scene.front, EgoPath.from_scene(scene))
    return hardness_signs(probe_light(image, scene.front), shadows)


def fit(rows: np.ndarray, sunny: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights (K,) and bias of a logistic regression with a ridge, by Newton's method; both kinds weigh the same."""
    mean, spread = rows.mean(0), rows.std(0)
    design = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    share = np.where(sunny > 0, 0.5 / sunny.sum(), 0.5 / (1 - sunny).sum())
    ridge, weights = np.append(np.full(rows.shape[1], 2 * RIDGE), 1e-9), np.zeros(design.shape[1])
    for _ in range(STEPS):
        estimate = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (share * (estimate - sunny)) + ridge * weights
        bend = (design * (share * estimate * (1 - estimate))[:, None]).T @ design + np.diag(ridge)
        weights = weights - np.linalg.solve(bend, slope)
    scaled = weights[:-1] / spread
    return scaled, float(weights[-1] - mean @ scaled)


def measure(folders: list[SceneFolder]) -> str:
    """How often the package's own estimate is right about scenes whose suns are exact."""
    missed = called = sided = wrong = 0
    for folder in folders:
        scene, image = folder.scene, folder.image()
        light = estimate_light(image, scene.front, EgoPath.from_scene(scene))
        truth = scene.extra["sun"]
        missed += truth is not None and light.hardness < CONFIDENT
        called += truth is None and light.hardness >= CONFIDENT
        if truth is not None and light.sun.vector is not None and light.sun.confidence >= CONFIDENT:
            sided += 1
            angles = [math.atan2(vector[1], vector[0]) for vector in (truth, light.sun.vector)]
            wrong += abs(math.remainder(angles[0] - angles[1], math.tau)) > math.radians(30)
    return f"{missed} sunny missed, {called} others called sunny, {sided} with a side, {wrong} off by over 30 deg"


def main() -> None:
    """Fits, and measures either half."""
    folders = [load_scene(path) for path in sorted(find_scenes(SCENES))]
    sunny = np.array([folder.scene.extra["sun"] is not None for folder in folders], float)
    weights, bias = fit(np.array([signs(folder) for folder in folders[::2]]), sunny[::2])
    print("fitted weights", weights.round(2).tolist(), "bias", round(bias, 2))
    print("fitted half:", measure(folders[::2]))
    print("other half:", measure(folders[1::2]))


if __name__ == "__main__":
    main()
