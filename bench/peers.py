"""The same answers through our judge and through its peers.
python bench/peers.py [--quick | --smoke]

Wrong and right answers (bench/peers_answers.py, chosen by us) go to this judge and to torch-judge
and torchleet, where those are installed: who accepts what, what each says first, and how long it
takes once torch is imported. No verdict (the peer hangs, or ends with the answer) counts as not
right. Peers are no dependencies: pip install --no-deps torch-judge torchleet
--markdown prints the table for a README. The last line is JSON: `answers`, and for each judge
(`ours`, `torch_judge`, `torchleet`; null for one that is not installed) what FIGURES names.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from measurement import QUICK, SMOKE, add_sizes, ensure, median, report
from peers_answers import ANSWERS, ATTENTION, CAUSAL, CROSS, MULTI_HEAD, SOFTMAX, Answer

INSTALL = "pip install --no-deps torch-judge torchleet"
# Which answers are asked, of those that are left when one that never ends is taken out.
SIZES = {QUICK: slice(None, None, 2), SMOKE: slice(None, 12, 4)}
FIGURES = (
    "asked",
    "right",
    "wrong_accepted",
    "right_rejected",
    "no_verdict",
    "wrong_rejected",
    "distinct_messages",
    "median_s",
)
TIMEOUT_S = 10.0
ACCEPTED, REJECTED, NO_VERDICT = "accepted", "rejected", "no verdict"
NUMBERS = re.compile(r"[-+]?\d[\d.e+-]*(?:, [-+]?\d[\d.e+-]*)*")
MARKS = {ACCEPTED: "✓", REJECTED: "✗", NO_VERDICT: "?"}


@dataclass(frozen=True)
class Reply:
    """What one judge made of one answer."""

    outcome: str
    message: str
    seconds: float

    def errs(self, right: bool) -> bool:
        """A wrong answer accepted, or a right one rejected. To give no verdict is neither."""
        return self.outcome == (REJECTED if right else ACCEPTED)


# From an answer's neutral function to each judge's interface. The computation is the answer's.

# Our attention kata wants two functions more, and multi-head and cross-attention want ValueError
# for a width that does not divide and a `keep` for padding. No peer asks for any of that; the
# reference and these lines give it to every answer.
OURS = {
    SOFTMAX: ("softmax", ""),
    ATTENTION: (
        "mask",
        """
def scaled_dot_product_attention(q, k, v, causal=True):
    return attention(q, k, v, causal)
""",
    ),
    MULTI_HEAD: (
        "multihead",
        """
def multi_head_attention(x, weights, num_heads, causal=False, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    allowed = None
    if causal or keep is not None:
        allowed = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device)
        allowed = allowed.tril() if causal else allowed
        allowed = allowed if keep is None else allowed & keep[:, None, None, :]
    return multi_head(x, x, x, weights, num_heads, allowed)
""",
    ),
    CROSS: (
        "cross-attention",
        """
