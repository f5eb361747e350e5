"""Judge requests a second, end to end from stored answers, against a plain google-genai loop in the same run.

A server on loopback stands in for Gemini: 200 ms a reply, in a process of its own. Both send four pictures and about
the same words to it, 32 requests at a time. The plain loop sends four 1280x720 JPEGs that it encoded before the clock
started. Ours starts from what ``cfgen score`` stored: it reads two 1280x720 frames and two answers, draws both plots,
encodes, asks, parses, combines, and writes a verdict. Frames are encoded once; "each frame new" decodes two PNGs for
each request. Plots make small JPEGs, so one row sends two more frames beside drawing them.

Prints wall-clock and processor time, as other work on the machine slows the first.
Usage: python benchmarks/judge_throughput.py [N]
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cfgen.core.files import png_bytes, read_record, write_record  # noqa: E402
from cfgen.core.hashing import hash_bytes  # noqa: E402
from cfgen.geometry.camera import mounted  # noqa: E402
from cfgen.judge.asking import picture  # noqa: E402
from cfgen.judge.protocol import FrameFile, JudgeItem, VerdictKey  # noqa: E402
from cfgen.judge.registry import create_judge  # noqa: E402
from cfgen.judge.rubrics.hazard import HAZARD  # noqa: E402
from cfgen.planners.answer import to_plan  # noqa: E402
from cfgen.planners.baselines import constant_turn, write_text  # noqa: E402
from cfgen.records import Camera, Rollout  # noqa: E402
from cfgen.render.bev import bev  # noqa: E402
from cfgen.render.delta import delta_table  # noqa: E402
from cfgen.render.speed import speed_plot  # noqa: E402

CAMERA = Camera(width=1280, height=720, fx=1100, fy=1100, cx=640, cy=360, T_cam_ego=mounted(1.4, 0.02))
AT_ONCE, LATENCY_S, CASES = 32, 0.2, 66


def scenery(seed: int) -> np.ndarray:
    """(720, 1280, 3): about as hard to compress as a road."""
    rng = np.random.default_rng(seed)
    coarse = cv2.resize(
        rng.integers(30, 220, (18, 32, 3), np.uint8), (1280, 720), interpolation=cv2.INTER_CUBIC
    )
    return np.clip(coarse + rng.normal(0, 6, coarse.shape), 0, 255).astype(np.uint8)


def store_cases(folder: Path) -> None:
    for case in range(CASES):
        for arm, speed in (("original", 12.0), ("hazard", 6.0)):
            (folder / f"{case}.{arm}.png").write_bytes(png_bytes(scenery(2 * case + (arm == "hazard"))))
            text = write_text(
                "A road." * 20, "It slows." * 20, "yield", "lane keeping", constant_turn(speed, 0.01)
            )
            text, plan = to_plan(text)
            rollout = Rollout(
                planner="p", planner_hash=hash_bytes(b""), case_id=f"c{case}", arm=arm, repeat=0, seed=0, status="ok",
                text=text, plan=plan,
            )  # fmt: skip
            write_record(folder / f"{case}.{arm}.json", rollout)


def stored_item(folder: Path, case: int) -> JudgeItem:
    before, after = (read_record(folder / f"{case}.{arm}.json", Rollout) for arm in ("original", "hazard"))
    assert before.plan is not None
    assert after.plan is not None
    first, second = np.array(before.plan.waypoints), np.array(after.plan.waypoints)
    frames = [folder / f"{case}.{arm}.png" for arm in ("original", "hazard")]
    return JudgeItem(
        f"c{case}.0",
        *(FrameFile(f, hash_bytes(str(f).encode())) for f in frames),
        bev(first, second), speed_plot(first, second), delta_table(first, second),
        before.text, after.text, before.plan, after.plan, CAMERA,
    )  # fmt: skip


def ours(folder: Path, url: str, n: int, cache: Path, four_frames: bool = False) -> tuple[float, float]:
    """Requests a second, and milliseconds of processor time a request."""
    judge = create_judge("gemini", cache, model="fake", base_url=url, concurrency=AT_ONCE)

    def build(i: int) -> JudgeItem:
        item = stored_item(folder, i % CASES)
        if four_frames:
            for plot in (item.bev, item.speed):
                picture(plot)
            item = replace(item, bev=item.original, speed=item.modified)
        return item

    items = [(VerdictKey("p", f"r{i}", "hazard", i), lambda i=i: build(i)) for i in range(n)]
    judge.asking.client.replies.folder = (
        None  # every request is sent: the cache of replies is not what is measured
    )
    start, busy = time.perf_counter(), time.process_time()
    judge.judge(items, lambda v: write_record(folder / "verdicts" / f"{v.case_id}.json", v))
    return n / (time.perf_counter() - start), 1000 * (time.process_time() - busy) / n


def plain(url: str, n: int) -> tuple[float, float]:
    """The SDK as its documentation shows it, with a semaphore."""
    from google import genai
    from google.genai import types

    pictures = [picture(scenery(i)).data for i in range(4)]
    words = "x" * 6000

    async def run() -> None:
        client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
        slots = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with slots:
                parts = [types.Part.from_bytes(data=p, mime_type="image/jpeg") for p in pictures]
                config = types.GenerateContentConfig(
                    response_mime_type="application/json", system_instruction=HAZARD.system("json")
                )
                await client.aio.models.generate_content(
                    model="fake", contents=[words, *parts], config=config
                )

        await asyncio.gather(*(one() for _ in range(n)))
        await client.aio.aclose()

    start, busy = time.perf_counter(), time.process_time()
    asyncio.run(run())
    return n / (time.perf_counter() - start), 1000 * (time.process_time() - busy) / n


def measure(n: int) -> list[tuple[str, tuple[float, float]]]:
    """By name: requests a second, and ms of processor time a request."""
    os.environ["GEMINI_API_KEY"] = "none"
    cv2.setNumThreads(1)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.judge.fake_gemini", str(LATENCY_S)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            store_cases(folder)
            plain(url, AT_ONCE)
            rows = [
                ("plain SDK loop, pictures ready", plain(url, n)),
                ("cfgen, each frame new", ours(folder, url, CASES, folder / "cache")),
                ("cfgen, from stored answers", ours(folder, url, n, folder / "cache")),
                ("the same, four 1280x720 frames each", ours(folder, url, n, folder / "cache", True)),
                ("plain SDK loop again", plain(url, n)),
            ]
    finally:
        server.terminate()
    return rows


def main() -> None:
    for name, (rate, busy) in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 400):
        print(f"{name:<40} {rate:6.1f} requests/s   {busy:5.1f} ms processor time a request")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
