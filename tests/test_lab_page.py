"""The page of the lab in a real browser: what is drawn, and that everybody can use it.

Without a browser only the contrasts are tested; the rest is skipped and says so. It takes
Chromium (KATA_BROWSER, or `chromium` on the path) and `pip install -e '.[browser]'`.
"""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
from pathlib import Path

import pytest

from attention_katas.lab import examples, export
from tests import labs
from tests.packs import add_kata, make_pack, only
from tests.test_packs import PICTURE

PAGE = Path(export.__file__).parent / "page"
PANELS = ("lookup", "width", "sentence", "steps", "wiring", "cost")


class Page:
    """A page of the lab, with the words that the tests need."""

    def __init__(self, tab, lab):
        self.tab, self.lab = tab, lab
        self.faults, self.asked = [], []
        tab.set_default_timeout(20_000)
        tab.on("pageerror", lambda error: self.faults.append(str(error)))
        tab.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else 0)
        tab.on("request", lambda request: self.asked.append(request.url))

    def open(self, *panels):
        self.tab.goto(self.lab.url)
        self.tab.wait_for_selector("html[data-ready]")
        self.shown(*(panels or ("lookup", "sentence")))
        return self

    def shown(self, *panels, generation=None):
        """Wait until these panels show what is in the files now."""
        now = self.lab.lab.generation if generation is None else generation
        for name in panels:
            self.tab.wait_for_selector(f'#{name}[data-generation="{now}"]')
        return self

    def save(self, source, name="softmax.py", panels=("lookup", "sentence")):
        return self.shown(*panels, generation=self.lab.write(name, source))

    def text(self, selector):
        return self.tab.locator(selector).first.inner_text()

    def count(self, selector):
        return self.tab.locator(selector).count()

    def weights(self):
        """What the bars of the lookup say, by word."""
        return dict(
            self.tab.evaluate(
                """() => [...document.querySelectorAll('#lookup .bars[aria-label="weights"] .bar')]
                  .map((bar) => [bar.firstChild.textContent, bar.lastChild.textContent])"""
            )
        )

    def until(self, script, **options):
        self.tab.wait_for_function(script, **options)

    def settled(self):
        """Wait until nothing is being asked any more."""
        self.tab.wait_for_function(
            """() => new Promise((done) => {
              const el = document.querySelector("#lookup"), before = el.dataset.answers;
              setTimeout(() => done(el.dataset.answers === before), 120);
            })"""
        )


