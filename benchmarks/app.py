"""The app with 2,000 cases in Chromium on loopback: time to load the queue, and to move to the next case.

Usage: python benchmarks/app.py BENCH   (any benchmark; needs the extra: pip install ".[dev]", and chromium)
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from cfgen.app.api import Api
from cfgen.app.curate import PAGE
from cfgen.app.server import serve
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_id
from cfgen.records import Case
from cfgen.storage.store import Store

CASES, MOVES = 2000, 100
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
#: The next case is there once its own picture is decoded.
ARRIVED = """async ([key, wanted]) => {
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent('keydown', { key }));
  const image = document.querySelector('#room-curate img.over');
  const here = () => image.src.includes(wanted) && image.complete && image.naturalWidth;
  while (!here()) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def grow(source: Path, root: Path) -> list[str]:
    """A benchmark of CASES cases from the few of ``source``: own records, pictures linked; their ids in order."""
    small = Store(source)
    shutil.copytree(source / "scenes", root / "scenes", copy_function=os.link)
    write_record(root / "benchmark.json", small.benchmark)
    big, cases = Store(root), small.cases()
    ids = []
    for number in range(CASES):
        case = cases[number % len(cases)]
        ids.append(derive_id("copy", number))
        folder = big.case_dir(ids[-1])
        shutil.copytree(
            small.case_dir(case.case_id),
            folder,
            copy_function=os.link,
            ignore=shutil.ignore_patterns("case.json"),
        )
        record = read_record(small.case_dir(case.case_id) / "case.json", Case)
        write_record(folder / "case.json", record.model_copy(update={"case_id": ids[-1]}))
    return sorted(ids)


def in_browser(page: Page, url: str, ids: list[str]) -> None:
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_function(
        "() => { const i = document.querySelector('#room-curate img.over'); return i && i.complete && i.naturalWidth; }"
    )
    print(f"page with the first of {CASES} cases, cold: {time.perf_counter() - start:.2f} s (bound 2 s)")
    page.wait_for_function(f"document.querySelectorAll('#room-curate .cf-list li').length === {PAGE}")
    print(f"a page of the queue in the browser, cold: {time.perf_counter() - start:.2f} s (bound 2 s)")
    page.wait_for_timeout(1500)
    for what, look_ms in (("a look of 0.3 s at each", 300), ("one after the other", 0)):
        moves = []
        for case_id in ids[1 : MOVES + 1]:
            moves.append(page.evaluate(ARRIVED, ["ArrowRight", quote(case_id)]))
            page.wait_for_timeout(look_ms)
        ids = ids[MOVES:]
        p50, p95 = (statistics.quantiles(moves, n=20)[i] for i in (9, 18))
        print(
            f"next case, key to picture, {what}: median {p50:.0f} ms, 95% {p95:.0f} ms, "
            f"worst of {MOVES} {max(moves):.0f} ms (bound 150 ms)"
        )


def main(bench: Path) -> None:
    with tempfile.TemporaryDirectory(dir=bench.resolve().parent) as folder:
        ids = grow(bench, Path(folder) / "b")
        api = Api(Path(folder) / "b")
        for kind in ("cold", "warm"):
            start = time.perf_counter()
            told = api.call({"do": "queue", "name": "bench"})
            size = len(json.dumps(told)) / 1000
            took = time.perf_counter() - start
            print(f"a page of {told['ok']['total']} cases on the server, {kind}: {took:.2f} s, {size:.0f} kB")
        start = time.perf_counter()
        size = len(json.dumps(api.call({"do": "item", "id": ids[0]})))
        print(f"one case on the server: {1000 * (time.perf_counter() - start):.0f} ms, {size / 1000:.0f} kB")
        app = serve(Api(Path(folder) / "b"), port=0, block=False)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            in_browser(browser.new_page(), app.local_url, ids)
            browser.close()
        app.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
