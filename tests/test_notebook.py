"""The katas in a notebook: cells judged, and the lab as a widget.

The last two run a real JupyterLab and a real marimo where they are installed, beside a browser.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time

import pytest

from attention_katas import notebook
from attention_katas.errors import KataError, NoSuchKata
from attention_katas.lab import examples, export
from tests import labs

RAW = labs.HALVED.replace("x / 2", "x")
CELL = f"import torch\n\n\n{RAW}"


@pytest.fixture
def session(submit, monkeypatch):
    """A session whose judge is the one that the other tests use."""

    class Bench(labs.Judge):
        def judge(self, submission, seed=None):
            return submit(submission.kata.name, submission.source)

    found = notebook.NotebookSession()
    found._service = Bench()
    monkeypatch.setattr(notebook, "session", lambda: found)
    yield found
    found.close()


def test_source_is_judged_and_shown_with_its_colours(session):
    result = notebook.check("softmax", CELL)
    assert result.verdict.outcome == "failed"
    assert "takes exponentials without subtracting the maximum" in repr(result)
    assert "change the cell, and run it again" in repr(result)
    html = result._repr_html_()
    assert html.startswith("<pre")
    assert "style=" in html


def test_a_function_brings_its_own_source(session):
    def attention_scores(q, k):
        return q @ k.transpose(-2, -1)

    with pytest.raises(NoSuchKata):
        notebook.check(test_a_function_brings_its_own_source)
    # One that is defined inside another is indented; a cell's is not.
    source = notebook.IMPORTS + "def attention_scores(q, k):\n    return q @ k.transpose(-2, -1)\n"
    assert notebook.check("dot-product", source).verdict.outcome == "passed"
    assert session.kata_of(attention_scores.__name__).name == "dot-product"


def test_what_is_not_started_needs_no_judge(session):
    stub = session.catalog["softmax"].stub.read_text(encoding="utf-8")
    assert notebook.check("softmax", stub).verdict.outcome == "not started"


def test_the_desk_answers_and_tells(session):
    told = []
    session.open(told.append)
    assert told[0]["event"] == "hello"
    notebook.check("softmax", CELL)
    assert [each["event"] for each in told] == ["hello", "saved", "verdict"]
    answer = session.answer({"panel": "lookup", "id": 1, "ask": labs.LOOKUP})
    assert answer["weights"]["state"] == "yours"
    assert answer["scores"]["state"] == "unwritten"
    assert session.answer({"panel": "none"})["unclear"]


def test_a_widget_that_is_gone_does_not_break_a_cell(session):
    told = []

    def gone(message):
        if message["event"] != "hello":
            raise RuntimeError("the line is closed")

    for tell in (gone, told.append):
        session.open(tell)
    assert notebook.check("softmax", CELL).verdict.outcome == "failed"
    assert session._tells == [told.append]
    session.open(told.append)  # the same again, as after a reload
    assert len(session._tells) == 1
    session.leave(told.append)
    assert not session._tells
    for nonsense in ({}, {"panel": ["a"]}, {"panel": "lookup", "ask": None}):
        assert session.answer(nonsense)["unclear"]
    assert session.answer({"panel": "none", "id": float("nan")})["id"] is None


def test_the_magic_judges_a_cell_and_runs_it(session):
    pytest.importorskip("IPython")
    from IPython.core.error import UsageError
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "attention_katas.notebook")
    shell.run_cell_magic("kata", "softmax", CELL)
    assert "softmax" in shell.user_ns
    assert session.verdicts["softmax"]["outcome"] == "failed"
    with pytest.raises(UsageError, match="did you mean 'softmax'"):
        shell.run_cell_magic("kata", "softmaxx", CELL)


def test_without_anywidget_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    notebook._widget.cache_clear()
    with pytest.raises(KataError, match="needs anywidget"):
        notebook.lab()
    notebook._widget.cache_clear()


def test_the_widget_is_one_module(session):
    script = export.widget_script()
    assert not re.search(r"^import ", script, re.M)
    assert script.rstrip().endswith('export default modules["widget.js"].default;')
    style = export.widget_style()
    assert ":root" not in style
    assert "@media (max-width" not in style


def test_the_widget_draws_in_a_shadow(chromium, session):
    """In a page of nobody's, with a model that answers as anywidget's does."""
    notebook.check("softmax", CELL)
    tab = chromium.new_context().new_page()
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.set_content("<!doctype html><title>notebook</title><body><h1>Mine</h1><div></div></body>")
    tab.expose_function("answer", lambda text: json.dumps(session.answer(json.loads(text))))
    hello = []
    session.open(hello.append)
    tab.evaluate(
        """async ([script, style, hello]) => {
          const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
          const widget = (await import(address)).default;
          const acts = [];
          const reply = async (asked) => JSON.parse(await answer(JSON.stringify(asked)));
          const model = {
            get: () => style,
            on: (_, act) => acts.push(act),
            send: async (asked) => {
              const told = asked.panel === "open" ? hello : await reply(asked);
              acts.forEach((act) => act(told));
            },
          };
          widget.render({ el: document.querySelector("div"), model });
        }""",
        [export.widget_script(), export.widget_style(), json.loads(json.dumps(hello[0]))],
    )
    tab.wait_for_selector(".attention-lab #lookup[data-states]")
    assert tab.locator("#lookup").get_attribute("data-states") == "unwritten yours unwritten"
    assert tab.locator("#lookup .tutor").count() == 1
    heading = tab.locator("h1").evaluate("el => getComputedStyle(el).fontSize")
    assert heading == "32px"  # the page's own style has not leaked
    assert not faults
    tab.context.close()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


CELLS = (
    "%load_ext attention_katas.notebook\nfrom attention_katas.notebook import lab",
    "lab()",
    f"%%kata softmax\n{CELL}",
)
MARIMO = f"""import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from attention_katas.notebook import check, lab

    check("softmax", {CELL!r})
    return lab, mo


