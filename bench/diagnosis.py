"""Does the diagnosis call mistakes by their name, and nothing else?  python bench/diagnosis.py

Known mistakes as they stand in mistakes.py; two at once, put together from the text of both;
each in other styles (bench/rewrite/), by which only the spelling changes;
each as if nobody had catalogued it (left out, with all that goes by its name): then no name may
be given, unless it is that of a mistake that no input tells from it; and the harmless look-alikes.
Each is judged as a learner's file is, in a learner process, by all hidden tests. --quick takes a
sample. The last line is JSON.

A pair counts as named when exactly its two are named. Pairs are drawn from all that can be written
down; a pair that no input tells from a single mistake or from another pair is left out, which is
found by asking the functions themselves, not the diagnosis.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
KINDS = ("known", "pairs", "respelled", "left out", "harmless")


class Bench:
    """One judge for all katas, with the time that each diagnosis took."""

    def __init__(self, judge, catalog, pairs):
        from attention_katas.diagnosis import diagnose

        self.judge, self.catalog = judge, catalog
        self.pairs, self.chance = pairs, random.Random(7)
        self.milliseconds, self.seed = [], 0
        self.inquiry, self.diagnose = diagnose, diagnose.diagnose
        diagnose.diagnose = self._timed

    def shuffled(self, items):
        items = list(items)
        self.chance.shuffle(items)
        return items

    def _timed(self, case):
        started = time.perf_counter()
        found = self.diagnose(case)
        self.milliseconds.append((time.perf_counter() - started) * 1000)
        return found

    def names(self, kata, source, false_alarms=False):
        """The causes told of a file, and how many milliseconds that took."""
        from attention_katas.packs.submission import Submission

        self.seed += 1
        file = Submission(kata, {kata.module: source}, kata.file, {kata.module: frozenset()})
        self.milliseconds.clear()
        verdict = self.judge.judge(file, seed=self.seed, false_alarms=false_alarms)
        told = [d for d in verdict.diagnoses if d.kind != "earlier work"]
        broken = [d for d in told if not d.function]
        if broken:
            raise SystemExit(f"{kata.name}: {broken[0].symptoms[0]}")
        causes = [frozenset(cause.id for cause in d.causes) for d in told]
        self.undecided = [name for d in told for name in d.undecided]
        symptoms = [said for d in told for said in d.symptoms]
        return causes, symptoms, sum(self.milliseconds)


def chosen(kata):
    """The entries of a kata with their functions."""
    from attention_katas.authoring.mistakes import entries_in
    from attention_katas.judge.modules import load_module

    return entries_in(load_module(kata.mistakes))


def name_of(entry):
    return frozenset([entry.same_as or entry.id])


def known(bench, kata, sample):
    """Every mistake and convention as it stands."""
    from attention_katas.authoring.mistakes import source_of

    for entry, _ in sample(chosen(kata)):
        if not entry.harmless:
            causes, _, took = bench.names(kata, source_of(kata, entry))
            yield entry.id, causes == [name_of(entry)], causes, took


def respelled(bench, kata, sample):
    """Every mistake in every other style that changes its text."""
    from rewrite.respell import STYLES, plain, respell

    from attention_katas.authoring.mistakes import source_of

    for entry, _ in sample(chosen(kata)):
        if entry.harmless:
            continue
        source, public = source_of(kata, entry), list(kata.functions)
        seen = {plain(source, public)}
        for style in STYLES:
            text = respell(source, style, public)
            if text not in seen:
                seen.add(text)
                causes, _, took = bench.names(kata, text)
                yield f"{entry.id} ({style})", causes == [name_of(entry)], causes, took


def pairs(bench, kata, sample):
    """Two at once."""
    from attention_katas.authoring.mistakes import MISTAKE, source_of_both

    entries = [e for e, _ in chosen(kata) if e.kind == MISTAKE and not e.same_as and not e.random]
    found = []
    # Writing down a pair takes a while, so they are drawn first.
    for one, other in bench.shuffled(itertools.combinations(entries, 2)):
        source = source_of_both(kata, one, other) if one.function == other.function else ""
        found += [(one, other, source)] if source else []
        if len(found) == bench.pairs:
            break
    twins = alike(kata, found)
    for one, other, source in found:
        name = f"{one.id}+{other.id}"
        if name in twins:
            continue
        wanted = frozenset([one.id, other.id])
        causes, _, took = bench.names(kata, source)
        yield name, causes == [wanted], causes, took


def alike(kata, found):
    """The pairs whose answers to every probe equal those of a single mistake, or another pair.

    And those that answer as the right function does: two wrongs that make a right.
    """
    import torch

    from attention_katas.authoring import probing
    from attention_katas.devices import Device
    from attention_katas.diagnosis import equivalence
    from attention_katas.judge.fixtures import Draw
    from attention_katas.judge.modules import load_module
    from attention_katas.judge.proxy import Call

    probes = load_module(kata.folder / "probes.py")
    reference = load_module(kata.reference)
    twins = set()
    for function in kata.functions:
        draw = Draw(torch.Generator().manual_seed(1), Device("cpu"))
        calls = []
        for probe in probing.marked(probes, probing.PROBE, function):
            for question in probing.questions(probe(draw)):
                call = Call(function, question.args, question.kwargs, "", [], [])
                call.tolerance = question.tolerance
                if question.gradients:
                    call = with_gradients(getattr(reference, function), call)
                calls.append(call)
        groups = []
        with equivalence.quiet():
            for name, namespace in executed(kata, found, function):
                does = [equivalence.observed(namespace[function], call) for call in calls]
                for others, shown in groups:
                    if all(map(equivalence.alike, does, shown, calls)):
                        others.append(name)
                        break
                else:
                    groups.append(([name], does))
        for names, _ in groups:
            if len(names) > 1:
                twins |= {name for name in names if "+" in name}
    return twins


def with_gradients(reference, call):
    from attention_katas.judge.proxy import copy_of, mapped

    call.args = mapped(call.args, lambda t: copy_of(t).requires_grad_(t.is_floating_point()))
    call.upstream = reference(*call.args, **call.kwargs).detach() + 1
    return call


def executed(kata, found, function):
    """The namespaces of the single entries and of the pairs of one function, by name."""
    from attention_katas.authoring.mistakes import source_of

    only = len(kata.functions) == 1
    texts = [("the reference", kata.reference.read_text(encoding="utf-8"))]
    texts += [
        (entry.id, source_of(kata, entry))
        for entry, _ in chosen(kata)
        if not entry.harmless
        and (entry.function == function or only)
        and (len(found) > 9 or any(entry.id in (one.id, other.id) for one, other, _ in found))
    ]
    texts += [
        (f"{one.id}+{other.id}", source)
        for one, other, source in found
        if one.function == function or only
    ]
    for name, text in texts:
        namespace = {}
        exec(compile(text, name, "exec"), namespace)
        yield name, namespace


def left_out(bench, kata, sample):
    """Every mistake as if nobody had catalogued it, nor what goes by the same name."""
    from attention_katas.authoring.mistakes import entries_in, source_of

    entries = chosen(kata)
    knowledge = bench.judge._known(reference_file(kata))
    module = knowledge.mistakes
    for entry, _ in sample(entries):
        if entry.harmless or entry.same_as:
            continue
        hidden = {}
        for other, function in entries_in(module):
            if entry.id in (other.id, other.same_as):
                hidden[function.__name__] = vars(module).pop(function.__name__)
        causes, _, took = bench.names(kata, source_of(kata, entry))
        vars(module).update(hidden)
        told = sorted({cause for names in causes for cause in names})
        yield entry.id, not told or same(kata, entries, entry, told), causes, took


def same(kata, entries, entry, told):
    """What was named does exactly what the mistake does, to every probe: algebra, not a guess."""
    import torch

    from attention_katas.authoring import mistakes, probing
    from attention_katas.devices import Device
    from attention_katas.diagnosis import equivalence
    from attention_katas.judge.fixtures import Draw
    from attention_katas.judge.modules import load_module
    from attention_katas.judge.proxy import Call

    functions = {other.id: function for other, function in entries}
    probes = load_module(kata.folder / "probes.py")
    draw = Draw(torch.Generator().manual_seed(2), Device("cpu"))
    both = mistakes.together(*(functions[name] for name in told))
    named = both if len(told) > 1 else functions[told[0]]
    for probe in probing.marked(probes, probing.PROBE, entry.function or kata.functions[0]):
        for question in probing.questions(probe(draw)):
            call = Call("", question.args, question.kwargs, "", [], [])
            call.tolerance = question.tolerance
            mine = equivalence.observed(functions[entry.id], call)
            if not equivalence.alike(mine, equivalence.observed(named, call), call):
                return False
    print(f"  {kata.name}: {entry.id} is {' and '.join(told)}, by algebra", flush=True)
    return True


def reference_file(kata):
    from attention_katas.packs.submission import Submission

    source = kata.reference.read_text(encoding="utf-8")
    return Submission(kata, {kata.module: source}, kata.file, {kata.module: frozenset()})


def harmless(bench, kata, sample):
    """The look-alikes, looked at as if they were suspected."""
    from attention_katas.authoring.mistakes import source_of

    for entry, _ in sample(chosen(kata)):
        if entry.harmless:
            causes, symptoms, took = bench.names(kata, source_of(kata, entry), false_alarms=True)
            yield entry.id, not any(causes) and not symptoms, causes or symptoms, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a sample, under 40 s")
    parser.add_argument("--kata", help="only this one")
    parser.add_argument("--kind", choices=KINDS, help="only these")
    parser.add_argument("--pairs", type=int, default=100, help="at most so many for each kata")
    options = parser.parse_args()

    from attention_katas.packs.catalog import load_catalog
    from attention_katas.service.local import open_judge

    catalog, counts = load_catalog(), collections.Counter()
    katas = [catalog[options.kata]] if options.kata else catalog.ready
    times, started = [], time.monotonic()
    asked = dict(zip(KINDS, (known, pairs, respelled, left_out, harmless), strict=True))
    with open_judge(catalog, katas) as judge:
        bench = Bench(judge, catalog, 3 if options.quick else options.pairs)
        for kind in [options.kind] if options.kind else KINDS:
            for number, kata in enumerate(katas):
                if options.quick and kind != "known" and number % 2:
                    continue
                here = collections.Counter()
                until = None
                if options.quick:
                    part = KINDS.index(kind) * len(katas) + number + 1
                    until = started + 12 * part / (len(KINDS) * len(katas))

                sample = bench.shuffled if options.quick else list
                for name, right, causes, took in asked[kind](bench, kata, sample):
                    here["total"] += 1
                    here["right"] += right
                    if kind == "known":
                        times.append(took)
                    if not right:
                        shown = ", ".join("+".join(sorted(c)) for c in causes if c) or "no name"
                        undecided = f" (undecided: {', '.join(bench.undecided)})"
                        shown += undecided if bench.undecided else ""
                        print(f"  {kata.name} {kind}: {name} -> {shown}", flush=True)
                    if until and time.monotonic() > until:
                        break
                counts[kind, "total"] += here["total"]
                counts[kind, "right"] += here["right"]
                print(f"{kata.name:16} {kind:10} {here['right']} of {here['total']}", flush=True)

    def share(kind):
        return counts[kind, "right"], counts[kind, "total"]

    result = {
        "total": counts["known", "total"],
        "named": counts["known", "right"],
        "pairs_total": counts["pairs", "total"],
        "pairs_named": counts["pairs", "right"],
        "respelled_total": counts["respelled", "total"],
        "respelled_named": counts["respelled", "right"],
        "left_out_total": counts["left out", "total"],
        "false_names": counts["left out", "total"] - counts["left out", "right"],
        "harmless_total": counts["harmless", "total"],
        "harmless_blamed": counts["harmless", "total"] - counts["harmless", "right"],
        "median_ms": round(statistics.median(times), 1) if times else None,
    }
    for kind in KINDS:
        right, total = share(kind)
        if total:
            print(f"{kind:10} {right} of {total}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