def cross_attention(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    allowed = None if keep is None else keep[:, None, None, :]
    return multi_head(x, context, context, weights, num_heads, allowed)
""",
    ),
}
OURS[CAUSAL] = OURS[ATTENTION]  # one exercise for both: the same function with and without mask

# torch-judge finds the function among the globals of the code that calls check(). Its statement
# names the four layers of multi-head, so an answer in a class with other names is not asked here.
LAYERS = """
class Layers(torch.nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in "qkvo":
            setattr(self, "W_" + name, torch.nn.Linear(d_model, d_model))

    def weights(self):
        layers = {name: getattr(self, "W_" + name) for name in "qkvo"}
        weights = {"w_" + name: layer.weight for name, layer in layers.items()}
        return weights | {"b_" + name: layer.bias for name, layer in layers.items()}


"""
TORCH_JUDGE = {
    SOFTMAX: "my_softmax = softmax\ntorch_judge.check('softmax')\n",
    ATTENTION: """
def scaled_dot_product_attention(Q, K, V):
    return attention(Q, K, V)

torch_judge.check("attention")
""",
    CAUSAL: """
def causal_attention(Q, K, V):
    return attention(Q, K, V, causal=True)

torch_judge.check("causal_attention")
""",
    MULTI_HEAD: f"""{LAYERS}
class MultiHeadAttention(Layers):
    def forward(self, Q, K, V):
        return multi_head(Q, K, V, self.weights(), self.num_heads)

torch_judge.check("mha")
""",
    CROSS: f"""{LAYERS}
class MultiHeadCrossAttention(Layers):
    def forward(self, x_q, x_kv):
        return multi_head(x_q, x_kv, x_kv, self.weights(), self.num_heads)

torch_judge.check("cross_attention")
""",
}

# torchleet hands attention a mask, True = may attend as here, and it is always the lower triangle:
# answers make their own. Multi-head makes random projections inside, without biases; its checks
# are made for that, and compare no numbers with a reference. (Its transformer problem looks closer
# at multi-head attention, one of the five classes that it asks for.) It has no cross-attention.
TORCHLEET = {
    SOFTMAX: "torchleet.check('softmax', softmax)\n",
    ATTENTION: """
def scaled_dot_product_attention(q, k, v, mask=None):
    return attention(q, k, v, causal=mask is not None)

torchleet.check("implement-attention-from-scratch", scaled_dot_product_attention)
""",
    MULTI_HEAD: """
def multi_head_attention(q, k, v, num_heads, d_model, mask=None):
    layers = {name: torch.nn.Linear(d_model, d_model, bias=False) for name in "qkvo"}
    w = {"w_" + name: layer.weight for name, layer in layers.items()}
    w |= {"b_" + name: torch.zeros(d_model) for name in "qkvo"}
    return multi_head(q, k, v, w, num_heads, mask)

torchleet.check("multi-head-attention", multi_head_attention)
""",
}
TORCHLEET[CAUSAL] = TORCHLEET[ATTENTION]


@dataclass(frozen=True)
class Peer:
    """A judge from PyPI.

    start: lines that come before the answer, so that progress is written here and nowhere else.
    solved: does its progress file say so? That, read when the process is over, is acceptance.
    complaint: what it prints about a check that failed; the last group is its message.
    """

    name: str
    tasks: dict[str, str]
    start: str
    solved: Callable[[dict[str, dict[str, str]]], bool]
    complaint: str

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")


PEERS = (
    Peer(
        "torch-judge",
        TORCH_JUDGE,
        "import torch_judge.progress\ntorch_judge.progress.PROGRESS_PATH = 'progress.json'\n",
        lambda progress: any(entry["status"] == "solved" for entry in progress.values()),
        r"(?:❌|💥) .*\n\s+(.*)",
    ),
    Peer(
        "torchleet",
        TORCHLEET,
        "import pathlib\nimport torchleet.runner\n"
        "torchleet.runner.PROGRESS = pathlib.Path('progress.json')\n",
        bool,
        r"❌ .*? — (.*)",
    ),
)


def ask_peer(peer: Peer, answer: Answer) -> Reply:
    """Run the answer and the peer's check in a process of its own, made by a fork."""
    source = peer.start + answer.source + peer.tasks[answer.task]
    with tempfile.TemporaryDirectory() as folder:
        started, pid = time.perf_counter(), os.fork()
        if not pid:
            run_in(folder, source)
        in_time = ended(pid, TIMEOUT_S)
        seconds = time.perf_counter() - started
        printed = (Path(folder) / "printed").read_text(encoding="utf-8", errors="replace")
        progress = Path(folder) / "progress.json"
        if progress.exists() and peer.solved(json.loads(progress.read_text(encoding="utf-8"))):
            return Reply(ACCEPTED, "", seconds)
    printed = re.sub(r"\x1b\[\d*m", "", printed)
    complaint = re.search(peer.complaint, printed)
    if not in_time:
        return Reply(NO_VERDICT, f"still running after {TIMEOUT_S:.0f} s", seconds)
    if complaint:
        return Reply(REJECTED, complaint[1].strip(), seconds)
    last = [line for line in printed.splitlines() if line.strip("─ ")][-1:]
    return Reply(NO_VERDICT, f"ends after {' '.join(last).strip() or 'nothing'!r}", seconds)


def run_in(folder: str, source: str) -> None:
    """In the fork: run the source as a script of that folder would run. Does not come back."""
    os.setsid()
    os.chdir(folder)
    output = os.open("printed", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    try:
        exec(compile(source, "answer.py", "exec"), {"__name__": "__main__"})
    except BaseException:  # noqa: BLE001
        print(traceback.format_exc())
    sys.stdout.flush()
    os._exit(0)


def ended(pid: int, seconds: float) -> bool:
    """Wait for the process. False if it had to be killed after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def ask_us(answers: Iterable[Answer]) -> list[Reply]:
    """Our judge on all of them, one after the other, with the processes that it always has."""
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.submission import Submission
    from attention_katas.service.local import Local

    catalog, replies = load_catalog(), []
    with contextlib.closing(Local(catalog, device="cpu")) as service:
        for answer in answers:
            name, adapter = OURS[answer.task]
            kata = catalog[name]
            reference = kata.reference.read_text(encoding="utf-8") if adapter else ""
            source = f"{reference}\n{answer.source}{adapter}"
            nothing: dict[str, frozenset[str]] = {kata.module: frozenset()}
            submission = Submission(kata, {kata.module: source}, kata.file, nothing)
            verdict = service.judge(submission, seed=0)
            outcome = {"passed": ACCEPTED, "could not grade": NO_VERDICT}.get(verdict.outcome)
            message = "" if outcome == ACCEPTED else message_of(verdict)
            replies.append(Reply(outcome or REJECTED, message, verdict.seconds))
    return replies


def message_of(verdict: Any) -> str:
    """The first thing that a learner reads: the mistake by name, or what is broken, or how."""
    from attention_katas.verdict import words

    for diagnosis in verdict.diagnoses:
        text = "; and ".join(cause.title for cause in diagnosis.causes)
        text = text or next(map(words.symptom, diagnosis.symptoms), "")
        if text:
            return text
    first = verdict.first_failure
    if first is None or first.reason is None:
        return words.verdict(verdict)
    raised = first.evidence and first.evidence.raised
    sentence = words.check(first)
    return f"{sentence}: {raised.message}" if raised else sentence


def short(text: str, length: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


JUDGES = ("ours", *(peer.name for peer in PEERS))


def prefix(judge: str) -> str:
    return judge.replace("-", "_")


def figures(answers: list[Answer], replies: dict[str, list[Reply | None]]) -> dict[str, object]:
    """The counts of the last line. Sentences count as different if more than numbers differ."""
    result: dict[str, object] = {"answers": len(answers)}
    for judge in JUDGES:
        pairs = zip(answers, replies.get(judge, []), strict=False)
        asked = [(answer, reply) for answer, reply in pairs if reply]
        right = [r for a, r in asked if r.outcome == (ACCEPTED if a.right else REJECTED)]
        rejected = [r.message for a, r in asked if not a.right and r.outcome == REJECTED]
        values = {
            "asked": len(asked),
            "right": len(right),
            "wrong_accepted": sum(r.errs(False) for a, r in asked if not a.right),
            "right_rejected": sum(r.errs(True) for a, r in asked if a.right),
            "no_verdict": sum(r.outcome == NO_VERDICT for _, r in asked),
            "wrong_rejected": len(rejected),
            "distinct_messages": len({NUMBERS.sub("#", text) for text in rejected}),
            "median_s": round(median(judge, (r.seconds for _, r in asked)), 3) if asked else None,
        }
        result |= {
            f"{prefix(judge)}_{key}": value if asked else None for key, value in values.items()
        }
    return result


def summary(judge: str, result: dict[str, object]) -> str:
    figure = {key: result[f"{prefix(judge)}_{key}"] for key in FIGURES}
    counts = "wrong_accepted", "right_rejected", "no_verdict", "distinct_messages"
    parts = [f"{figure[key]} {key.replace('_', ' ')}" for key in counts]
    start = f"{judge:13}right on {figure['right']} of {figure['asked']}"
    return f"{start}: {', '.join(parts)}; median {figure['median_s']} s"


def cell(answer: Answer, reply: Reply | None) -> str:
    """For Markdown: what a judge errs in is bold."""
    if reply is None:
        return "–"
    text = f"{MARKS[reply.outcome]} {reply.outcome}"
    if reply.message:
        message = short(reply.message).replace("|", "\\|").replace("*", "\\*")
        text = f'{MARKS[reply.outcome]} "{message}"'
        if reply.outcome == NO_VERDICT:
            text = f"? {message}"
    return f"**{text}**" if reply.errs(answer.right) else text


def print_markdown(answers: list[Answer], replies: dict[str, list[Reply | None]]) -> None:
    print(f"| answer | {' | '.join(replies)} |\n|{' --- |' * (len(replies) + 1)}")
    for i, answer in enumerate(answers):
        cells = [cell(answer, column[i]) for column in replies.values()]
        print(f"| {answer.task}: {answer.what} | {' | '.join(cells)} |")
    print("\n✓ accepted, ✗ rejected, ? no verdict, – no such task; **bold**: the judge errs.")


def print_table(answers: list[Answer], replies: dict[str, list[Reply | None]]) -> None:
    for i, answer in enumerate(answers):
        print(f"\n{answer.task}: {answer.what}{'' if answer.right else '  (wrong)'}")
        for judge, column in replies.items():
            reply = column[i]
            if reply is None:
                print(f"    {judge:13}–  no such task")
                continue
            mark = "  <- errs" if reply.errs(answer.right) else ""
            start = (
                f"    {judge:13}{MARKS[reply.outcome]}  {reply.outcome:10} {reply.seconds:6.2f} s"
            )
            print(f"{start}  {short(reply.message)}{mark}".rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "every second answer: under 40 s")
    parser.add_argument("--markdown", action="store_true", help="the table for a README")
    options = parser.parse_args()
    answers = list(ANSWERS)
    if options.size in SIZES:
        answers = [answer for answer in answers if answer.what != "cheat: never ends"]
        answers = answers[SIZES[options.size]]
    import torch

    torch.set_num_threads(1)
    versions = [f"Attention Katas {metadata.version('attention-katas')}"]
    replies: dict[str, list[Reply | None]] = {"ours": []}
    for peer in PEERS:
        if importlib.util.find_spec(peer.module) is None:
            print(f"{peer.name} is not installed: {INSTALL}", file=sys.stderr)
            continue
        importlib.import_module(peer.module)
        versions.append(f"{peer.name} {metadata.version(peer.name)}")
        replies[peer.name] = [
            ask_peer(peer, answer) if answer.task in peer.tasks else None for answer in answers
        ]
    replies["ours"] = [*ask_us(answers)]
    print(", ".join(versions))
    (print_markdown if options.markdown else print_table)(answers, replies)
    result = figures(answers, replies)
    print()
    for judge in replies:
        print(summary(judge, result))
    ensure(result["ours_no_verdict"] == 0, "our own judge gave no verdict on some answer")
    report(result, ["answers", *(f"{prefix(judge)}_{key}" for judge in JUDGES for key in FIGURES)])


if __name__ == "__main__":
    main()
