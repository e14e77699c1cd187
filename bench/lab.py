"""How quick is the lab, in a real browser?  python bench/lab.py [--quick | --smoke]

It starts `kata lab` on the references as a learner's files, opens the page in Chromium, and drags
the query with real mouse events.

One frame is 16.7 ms at 60 Hz. Needs Chromium and `pip install -e '.[browser]'`. The last line is
JSON:

drag_median_ms, drag_p95_ms  from a mouse event in the page to the frame in which its weights are
                             painted: four calls of torch code in sandbox workers; the newest wins
echo_p95_ms                  the same WebSocket in the same page, and no computation: the floor
save_repaint_ms              from the end of a save to the frame in which its weights are painted
loop_recovery_s              from a drag into an endless loop to the painted weights of the next
                             drag
page_kb                      size of the page's files
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measurement import FULL, QUICK, ROOT, SMOKE, BenchError, add_sizes, ensure, median, p95, report

from attention_katas.packs.catalog import load_catalog
from attention_katas.packs.workspace import create

KEYS = (
    "drag_median_ms",
    "drag_p95_ms",
    "echo_p95_ms",
    "save_repaint_ms",
    "loop_recovery_s",
    "page_kb",
)
# Drags, saves and endless loops.
SIZES = {FULL: (300, 30, 3), QUICK: (80, 8, 3), SMOKE: (4, 2, 1)}
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


class Bench:
    def __init__(self, tab, root: Path) -> None:
        self.tab, self.root = tab, root
        plane = tab.locator("#lookup .plane").first
        # The mouse reaches only what is in the window.
        plane.evaluate("plane => plane.scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = plane.bounding_box()
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


def measure(tab, root: Path, drags: int, saves: int, loops: int) -> dict[str, float]:
    bench = Bench(tab, root)
    right = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
    bench.move(0.9, 0.7)
    tab.mouse.down()
    for n in range(20):
        bench.drag(0.05 * n, 0.3)
    paints = [bench.drag(2.5 * (n % 50) / 50 - 1, 1.5 - (n % 37) / 20) for n in range(drags)]
    states = set(tab.evaluate("marks.states"))
    ensure(states == {"yours"}, f"the page painted weights that are {sorted(states)}")
    echoes = tab.evaluate(ECHO, drags)
    repaints = [bench.save(HALVED if n % 2 else right) for n in range(1, saves + 1)]
    recoveries = [bench.loop() for _ in range(loops)]
    tab.mouse.up()
    result = {
        "drag_median_ms": round(median("drags", paints), 1),
        "drag_p95_ms": round(p95("drags", paints), 1),
        "echo_p95_ms": round(p95("echoes", echoes), 1),
        "save_repaint_ms": round(median("saves", repaints)),
        "loop_recovery_s": round(median("loops", recoveries), 2),
        "page_kb": round(sum(path.stat().st_size for path in PAGE.iterdir()) / 1024),
    }
    ensure(median("drags", paints) >= median("echoes", echoes), "a drag cannot be below an echo")
    ensure(result["page_kb"] > 0, "the page has no files")
    return result


def address_of(lab: subprocess.Popen[str]) -> str:
    """The page's address, which `kata lab` prints. Raises BenchError if it ends before."""
    assert lab.stdout is not None
    for line in lab.stdout:
        match = re.search(r"http://\S+", line)
        if match:
            return match.group()
    raise BenchError(f"kata lab printed no address, and ended with status {lab.wait()}")


def in_browser(path: str, address: str, root: Path, size: str) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.add_init_script(WATCH)
        tab.goto(address)
        for panel in ("lookup", "sentence", "wiring"):
            tab.wait_for_selector(f"#{panel}[data-states]")
        result = measure(tab, root, *SIZES[size])
        browser.close()
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "fewer drags, under 40 s")
    parser.add_argument("--browser", default=os.environ.get("KATA_BROWSER", "chromium"))
    options = parser.parse_args()
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
        command = [sys.executable, "-m", *KATA_LAB]
        lab = subprocess.Popen(command, cwd=space.root, stdout=subprocess.PIPE, text=True)
        try:
            result = in_browser(path, address_of(lab), space.root, options.size)
        finally:
            lab.send_signal(signal.SIGINT)
            try:
                lab.wait(10)
            except subprocess.TimeoutExpired:
                lab.kill()
                lab.wait()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, value in result.items():
        print(f"{name:16}{value:8}")
    report(result, KEYS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
