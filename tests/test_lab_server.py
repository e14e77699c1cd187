"""The lab without a browser: what its page hears, and who is not let in."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
import torch
from websockets.exceptions import ConnectionClosed, InvalidStatus

from attention_katas.devices import Device
from attention_katas.lab import examples, json_numbers
from attention_katas.lab.export import page
from attention_katas.lab.open_browser import RedirectFile
from attention_katas.lab.panels import cost
from attention_katas.lab.panels import params as asking
from attention_katas.packs.workspace import create
from attention_katas.sandbox import usage
from tests import labs
from tests.labs import LOOKUP, ask, hear

SENTENCE = {"sentence": "tired", "head": "L3H1", "causal": False, "divide": True}


def status(lab, path, **headers):
    request = urllib.request.Request(f"{lab.origin}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


# Who is let in.


def test_the_page_needs_the_token(lab):
    assert status(lab, "/")[0] == 403
    assert status(lab, "/?token=another")[0] == 403
    code, headers, body = status(lab, f"/?token={labs.TOKEN}")
    assert code == 200
    assert b"computed by your own code" in body
    assert "default-src 'none'" in headers["content-security-policy"]


def test_nothing_but_the_page_is_served(lab):
    assert status(lab, "/main.js")[0] == 200
    for path in (
        "/../lab.py",
        "/%2e%2e/lab.py",
        "/..%2flab.py",
        "/lab.py",
        "/page/main.js",
        "/x.js",
        f"/{'a' * 300}.js",
        "/a%00.js",
    ):
        assert status(lab, path)[0] == 404, path


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:80"])
def test_another_host_is_refused(lab, host):
    assert status(lab, f"/?token={labs.TOKEN}", Host=host)[0] == 403


def test_a_foreign_origin_is_refused(lab):
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{lab.port + 1}", None):
        with pytest.raises(InvalidStatus), lab.line(origin=origin):
            pass
    assert status(lab, f"/?token={labs.TOKEN}", Origin="http://evil.example")[0] == 403


def test_a_line_needs_the_token(lab):
    for token in ("", "another", labs.TOKEN[:-1]):
        with pytest.raises(InvalidStatus), lab.line(token):
            pass


def test_it_listens_on_this_machine_alone(lab):
    listening = subprocess.run(["ss", "-ltnH"], capture_output=True, text=True, check=False)
    if listening.returncode:
        pytest.skip("no ss here")
    mine = [line for line in listening.stdout.splitlines() if f":{lab.port} " in line]
    assert all(f"127.0.0.1:{lab.port} " in line for line in mine)


# What is asked and answered.


def test_hello_says_what_there_is_to_draw(lab):
    with lab.line() as line:
        hello = hear(line, "hello")
    assert [kata["name"] for kata in hello["katas"]] == [k.name for k in lab.catalog.ready]
    assert hello["scene"]["lookup"]["words"] == list(examples.WORDS)


def test_every_number_of_a_lookup_is_the_learners(lab):
    with lab.line() as line:
        answer = ask(line, "lookup", **LOOKUP)
    for name in ("scores", "weights", "blend"):
        assert answer[name]["state"] == "yours"
        assert answer[name]["agrees"]
    assert sum(answer["weights"]["yours"]) == pytest.approx(1)
    assert answer["weights"]["file"] == "softmax.py"
    assert answer["figures"]["yours"] == answer["figures"]["right"]


def test_the_trained_head_finds_the_animal(lab):
    with lab.line() as line:
        answer = ask(line, "sentence", **SENTENCE)
        before = ask(line, "sentence", **{**SENTENCE, "head": "L0H2"})
    tokens = answer["tokens"]
    it, animal = tokens.index("it"), tokens.index("animal")
    assert answer["weights"]["yours"][it][animal] == pytest.approx(0.677, abs=1e-3)
    previous = [before["weights"]["yours"][i][i - 1] for i in range(1, len(tokens))]
    assert min(previous) > 0.99


def test_masked_scores_travel_as_words_and_weights_as_zeros(lab):
    with lab.line() as line:
        answer = ask(line, "steps", sentence="tired", head="A", causal=True, row=2)
    assert answer["mask"]["yours"] == [1, 1, 1] + 9 * [0]
    assert answer["softmax"]["yours"][3:] == 9 * [0]


def test_cross_attention_reads_the_other_sentence(lab):
    with lab.line() as line:
        answer = ask(line, "wiring")
    meaning = answer["cross"]["yours"][0]
    chat, noir = examples.TARGET.index("chat"), examples.TARGET.index("noir")
    assert max(meaning[chat]) == meaning[chat][examples.SOURCE.index("cat")]
    assert max(meaning[noir]) == meaning[noir][examples.SOURCE.index("black")]
    assert all(sum(row) == pytest.approx(1) for head in answer["self"]["yours"] for row in head)


def test_cost_is_measured_on_the_learners_code(lab):
    with lab.line() as line:
        one = ask(line, "cost", what="length", n=64)
        many = ask(line, "cost", what="heads", heads=4)
    assert one["yours_ms"] > 0
    assert many["yours_ms"] > 0
    assert one["step"]["state"] == many["step"]["state"] == "yours"
    # Both are the reference's own code, in processes of the same kind.
    if not one["scatters"]:
        assert 1 / 3 < one["yours_ms"] / one["right_ms"] < 3
    assert cost.multiply_adds(192, 256, 1) == cost.multiply_adds(192, 256, 16)


def test_undivided_scores_saturate(lab):
    with lab.line() as line:
        curves = ask(line, "width")["curves"]
    raw, divided = curves["raw"][-1]["yours"], curves["divided"][-1]["yours"]
    assert raw["spread"] == pytest.approx(512**0.5, rel=0.2)
    assert divided["spread"] == pytest.approx(1, rel=0.2)
    assert raw["gradient"] < divided["gradient"] / 3


def test_each_function_agrees_by_its_own_answers(lab):
    lab.unwrite("softmax")
    with lab.line() as line:
        answer = ask(line, "width")
    assert answer["steps"]["attention_scores"]["agrees"]
    assert answer["steps"]["scaled_scores"]["agrees"]
    assert answer["steps"]["softmax"]["state"] == "unwritten"
    for point in answer["curves"]["raw"] + answer["curves"]["divided"]:
        assert point["yours"] == {"spread": point["right"]["spread"]}


def test_a_gradient_that_does_not_come_back_is_told(lab):
    cut = "    p = x.detach().exp()\n    return p / p.sum(dim, keepdim=True)\n"
    lab.write("softmax.py", f"def softmax(x, dim=-1):\n{cut}")
    with lab.line() as line:
        figures = ask(line, "lookup", **LOOKUP)["figures"]
    assert figures["yours"]["entropy"] == figures["right"]["entropy"]
    assert figures["yours"]["gradient"] is None


# What goes wrong.


def test_a_loop_and_a_print_belong_to_the_file_that_has_them(lab):
    mask = lab.catalog["mask"].reference.read_text("utf-8")
    uses = "\n\ndef masked_weights(scores, keep=None):\n    return softmax(scores)\n"
    lab.write("mask.py", "from softmax import softmax\n" + mask + uses)
    lab.write("softmax.py", "def softmax(x, dim=-1):\n    print(1)\n    return x\n")
    asked = {**SENTENCE, "causal": True}
    with lab.line() as line:
        assert ask(line, "sentence", **asked)["weights"]["printers"] == "softmax.py"
        lab.write("softmax.py", labs.ENDLESS)
        weights = ask(line, "sentence", **asked)["weights"]
    assert (weights["state"], weights["culprit"]) == ("stopped", "softmax.py")
    assert weights["where"]["line"] == 2


def test_nothing_returned_asks_for_the_return(lab):
    lab.write("softmax.py", "def softmax(x, dim=-1):\n    x.exp()\n")
    with lab.line() as line:
        weights = ask(line, "lookup", **LOOKUP)["weights"]
    assert weights["message"] == "softmax returned None; is a return missing?"


def test_a_function_that_is_not_written_is_drawn_by_the_reference(lab):
    lab.unwrite("softmax")
    with lab.line() as line:
        hello = hear(line, "hello")
        answer = ask(line, "lookup", **LOOKUP)
    assert answer["weights"]["state"] == "unwritten"
    assert "yours" not in answer["weights"]
    assert sum(answer["weights"]["right"]) == pytest.approx(1)
    assert answer["scores"]["state"] == "yours"
    assert next(k for k in hello["katas"] if k["name"] == "softmax")["unwritten"] == ["softmax"]


def test_an_exception_says_where(lab):
    lab.write("softmax.py", labs.RAISES)
    with lab.line() as line:
        weights = ask(line, "lookup", **LOOKUP)["weights"]
    assert weights["state"] == "raised"
    assert weights["exception"] == "AttributeError"
    assert weights["where"] == {
        "file": "softmax.py",
        "line": 2,
        "code": "return x.no_such_method()",
    }


def test_a_file_that_does_not_parse_says_where(lab):
    lab.write("softmax.py", labs.SYNTAX)
    with lab.line() as line:
        weights = ask(line, "lookup", **LOOKUP)["weights"]
    assert weights["state"] == "broken"
    assert weights["exception"] == "SyntaxError"
    assert weights["where"]["line"] == 1


def test_nan_travels_as_a_word_with_a_flag(lab):
    lab.write("softmax.py", labs.OVERFLOW)
    with lab.line() as line:
        line.send(json.dumps({"panel": "lookup", "id": 1, "ask": LOOKUP}))
        hear(line, "hello")
        while '"answer"' not in (text := line.recv(timeout=20)):
            pass
    assert "NaN" not in text
    weights = json.loads(text)["weights"]
    assert weights["yours"][0] == "nan"
    assert weights["finite"] is False


def test_another_shape_is_said_and_not_drawn(lab):
    lab.write("softmax.py", "def softmax(x, dim=-1):\n    return x.sum(dim)\n")
    with lab.line() as line:
        weights = ask(line, "lookup", **LOOKUP)["weights"]
    assert weights["state"] == "shape"
    assert weights["message"] == "shape (1,) came back, expected (1, 4)"


def test_another_type_is_said_and_not_drawn(lab):
    lab.write("softmax.py", "def softmax(x, dim=-1):\n    return x > 0\n")
    lab.write("scale.py", "def scaled_scores(q, k):\n    return (q @ k.T).long()\n")
    with lab.line() as line:
        answer = ask(line, "lookup", **LOOKUP)
        steps = ask(line, "width")["steps"]
    assert answer["weights"]["state"] == answer["scores"]["state"] == "dtype"
    wanted = "torch.bool came back, expected torch.float64"
    assert answer["weights"]["message"] == wanted
    assert answer["figures"]["yours"] is None
    assert steps["softmax"]["message"] == wanted


def test_a_figure_is_of_who_computed_it(lab):
    lab.unwrite("scale")
    with lab.line() as line:
        found = ask(line, "lookup", **LOOKUP)["figures"]["yours"]
    assert "spread" not in found
    assert found["largest"] == pytest.approx(0.744, abs=1e-3)


BACKWARD = """import torch


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        p = (x - x.amax(-1, keepdim=True)).exp()
        return p / p.sum(-1, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        {does}


def softmax(x, dim=-1):
    return Slow.apply(x)
"""


def test_backward_has_words_of_its_own(lab):
    with lab.line() as line:
        for does, words in (
            ("raise ValueError('later')", "ValueError: later (softmax.py:12)"),
            ("return None", "no gradient came back"),
        ):
            lab.write("softmax.py", BACKWARD.format(does=does))
            answer = ask(line, "lookup", **LOOKUP)
            assert answer["weights"]["state"] == "yours"
            assert answer["weights"]["backward"] == words
            assert answer["figures"]["yours"]["gradient"] is None
        lab.write("softmax.py", BACKWARD.format(does="while True: pass"))
        for n in range(4):
            said = ask(line, "lookup", n, **LOOKUP)["weights"]["backward"]
            assert said.startswith("stopped")
            # Nobody else pays for it.
            assert ask(line, "sentence", **SENTENCE)["weights"]["state"] == "yours"
    assert said == "stopped 3 times; save softmax.py to try again"


def test_the_fork_server_can_be_lost(lab):
    with lab.line() as line:
        assert ask(line, "lookup", **LOOKUP)["weights"]["agrees"]
        lab.lab._processes._first._process.kill()
        time.sleep(0.2)
        answers = [ask(line, "lookup", n, **LOOKUP) for n in range(2)]
    assert sum("unclear" in each for each in answers) <= 1
    assert all(answers[-1][name]["agrees"] for name in ("scores", "weights", "blend"))


def test_a_step_that_only_got_wrong_scores_is_not_blamed(lab):
    lab.write("scale.py", "def scaled_scores(q, k):\n    return q @ k.transpose(-2, -1)\n")
    with lab.line() as line:
        answer = ask(line, "lookup", **LOOKUP)
    assert not answer["scores"]["alone"]
    assert not answer["weights"]["agrees"]
    assert answer["weights"]["alone"]


def test_an_endless_loop_is_stopped_and_a_spare_answers(lab):
    with lab.line() as line:
        ask(line, "lookup", **LOOKUP)
        lab.write("softmax.py", labs.ENDLESS)
        stopped = ask(line, "lookup", **LOOKUP)
        assert stopped["weights"]["state"] == "stopped"
        assert stopped["scores"]["state"] == "yours"
        lab.restore()
        hear(line, "saved")
        started = time.perf_counter()
        assert ask(line, "lookup", **LOOKUP)["weights"]["state"] == "yours"
        # A spare stood ready: nobody waited for torch to be imported, which takes seconds.
        assert time.perf_counter() - started < 1.5


def test_a_loop_is_not_tried_for_ever(lab):
    lab.write("softmax.py", labs.ENDLESS)
    with lab.line() as line:
        said = [ask(line, "lookup", n, **LOOKUP)["weights"]["message"] for n in range(4)]
    assert said[-1] == "stopped 3 times; save softmax.py to try again"


def test_the_newest_position_wins(lab):
    slow = "import time\n\n\n" + labs.NO_SUM.replace(
        "    return", "    time.sleep(0.2)\n    return"
    )
    lab.write("softmax.py", slow)
    with lab.line() as line:
        ask(line, "lookup", **LOOKUP)
        for n in range(2, 42):
            asked = {**LOOKUP, "query": [n / 20, 0.0]}
            line.send(json.dumps({"panel": "lookup", "id": n, "ask": asked}))
        answered = []
        while not answered or answered[-1] != 41:
            answered.append(hear(line, "answer")["id"])
    assert len(answered) < 6  # the first of them, perhaps one in between, and the last


def test_a_save_is_told_and_the_verdict_follows(lab):
    with lab.line() as line:
        ask(line, "lookup", **LOOKUP)
        lab.write("softmax.py", labs.WRONG_AXIS)
        assert hear(line, "saved")["files"] == ["softmax.py"]
        verdict = hear(line, "verdict", kata="softmax", outcome="failed")
    (found,) = verdict["diagnoses"]
    assert found["says"] == "sums along the wrong axis"
    assert found["hint"] == "kata hint softmax --level 2"


def test_what_makes_no_sense_is_answered_in_words(lab):
    with lab.line() as line:
        hear(line, "hello")
        for text in (
            "x",
            "[]",
            '{"panel": 1}',
            '{"panel": "none"}',
            '{"panel": "cost", "ask": 3}',
            '{"panel": "lookup", "id": NaN}',
            '{"panel": "lookup", "id": "1"}',
            '{"panel": "lookup", "id": 1e400}',
            "[" * 15000,
        ):
            line.send(text)
            assert hear(line, "answer")["unclear"]
        assert "point" in ask(line, "lookup", **{**LOOKUP, "query": ["x"]})["unclear"]
        assert "d_k" in ask(line, "lookup", **{**LOOKUP, "d_k": 2.0})["unclear"]
        huge = ask(line, "lookup", **{**LOOKUP, "temperature": 10**400})
        assert huge["unclear"] == "temperature is not a finite number"
        assert "head" in ask(line, "sentence", **{**SENTENCE, "head": ["A"]})["unclear"]
        assert ask(line, "lookup", **LOOKUP)["weights"]["agrees"]


def test_what_is_no_text_ends_the_line(lab, capfd):
    with lab.line() as line:
        hear(line, "hello")
        line.send(b"\x80\x04")
        with pytest.raises(ConnectionClosed, match="1003"):
            line.recv(timeout=5)
    with lab.line() as line:
        hear(line, "hello")
        line.socket.sendall(b"\x81\x82\0\0\0\0\xff\xfe")  # text that is not UTF-8
        with pytest.raises(ConnectionClosed, match="1007"):
            line.recv(timeout=5)
    assert capfd.readouterr().err == ""


def test_numbers_of_the_page_are_brought_into_range():
    assert asking.whole({"row": 1e9}, "row", 0, 11) == 11
    for bad in (None, "1", True, float("nan"), [1]):
        with pytest.raises(asking.Unclear):
            asking.numeral({"x": bad}, "x", 0, 1)


def test_numbers_as_words():
    odd = torch.tensor([[1.0, float("nan")], [float("inf"), float("-inf")]])
    assert json_numbers.cells(odd) == [[1.0, "nan"], ["inf", "-inf"]]
    assert json_numbers.close(odd, odd)
    assert not json_numbers.close(odd, odd.nan_to_num())
    ones = torch.ones(2, dtype=torch.float64)
    tolerance = Device("cpu").tolerance(torch.float64)  # the judge's, of 1 + |expected|
    assert json_numbers.close(ones + 1.9 * tolerance, ones)
    assert not json_numbers.close(ones + 2.1 * tolerance, ones)
    assert json_numbers.near(torch.ones(2).double() + 1e-5, torch.ones(2))
    assert not json_numbers.near(torch.ones(2).double() + 1e-2, torch.ones(2))


def test_where_nothing_can_be_forked(catalog, tmp_path):
    found = labs.Running(catalog, tmp_path / "lab", spawn=True)
    try:
        with found.line() as line:
            answers = [ask(line, "lookup", n, **LOOKUP) for n in range(3)]
            found.write("softmax.py", labs.ENDLESS)
            assert ask(line, "lookup", **LOOKUP)["weights"]["state"] == "stopped"
    finally:
        found.close()
    assert all(answers[-1][name]["agrees"] for name in ("scores", "weights", "blend"))


def test_the_exported_page_asks_for_nothing():
    text = page()
    assert "import " not in re.sub(r'"[^"]*"|//.*', "", text.split("<script")[-1])
    assert not re.search(r'(?:src|href)="(?!#)', text.split("<body>")[0])
    assert '<script type="application/json" id="frozen">' in text


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_the_command_from_start_to_end(catalog, tmp_path):
    """`kata lab` with a real judge: it prints its address, names a mistake, and ends on Ctrl-C."""
    space, _, _ = create(tmp_path, catalog)
    shutil.copyfile(catalog["softmax"].reference, tmp_path / "softmax.py")
    command = [sys.executable, "-m", "attention_katas", "lab", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=space.root, stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    try:
        lines = iter(process.stdout.readline, "")
        port, token = next(
            found.groups()
            for line in lines
            if (found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line))
        )
        origin = f"http://127.0.0.1:{port}"
        with labs.connect(f"ws://127.0.0.1:{port}/line?token={token}", origin=origin) as line:
            assert ask(line, "lookup", **LOOKUP)["weights"]["agrees"]
            hear(line, "verdict", kata="softmax", outcome="passed")
            raw = labs.HALVED.replace("x / 2", "x")
            (tmp_path / "softmax.py").write_text(raw, encoding="utf-8")
            verdict = hear(line, "verdict", kata="softmax", outcome="failed")
        assert "overflow" in verdict["diagnoses"][0]["says"]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "the lab is closed" in process.stdout.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# How a browser is opened.

XDG = """#!/bin/sh
printf '%s' "$1" > "{folder}/asked"
ps -o pgid= -p $$ > "{folder}/group"
exit {status}
"""


def redirect_file(tmp_path, monkeypatch, status):
    for name in ("xdg-open", "open"):
        (tmp_path / name).write_text(XDG.format(folder=tmp_path, status=status))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return RedirectFile("http://127.0.0.1:8137/?token=secret&x")


@pytest.mark.skipif(sys.platform == "win32", reason="modes and groups are others there")
def test_a_browser_is_led_by_a_private_file(tmp_path, monkeypatch):
    found, came_in, failed = (
        redirect_file(tmp_path, monkeypatch, 0),
        threading.Event(),
        threading.Event(),
    )
    assert found.path.stat().st_mode & 0o777 == 0o600
    assert found.path.parent.stat().st_mode & 0o777 == 0o700
    assert "url=http://127.0.0.1:8137/?token=secret&amp;x" in found.path.read_text()
    found.open(came_in, failed.set)
    wait_for(lambda: (tmp_path / "group").exists() and (tmp_path / "group").read_text())
    asked = (tmp_path / "asked").read_text()
    assert asked == found.path.as_uri()
    assert "secret" not in asked
    assert int((tmp_path / "group").read_text()) != os.getpgrp()  # Ctrl-C does not reach it
    came_in.set()
    wait_for(lambda: not found.path.parent.exists())
    assert not failed.is_set()


@pytest.mark.skipif(sys.platform == "win32", reason="modes and groups are others there")
def test_no_browser_is_said(tmp_path, monkeypatch):
    found, failed = redirect_file(tmp_path, monkeypatch, 3), threading.Event()
    found.open(threading.Event(), failed.set)
    assert failed.wait(5)
    wait_for(lambda: not found.path.parent.exists())


def wait_for(condition):
    until = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_who_waits_counts_wall_time(monkeypatch):
    """On a busy machine a loop that has had a quarter of its limit is over when the limit is."""
    waited = usage.Usage(seconds=0.2, waits={"1": 0.9})
    monkeypatch.setattr(usage, "usage", lambda pid: waited)
    for hasty in (False, True):
        found = usage.UsageMonitor(1, 0.6, hasty)
        found.before = usage.Usage(waits={"1": 0.0})
        found.started -= 0.9
        found.look()
        assert found.out_of_time is hasty