@pytest.fixture
def page(chromium, lab):
    """`page.open()` is the lab's page; options of a browser context by indirect parameter."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    found = Page(context.new_page(), lab)
    yield found
    context.close()
    assert not found.faults
    own = f"127.0.0.1:{lab.port}/"
    assert all(own in url or url.startswith(("blob:", "data:")) for url in found.asked)


def small(chromium, lab, **options):
    context = chromium.new_context(
        viewport={"width": 375, "height": 800}, has_touch=True, is_mobile=True, **options
    )
    return Page(context.new_page(), lab)


def test_each_panel_draws_the_right_solution(page):
    page.open("lookup", "width", "sentence", "steps", "wiring")
    page.tab.locator("#cost").scroll_into_view_if_needed()
    page.tab.wait_for_selector("#cost[data-measured]")
    for name in PANELS:
        states = page.tab.locator(f"#{name}").get_attribute("data-states").split()
        assert set(states) == {"yours"}, name
        assert not page.count(f"#{name} .banner"), name
        assert not page.count(f"#{name} .chip.off"), name
    assert page.weights() == {"animal": "0.74", "street": "0.12", "cross": "0.02", "tired": "0.12"}
    assert "Σ = 1.000" in page.text("#lookup .line")
    assert "animal 0.78" in page.text("#sentence .readout")
    assert page.count("#sentence .heat .sum.wrong") == 0
    assert "scale.py" in page.text("#steps li:nth-child(2)")
    assert page.count("#width .graph") == 4
    assert page.count("#wiring .wires") == 2
    assert "ms" in page.text("#cost .readout")


def test_the_query_is_dragged(page):
    page.open()
    page.tab.locator("#lookup .plane").first.scroll_into_view_if_needed()
    plane = page.tab.locator("#lookup .plane").first.bounding_box()
    handle = page.tab.locator('[data-handle="query"] .grip').bounding_box()
    page.tab.mouse.move(handle["x"] + 12, handle["y"] + 12)
    page.tab.mouse.down()
    for x, y in ((0.75, 0.3), (0.9, 0.15)):
        page.tab.mouse.move(plane["x"] + x * plane["width"], plane["y"] + y * plane["height"])
    page.tab.mouse.up()
    page.settled()
    assert float(page.weights()["animal"]) > 0.98


def test_a_value_is_dragged_and_the_blend_follows(page):
    page.open()
    before = page.tab.locator("#lookup .giving .blend .shaft").get_attribute("d")
    page.tab.locator('[data-handle="value 0"]').focus()
    page.tab.keyboard.press("Shift+ArrowUp")
    page.settled()
    assert page.tab.locator("#lookup .giving .blend .shaft").get_attribute("d") != before
    assert page.weights()["animal"] == "0.74"


def test_without_the_division_wide_vectors_collapse(page):
    page.open()
    page.tab.locator("#lookup .slider input").first.focus()
    for _ in range(6):
        page.tab.keyboard.press("ArrowRight")
    page.settled()
    assert page.weights()["animal"] == "0.74"
    page.tab.locator("#lookup").get_by_role("switch").focus()
    page.tab.keyboard.press("Space")
    page.settled()
    assert float(page.weights()["animal"]) > 0.99
    gradient = page.text("#lookup .figures dd:last-of-type")
    assert float(gradient.split()[0].split("t")[0]) < 0.01


def test_keyboard_alone(page):
    page.open("lookup", "sentence", "wiring")
    page.tab.locator('[data-handle="query"]').focus()
    page.tab.keyboard.press("Home")
    page.settled()
    assert set(page.weights().values()) == {"0.25"}
    page.tab.keyboard.press("Shift+ArrowRight")
    page.settled()
    assert (
        page.tab.locator('[data-handle="query"]').get_attribute("aria-valuetext") == "x 0.5, y 0.0"
    )
    page.tab.get_by_role("spinbutton", name="y").fill("-2.5")
    page.settled()
    assert float(page.weights()["street"]) > 0.9
    page.tab.get_by_role("button", name="far toward animal").press("Enter")
    page.settled()
    assert float(page.weights()["animal"]) > 0.95
    page.until("() => document.querySelector('.live').textContent.startsWith('animal 0.9')")

    page.tab.locator("#sentence .token.asks").focus()
    page.tab.keyboard.press("ArrowRight")
    assert "“was” attends to" in page.text("#sentence .readout")
    page.tab.locator("#sentence svg.heat").focus()
    page.tab.keyboard.press("ArrowDown")
    page.tab.keyboard.press("ArrowRight")
    page.until(
        "() => /“too” → “animal”/.test(document.querySelector('#sentence .readout').innerText)"
    )
    assert page.count("#sentence .cross") == 2

    page.tab.locator('#wiring [data-row="2"]').nth(1).focus()
    page.tab.keyboard.press("Enter")
    assert page.text("#wiring .half:nth-child(2) h4") == "“noir” attends to"


BUGS = {
    "no sum": labs.NO_SUM,
    "overflow": labs.OVERFLOW,
    "wrong axis": labs.WRONG_AXIS,
    "syntax": labs.SYNTAX,
    "halved": labs.HALVED,
}


def test_five_bugs_are_told_apart(page):
    page.open()
    seen = {}
    for name, source in BUGS.items():
        page.save("import torch\n\n\n" + source)
        seen[name] = {
            "sum": page.text("#lookup .line").split(":")[0].split(",")[0],
            "banner": page.text("#lookup .banner") if page.count("#lookup .banner") else "",
            "chip": page.text("#lookup .chip:nth-child(2) em"),
            "matrices": page.count("#sentence .matrix"),
        }
    told = {json.dumps(each) for each in seen.values()}
    assert len(told) == 5
    assert seen["no sum"]["sum"] == "Σ = 1.345"
    assert seen["overflow"]["banner"].startswith("NaN")
    assert seen["syntax"]["banner"].startswith("softmax.py does not load softmax.py:4 SyntaxError")
    assert seen["wrong axis"]["sum"] == "Σ = 4.000"
    assert seen["halved"]["sum"] == "Σ = 1.000"
    assert seen["halved"]["chip"] == "yours, not as the reference"
    assert seen["halved"]["matrices"] == 3


def test_the_diagnosis_stands_beside_the_picture(page):
    page.open()
    page.save("import torch\n\n\n" + labs.WRONG_AXIS)
    tutor = page.tab.locator("#lookup .tutor")
    tutor.wait_for()
    assert "sums along the wrong axis" in tutor.inner_text()
    assert "kata hint softmax --level 2" in tutor.inner_text()
    page.tab.wait_for_selector("#sentence .tutor")
    assert not page.count("#wiring .tutor")


def test_what_is_not_written_is_drawn_by_the_reference(page):
    page.open()
    page.shown("lookup", generation=page.lab.unwrite("softmax"))
    chip = page.tab.locator("#lookup .chip.unwritten")
    assert "not written yet" in chip.inner_text()
    assert chip.get_by_role("link").inner_text() == "kata show softmax"
    assert page.count("#lookup .bars.theirs") == 1
    assert page.weights()["animal"] == "0.74"


def test_an_exception_keeps_the_last_picture(page):
    page.open()
    page.tab.locator('[data-handle="query"]').press("Home")
    page.settled()
    page.tab.evaluate(SHIFTS)
    page.save(labs.RAISES)
    assert "softmax.py:2" in page.text("#lookup .banner")
    assert "return x.no_such_method()" in page.text("#lookup .banner")
    assert page.count("#lookup .bars.old") == 1
    assert set(page.weights().values()) == {"0.25"}
    assert "your last answer" in page.text("#lookup .line")
    assert page.tab.evaluate("shifts") < 0.1  # the figure stays where it is
    # To another question that is no answer.
    page.tab.get_by_role("button", name="far toward animal").click()
    page.settled()
    assert page.count("#lookup .bars.old") == 0
    assert page.count('#lookup .bars.theirs[aria-label="weights"]') == 1
    assert "drawn by the reference: this save has no answer" in page.text("#lookup .line")
    assert page.count("#lookup .line .ok") == 0


SHIFTS = """() => {
  window.shifts = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.shifts += one.value;
  }).observe({ type: "layout-shift" });
}"""

SAID = """async ([found, step, panel]) => {
  const { tutor, chip } = await import("./notes.js");
  const hub = { verdicts: { mask: { diagnoses: found }, softmax: { diagnoses: [
    { function: "softmax", file: "softmax.py", id: "x", says: "does not divide", hint: "",
      shows: "answers", blames: [], also_wrong: [], symptoms: [] }] } } };
  const { boxes, rest } = tutor(hub, { weights: step }, "a picture", panel);
  const words = (box) => box.textContent;
  return [boxes.map(words), rest.map((one) => one.says), chip(step, "", hub).textContent];
}"""


def test_a_box_stands_where_its_mistake_shows(page):
    page.open()

    def said(diagnosis, panel="lookup", **step):
        fields = {"shows": "answers", "blames": [], "also_wrong": [], "symptoms": []}
        found = {"function": "masked_weights", "file": "mask.py", "id": "m", **fields, **diagnosis}
        weights = {"function": "masked_weights", "file": "mask.py", "kata": "mask"}
        return page.tab.evaluate(SAID, [[found], {**weights, "state": "yours", **step}, panel])

    right, off = {"agrees": True, "alone": True}, {"agrees": False, "alone": False}
    shown, rest, chip = said({"says": "hides nothing"}, **off)
    assert "hides nothing" in shown[0]
    assert chip.endswith("yours, not as the reference")
    # Nothing on the page has padding; another function is no business of this picture.
    for told in (
        {"says": "ignores the padding", "shows": "nothing"},
        {"says": "hides nothing", "function": "other"},
    ):
        shown, rest, _ = said(told, **off)
        assert (shown, rest) == ([], [told["says"]])
    shown, _, _ = said({"says": "takes exponentials", "shows": "overflow"}, **right)
    assert "go far out, with" in shown[0]
    shown, rest, _ = said({"says": "takes exponentials", "shows": "overflow"}, "steps", **right)
    assert not shown
    # What is off because of an earlier file brings what is said of that one.
    shown, _, chip = said({"says": "is right as soon as", "id": "", "blames": ["softmax"]}, **off)
    assert "softmax does not divide" in shown[0]
    assert chip.endswith("yours, off because of softmax")


def test_an_endless_loop_does_not_end_the_page(page):
    page.open()
    page.save(labs.ENDLESS, panels=("lookup",))
    assert "stopped" in page.text("#lookup .banner")
    before = page.lab.lab.generation
    page.lab.restore()
    page.shown("lookup", generation=page.lab.wait(before))
    assert not page.count("#lookup .banner")


def test_the_token_leaves_the_address_and_a_reload_finds_it(page):
    page.open()
    assert page.tab.url == f"{page.lab.origin}/"
    page.tab.reload()
    page.shown("lookup")
    assert page.tab.url == f"{page.lab.origin}/"
    other = page.tab.context.new_page()
    for token in ("", "one-of-yesterday"):
        other.goto(f"{page.lab.origin}/icon.svg")
        other.evaluate("token => sessionStorage.setItem('kata-lab-token', token)", token)
        other.goto(f"{page.lab.origin}/")
        if token:
            other.wait_for_url(f"**/?token={token}")
        assert "that `kata lab` printed" in other.locator("p").inner_text()
    page.faults.clear()


def test_no_answer_leaves_no_panel_blue(page, monkeypatch):
    page.open()

    def unclear(live, asked):
        raise ValueError("what was that")

    for engine in page.lab.lab._engines:
        for name in engine.panels:
            monkeypatch.setitem(engine.panels, name, unclear)
    page.tab.get_by_role("button", name="centre").click()
    page.tab.wait_for_selector('#lookup.unclear[data-states="unclear"]')
    assert "ValueError: what was that" in page.text("#lookup .banner")
    assert not page.count("#lookup .chip")
    assert not page.tab.locator("#lookup .line").is_visible()
    monkeypatch.undo()
    page.tab.get_by_role("button", name="centre").click()
    page.tab.wait_for_selector('#lookup:not(.unclear)[data-states="yours yours yours"]')
    assert not page.count("#lookup .banner")


def test_a_repaint_takes_nothing_from_anybody(page):
    page.open("lookup", "steps", "wiring")
    page.save("def softmax(x, dim=-1):\n    print('hello')\n    raise ValueError('no')\n")
    page.tab.evaluate(
        """() => {
          const at = document.querySelector("#lookup .banners");
          at.querySelector("details").open = true;
          window.put = 0;
          const seen = new MutationObserver((found) => (window.put += found.length));
          seen.observe(at, { childList: true });
        }"""
    )
    handle = page.tab.locator('[data-handle="query"]')
    for _ in range(5):
        handle.press("ArrowLeft")
    page.settled()
    assert page.tab.evaluate("window.put") == 0  # an alert is not read out again
    page.save("def softmax(x, dim=-1):\n    print('hello again')\n    raise ValueError('no')\n")
    assert page.tab.evaluate("document.querySelector('#lookup details').open")
    for panel, selector, n in (("steps", ".scroll", 2), ("wiring", ".pick", 5)):
        found = f"document.querySelectorAll('#{panel} {selector}')[{n}]"
        page.tab.evaluate(f"{found}.focus()")
        page.shown(panel, generation=page.lab.write("scale.py", f"# {panel}\n"))
        assert page.tab.evaluate(f"{found} === document.activeElement")


def test_a_narrow_window_has_no_second_scroll_bar(page):
    page.open(*PANELS[:5])
    loud = "def softmax(x, dim=-1):\n    print('B' * 390)\n    return x * 0 + 1e300\n"
    page.save(loud, panels=("lookup", "width", "sentence"))
    page.tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for width in (375, 320):
        page.tab.set_viewport_size({"width": width, "height": 800})
        page.until("(width) => document.documentElement.scrollWidth <= width", arg=width)
    page.tab.emulate_media(forced_colors="active")
    for selector in ("#sentence .token.asks", "#sentence .choice input:checked + span"):
        outline = page.tab.locator(selector).first
        assert outline.evaluate("el => getComputedStyle(el).outlineStyle") == "solid"


def test_masked_zero_and_nan_look_different(page):
    page.open()
    page.tab.locator("#sentence").get_by_role("switch", name="causal mask").check()
    page.tab.wait_for_selector("#sentence .heat .cell.hidden")
    masked = page.tab.locator("#sentence .heat .cell.hidden").first
    assert "url(" in masked.evaluate("el => getComputedStyle(el).fill")
    assert page.count("#sentence .heat .cell.hidden") == 66
    page.tab.locator('#sentence input[value="scores"]').check()
    assert "−∞" in page.text("#sentence .scale")
    page.tab.locator("#sentence").get_by_role("switch", name="causal mask").uncheck()
    page.tab.locator('#sentence input[value="weights"]').check()
    page.save(labs.OVERFLOW)
    assert page.count("#sentence .matrix.mine .cell.lost") > 0
    assert page.count("#sentence .matrix.mine text.zero") > 0
    assert page.count("#sentence .matrix.mine .cell.hidden") == 0


def test_touch_at_375_pixels(chromium, lab):
    page = small(chromium, lab, color_scheme="dark").open(*PANELS[:5])
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 375
    plane = page.tab.locator("#lookup .plane").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    page.tab.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.settled()
    assert set(page.weights().values()) == {"0.25"}
    page.tab.locator("#sentence .token", has_text="tired").tap()
    assert "“tired” attends to animal" in page.text("#sentence .readout")
    assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 26, 33)"
    page.save("import torch\n\n\n" + labs.WRONG_AXIS)
    page.tab.wait_for_selector("#lookup .tutor")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 375
    assert not page.faults
    page.tab.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", ["right", "wrong"])
def test_axe_finds_nothing(chromium, lab, theme, state):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = chromium.new_context(color_scheme=theme, bypass_csp=True, reduced_motion="reduce")
    page = Page(context.new_page(), lab).open(*PANELS[:5])
    if state == "wrong":
        page.save("import torch\n\n\n" + labs.WRONG_AXIS)
        page.save("def scaled_scores(q, k):\n    return q @ k\n", "scale.py")
        page.shown("lookup", generation=page.lab.unwrite("cross-attention"))
    found = axe.Axe().run(page.tab).response["violations"]
    told = [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]
    context.close()
    assert not told


def test_a_foreign_page_cannot_drive_it(chromium, lab, tmp_path):
    (tmp_path / "evil.html").write_text("<!doctype html><title>evil</title>")
    serve = functools.partial(Quiet, directory=str(tmp_path))
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=other.serve_forever).start()
    tab = chromium.new_context().new_page()
    try:
        tab.goto(f"http://127.0.0.1:{other.server_port}/evil.html")
        opened = tab.evaluate(
            """(address) => new Promise((done) => {
              const line = new WebSocket(address);
              line.onopen = () => done("open");
              line.onerror = () => done("refused");
            })""",
            f"ws://127.0.0.1:{lab.port}/line?token={labs.TOKEN}",
        )
        read = tab.evaluate("(url) => fetch(url).then((a) => a.text(), () => 'refused')", lab.url)
    finally:
        tab.context.close()
        other.shutdown()
        other.server_close()
    assert (opened, read) == ("refused", "refused")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_exported_file_says_what_the_lab_says(chromium, lab, tmp_path):
    path = export.write(tmp_path)
    with lab.line() as line:
        right = labs.ask(line, "lookup", **labs.LOOKUP)
        heads = {
            name: labs.ask(line, "sentence", sentence="wide", head=name, causal=True, divide=True)
            for name in ("A", "B", "L3H1")
        }
        wiring = labs.ask(line, "wiring")
        steps = labs.ask(line, "steps", sentence="tired", head="L3H1", causal=False, row=10)
    tab = chromium.new_context().new_page()
    asked, faults = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_selector("#lookup[data-states]")
    tell = """([panel, ask]) => {
      const data = JSON.parse(document.getElementById("frozen").textContent);
      return labReference[panel](data, ask);
    }"""
    kept = "window.labReference = modules['reference.js'].PANELS;"
    tab.add_script_tag(content=f"{export.script('reference.js')}\n{kept}")

    def told(panel, **ask):
        return tab.evaluate(tell, [panel, ask])

    assert flat(told("lookup", **labs.LOOKUP)["weights"]["right"]) == near(
        right["weights"]["right"]
    )
    assert flat(told("lookup", **labs.LOOKUP)["blend"]["right"]) == near(right["blend"]["right"])
    mine, theirs = told("lookup", **labs.LOOKUP)["figures"]["right"], right["figures"]["right"]
    assert mine == pytest.approx(theirs, abs=1e-6)
    for name, head in heads.items():
        found = told("sentence", sentence="wide", head=name, causal=True, divide=True)
        assert flat(found["weights"]["right"]) == near(head["weights"]["right"])
    assert flat(told("wiring")["cross"]["right"]) == near(wiring["cross"]["right"])
    assert flat(told("wiring")["self"]["right"]) == near(wiring["self"]["right"])
    found = told("steps", sentence="tired", head="L3H1", causal=False, row=10)
    assert flat(found["blend"]["right"]) == near(steps["blend"]["right"])
    assert "the reference's" in tab.locator("#lookup .chip").first.inner_text()
    assert not faults
    assert asked == [path.as_uri()]
    tab.context.close()


def flat(cells):
    return [x for each in cells for x in flat(each)] if isinstance(cells, list) else [cells]


def near(cells):
    return pytest.approx(flat(cells), abs=1e-6)


def test_a_picture_is_saved(page, tmp_path):
    page.open()
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.tab.expect_download() as waiting:
            page.tab.locator("#lookup .save").get_by_role("button", name=kind).click()
        target = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(target)
        assert target.name == f"attention-lookup.{kind.lower()}"
        assert target.read_bytes().startswith(start)
    drawn = (tmp_path / "attention-lookup.svg").read_text(encoding="utf-8")
    assert drawn.count(">animal<") == 4  # a key, a value, and a bar of each kind
    assert drawn.count("rgb(213, 94, 0)") >= 8  # the reference's ticks
    assert "var(" not in drawn


# Without a browser.

AGAINST = {  # text on what it stands on: 4.5 by WCAG AA; marks: 3
    "text": {
        "text": ("paper", "well", "taught", "bad-wash"),
        "soft": ("paper", "well", "track", "taught", "bad-wash"),
        "yours-deep": ("paper", "well"),
        "ref-text": ("paper", "well"),
        "bad": ("paper", "well", "bad-wash"),
        "good": ("paper", "well"),
        "on-yours": ("yours",),
    },
    "marks": {
        "yours": ("paper", "well", "track"),
        "ref": ("paper", "well", "track"),
        "stand": ("paper", "well"),
        "faint": ("paper", "well"),
        "bad": ("track",),
    },
}


def themes():
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    light = style[style.index(":root {") : style.index("@media")]
    dark = style[style.index(':root[data-theme="dark"]') : style.index("* { box-sizing")]
    again = style[
        style.index("@media (prefers-color-scheme: dark)") : style.index(':root[data-theme="dark"]')
    ]
    colours = [dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in (light, dark, again)]
    assert colours[1] == colours[2]
    return {"light": colours[0], "dark": {**colours[0], **colours[1]}}


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("kind", "least"), [("text", 4.5), ("marks", 3.0)])
def test_contrasts(theme, kind, least):
    colours = themes()[theme]
    found = {
        f"{mark} on {ground}": round(contrast(colours[mark], colours[ground]), 2)
        for mark, grounds in AGAINST[kind].items()
        for ground in grounds
    }
    assert not {pair: ratio for pair, ratio in found.items() if ratio < least}


def test_numbers_can_be_read_on_every_shade(page):
    page.open()
    ratios = page.tab.evaluate(
        """async () => {
          const { shade } = await import("./numbers.js");
          const steps = Array.from({ length: 201 }, (_, i) => i / 100 - 1);
          return ["light", "dark"].flatMap((theme) => steps.map((t) => shade(t, theme).ratio));
        }"""
    )
    assert min(ratios) >= 4.5
    assert len(examples.WIDTHS) == 9


DRAWING = """
import { h } from "./dom.js";
import { panel } from "./panel.js";

