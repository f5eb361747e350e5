"""Seconds for a whole ``cfgen build`` against a plain script in the same run.

The plain script does one ``cv2.seamlessClone`` of a patch and two PNG writes a scene: no metric placement, light,
history frames, gates, records or resume. Usage: python benchmarks/build.py SCENES [N]
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAIN = """
import sys
from pathlib import Path
import cv2
import numpy as np

scenes, out, n = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
patch = np.random.default_rng(0).integers(0, 256, (90, 60, 3), np.uint8)
mask = np.full(patch.shape, 255, np.uint8)
for number, frame in enumerate(sorted(scenes.rglob("frame.jpg"))[:n]):
    image = cv2.imread(str(frame))
    height, width = image.shape[:2]
    edited = cv2.seamlessClone(patch, image, mask, (width // 2, int(height * 0.6)), cv2.NORMAL_CLONE)
    cv2.imwrite(str(out / f"{number}_original.png"), image)
    cv2.imwrite(str(out / f"{number}_augmented.png"), edited)
"""


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    scenes = sys.argv[1]
    n = sys.argv[2] if len(sys.argv) > 2 else "66"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (out / "plain").mkdir()
        plain = seconds([sys.executable, "-c", PLAIN, scenes, str(out / "plain"), n])
        build = [
            sys.executable,
            "-m",
            "cfgen",
            "build",
            "--n",
            n,
            "--scenes",
            scenes,
            "--seed",
            "7",
            "--quiet",
        ]
        ours = seconds([*build, "--out", str(out / "bench")])
        cases = len(list((out / "bench" / "cases").rglob("case.json")))
        images = len(list((out / "bench" / "cases").rglob("*.png")))
    print(f"cfgen build --n {n}: {ours:.1f} s, {cases} cases, {images} images, {cases / ours:.2f} cases/s")
    print(f"plain seamlessClone + 2 PNG: {plain:.1f} s for {n} scenes")
    print(f"ratio cfgen / plain: {ours / plain:.1f}")


if __name__ == "__main__":
    main()