@app.cell
def _(lab, mo):
    mo.ui.anywidget(lab())
    return
"""


def in_notebook(browser, command, folder, address, ready, run):
    """Drive a real notebook: the lab appears, with a cell's softmax and its diagnosis."""
    environment = {**os.environ, "KATA_COLD": "1"}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        environment[name] = str(folder / name)
    command = [sys.executable, "-m", *command]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    tab = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    # Alone it takes 15 s, most of it the start of server and kernel; six at once on two cores 80 s.
    tab.set_default_timeout(240_000)
    outside = []
    ours = re.compile(r"(http|ws)://127\.0\.0\.1|data:|blob:")
    tab.on("request", lambda asked: None if ours.match(asked.url) else outside.append(asked.url))
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                tab.goto(address)
                break
            except Exception:  # noqa: BLE001 - it is not up yet
                time.sleep(0.5)
        tab.wait_for_selector(ready)
        run(tab)
        tab.wait_for_selector('.attention-lab #lookup[data-states="unwritten yours unwritten"]')
        tab.wait_for_selector(".attention-lab #lookup .tutor")
        tab.locator('[data-handle="query"]').press("Home")
        tab.wait_for_selector('#lookup .bars[aria-label="weights"] .value:text-is("0.25")')
    except Exception as error:
        seen = tab.locator("body").inner_text()[-2000:]
        log = (folder / "log").read_text(errors="replace")[-2000:]
        raise AssertionError(f"{error}\nthe page says:\n{seen}\nthe log says:\n{log}") from error
    finally:
        tab.context.close()
        process.terminate()
        process.wait(20)
    assert not outside


def test_jupyterlab(chromium, tmp_path):
    for name in ("jupyterlab", "anywidget"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "outputs": [],
         "execution_count": None}
        for n, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    written = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
               "nbformat_minor": 5}  # fmt: skip
    (tmp_path / "n.ipynb").write_text(json.dumps(written), encoding="utf-8")
    port = free_port()
    command = ["jupyterlab", "--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
               "--ServerApp.token=t", f"--ServerApp.root_dir={tmp_path}",
               "--LabApp.news_url=None"]  # fmt: skip

    def run(tab):
        tab.locator(".jp-CodeCell").first.click()
        tab.wait_for_function(
            """() => document.querySelector(".jp-Notebook-ExecutionIndicator")
              ?.dataset.status === "idle" """
        )
        tab.locator(".lm-MenuBar-item", has_text=re.compile("^Run$")).click()
        tab.locator(".lm-Menu-item", has_text=re.compile("^Run All Cells$")).click()

    address = f"http://127.0.0.1:{port}/lab/tree/n.ipynb?token=t"
    in_notebook(chromium, command, tmp_path, address, ".jp-CodeCell", run)


def test_marimo(chromium, tmp_path):
    for name in ("marimo", "anywidget"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    (tmp_path / "n.py").write_text(MARIMO, encoding="utf-8")
    port = free_port()
    command = ["marimo", "run", "--headless", "--host", "127.0.0.1", "--port", str(port),
               "--no-token", "n.py"]  # fmt: skip
    address = f"http://127.0.0.1:{port}/"
    in_notebook(chromium, command, tmp_path, address, "body", lambda tab: None)


def test_the_toy_is_the_same_everywhere():
    assert labs.LOOKUP["values"] == [list(each) for each in examples.VALUES]
