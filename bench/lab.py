"""How quick the lab is, in a real browser: `python bench/lab.py` (`--quick` under 40 s).

It starts `kata lab` on the references as a learner's files, opens the page in Chromium, and drags
the query with real mouse events.

    drag to paint    from a mouse event in the page to the frame in which its weights are painted:
                     four calls of torch code in learner processes, with newest wins
    echo             the same WebSocket in the same page, without anybody computing: the floor
    save to repaint  from the end of a save to the frame in which its weights are painted
    loop recovery    from a drag into an endless loop to the painted weights of the drag after it

One frame is 16.7 ms at 60 Hz. Needs Chromium and `pip install -e '.[browser]'`. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attention_katas.packs.catalog import load_catalog
from attention_katas.packs.workspace import create

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "harness" / "attention_katas" / "lab" / "page"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
KATA_LAB = ("attention_katas", "lab", "--no-browser", "--no-judge", "--port", "0")
HALVED = """
def softmax(x, dim=-1):
    powers = (x / 2).exp()
    return powers / powers.sum(dim, keepdim=True)
"""
# Endless only where the query is far out.
TRAP = """
def softmax(x, dim=-1):
    while x.max() > 4:
        pass
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
"""
# Times are taken in the page. A paint is over when a task runs after its frame.
WATCH = """
window.marks = { states: [], moved: 0, times: [], painted: 0, at: 0, generation: 0 };
addEventListener("pointermove", () => { marks.moved = performance.now(); }, true);
document.addEventListener("lab:shown", (event) => {
  if (event.detail.panel !== "lookup") return;
  const { moved } = marks;
  const { generation } = event.detail;
  const state = event.detail.answer.weights?.state;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      marks.states.push(state);
      const now = performance.now();
      Object.assign(marks, { last: now - moved, painted: marks.painted + 1, generation });
      marks.at = performance.timeOrigin + now;
    };
    channel.port2.postMessage(0);
  });
});
"""
ECHO = """(count) => new Promise((done) => {
  const token = encodeURIComponent(sessionStorage.getItem("kata-lab-token"));
  const line = new WebSocket(`ws://${location.host}/line?token=${token}`);
  const times = [];
  let sent;
  const send = () => { sent = performance.now(); line.send('{"panel": "echo", "id": 0}'); };
  line.onmessage = ({ data }) => {
    if (!data.includes('"echo"')) return data.includes('"hello"') ? send() : undefined;
    times.push(performance.now() - sent);
    if (times.length < count) send();
    else { line.close(); done(times); }
  };
})"""


def p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


class Bench:
    def __init__(self, tab, root: Path) -> None:
        self.tab, self.root = tab, root
        box = tab.locator("#lookup .plane").first.bounding_box()
        self.centre = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.unit = box["width"] / 6.7

    def move(self, x: float, y: float) -> None:
        self.tab.mouse.move(self.centre[0] + x * self.unit, self.centre[1] - y * self.unit)

    def painted(self, before: int) -> None:
        self.tab.wait_for_function("(n) => marks.painted > n", arg=before, polling=5)

    def drag(self, x: float, y: float) -> float:
        """Milliseconds from the mouse event to the paint."""
        before = self.tab.evaluate("marks.painted")
        self.move(x, y)
        self.painted(before)
        return float(self.tab.evaluate("marks.last"))

    def save(self, source: str) -> float:
        """Milliseconds from the end of a save to the paint."""
        generation = self.tab.evaluate("marks.generation")
        (self.root / "softmax.py").write_text(source, encoding="utf-8")
        saved = time.time()
        wait = "(n) => marks.generation > n"
        self.tab.wait_for_function(wait, arg=generation, polling=5, timeout=20_000)
        return float(self.tab.evaluate("marks.at")) - 1000 * saved

    def loop(self) -> float:
        """Seconds from a drag into an endless loop to the paint of the drag after it."""
        self.drag(0.2, 0.1)
        self.save(f"{TRAP}# {time.time()}\n")
        self.tab.evaluate("marks.states = []")
        started = time.perf_counter()
        self.move(3, 2.4)  # into the loop
        time.sleep(0.05)
        self.move(0.1, 0.2)  # waits for its turn, and is answered by a spare
        after = "() => marks.states.includes('stopped') && marks.states.at(-1) === 'yours'"
        self.tab.wait_for_function(after, polling=5)
        return time.perf_counter() - started


def measure(tab, root: Path, drags: int, saves: int) -> dict[str, float]:
    bench = Bench(tab, root)
    right = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
    bench.move(0.9, 0.7)
    tab.mouse.down()
    for n in range(20):
        bench.drag(0.05 * n, 0.3)
    times = [bench.drag(2.5 * (n % 50) / 50 - 1, 1.5 - (n % 37) / 20) for n in range(drags)]
    print(f"drag to paint      median_ms {statistics.median(times):.1f}  p95_ms {p95(times):.1f}")
    echoes = tab.evaluate(ECHO, drags)
    print(f"echo               median_ms {statistics.median(echoes):.1f}  p95_ms {p95(echoes):.1f}")
    repaints = [bench.save(HALVED if n % 2 else right) for n in range(1, saves + 1)]
    print(f"save to repaint    median_ms {statistics.median(repaints):.0f}  "
          f"p95_ms {p95(repaints):.0f}")  # fmt: skip
    loops = [bench.loop() for _ in range(3)]
    print(f"loop recovery      median_s {statistics.median(loops):.2f}")
    tab.mouse.up()
    weight = sum(path.stat().st_size for path in PAGE.iterdir()) / 1024
    print(f"page               {weight:.0f} KB in {len(list(PAGE.iterdir()))} files")
    return {
        "drag_median_ms": round(statistics.median(times), 1),
        "drag_p95_ms": round(p95(times), 1),
        "echo_p95_ms": round(p95(echoes), 1),
        "save_repaint_ms": round(statistics.median(repaints)),
        "loop_recovery_s": round(statistics.median(loops), 2),
        "page_kb": round(weight),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer drags, under 40 s")
    parser.add_argument("--browser", default=os.environ.get("KATA_BROWSER", "chromium"))
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    path = shutil.which(options.browser)
    if path is None:
        print("no Chromium here: apt-get install chromium, or --browser PATH", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        catalog = load_catalog()
        space, _, _ = create(Path(folder), catalog)
        for kata in catalog.ready:
            shutil.copyfile(kata.reference, space.path(kata))
        # Without the judge: what is measured is the picture.
        lab = subprocess.Popen(
            [sys.executable, "-m", *KATA_LAB],
            cwd=space.root,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            found = None
            while found is None:
                found = re.search(r"http://\S+", lab.stdout.readline())
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
                tab = browser.new_page(viewport={"width": 1280, "height": 900})
                tab.add_init_script(WATCH)
                tab.goto(found.group())
                for panel in ("lookup", "sentence", "wiring"):
                    tab.wait_for_selector(f"#{panel}[data-states]")
                drags, saves = (80, 8) if options.quick else (300, 30)
                result = measure(tab, space.root, drags, saves)
                browser.close()
        finally:
            lab.send_signal(signal.SIGINT)
            try:
                lab.wait(10)
            except subprocess.TimeoutExpired:
                lab.kill()
                lab.wait()
    print(f"load               {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
