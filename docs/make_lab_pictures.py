"""Draw the pictures of docs/lab/ from the lab itself: `make pictures`.

It opens the lab on workspaces made for it (right answers, an untouched stub, a mistake) and takes
a picture of each panel. Needs Chromium and `pip install -e '.[browser]'`. Nothing compares them:
another machine has other fonts.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from attention_katas.packs.catalog import load_catalog
from attention_katas.packs.workspace import create

PICTURES = Path(__file__).parent / "lab"
COMMAND = (sys.executable, "-m", "attention_katas", "lab", "--no-browser", "--port", "0")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
WRONG = """import torch


def softmax(x, dim=-1):
    powers = x.exp()
    return powers / powers.sum()
"""
PANELS = ("lookup", "width", "sentence", "steps", "wiring", "cost")


@contextlib.contextmanager
def lab(stubs: tuple[str, ...] = (), **files: str) -> Iterator[str]:
    """The address of a lab on the references, but for some stubs and files."""
    catalog = load_catalog()
    with tempfile.TemporaryDirectory() as folder:
        space, _, _ = create(Path(folder), catalog)
        for kata in catalog.ready:
            if kata.name not in stubs:
                shutil.copyfile(kata.reference, space.path(kata))
        for name, text in files.items():
            (space.root / f"{name}.py").write_text(text, encoding="utf-8")
        environment = {**os.environ, "KATA_COLD": "1"}
        process = subprocess.Popen(
            COMMAND, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            address = None
            while address is None:
                address = re.search(r"http://\S+", process.stdout.readline())
            yield address.group()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def opened(page: Page, address: str) -> None:
    page.goto(address)
    for panel in PANELS[:5]:
        page.wait_for_selector(f"#{panel}[data-states]", timeout=60_000)
    page.add_style_tag(content=".top { position: static !important }")


def take(page: Page, panel: str, name: str) -> None:
    page.mouse.move(0, 0)
    page.locator(f"#{panel}").screenshot(path=PICTURES / f"{name}.png")
    print(f"docs/lab/{name}.png")


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    browser_path = shutil.which(os.environ.get("KATA_BROWSER", "chromium"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=list(FLAGS))

        def tab(theme: str = "light", width: int = 1180) -> Page:
            return browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True
            )

        with lab() as address:
            page = tab()
            opened(page, address)
            page.locator("#cost").scroll_into_view_if_needed()
            page.wait_for_selector("#cost[data-measured]", timeout=60_000)
            for panel in PANELS:
                take(page, panel, panel)
            page.locator('#sentence input[value="L3H1"]').check()
            page.locator("#sentence").get_by_role("switch", name="causal mask").check()
            page.wait_for_selector("#sentence .cell.hidden")
            take(page, "sentence", "trained")
            dark = tab("dark")
            opened(dark, address)
            take(dark, "lookup", "dark")
            phone = tab("light", 375)
            opened(phone, address)
            take(phone, "lookup", "phone")
        with lab(stubs=("mask",), softmax=WRONG) as address:
            page = tab()
            opened(page, address)
            page.wait_for_selector("#sentence .tutor", timeout=60_000)
            take(page, "sentence", "wrong")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