export default {
  render({ model, el }) {
    const parts = panel(el, model, { id: "doubling", number: "7", title: "Doubling" });
    const show = model.asker("doubling", (answer) => {
      parts.figure.replaceChildren(h("p.twice", String(answer.double.yours)));
    });
    show({});
  },
};
"""


def test_a_pack_draws_its_picture_and_a_broken_one_says_so(chromium, tmp_path):
    pack = make_pack(tmp_path / "made", "made")
    add_kata(pack, "double", panels=["doubling", "torn"])
    (pack / "lab").mkdir()
    for name, script in (("doubling", DRAWING), ("torn", "throw new Error('no such axis');\n")):
        (pack / "lab" / f"{name}.py").write_text(PICTURE, encoding="utf-8")
        (pack / "lab" / f"{name}.js").write_text(script, encoding="utf-8")
    running = labs.Running(only(pack), tmp_path / "space")
    context = chromium.new_context()
    try:
        tab = context.new_page()
        tab.goto(running.url)
        tab.wait_for_selector("html[data-ready]")
        tab.wait_for_selector('[data-panel="doubling"] .twice')
        assert tab.locator('[data-panel="doubling"] .twice').inner_text() == "2,4"
        torn = tab.locator('[data-panel="torn"] .note')
        torn.wait_for()
        assert torn.inner_text() == "This picture of a pack cannot be drawn: no such axis"
    finally:
        context.close()
        running.close()
