"""Does the diagnosis call mistakes by their name, and nothing else?
python bench/diagnosis.py [--quick | --smoke]

Known mistakes as they stand in mistakes.py; two at once, put together from the text of both;
each in other styles (bench/rewrite/), by which only the spelling changes;
each as if nobody had catalogued it (left out, with all that goes by its name): then no name may
be given, unless it is that of a mistake that no input tells from it; and the harmless look-alikes.
Each is judged as a learner's file is, in a sandbox worker, by all hidden tests. --quick takes a
sample. The last line is JSON: for each kind how many were tried and how many were named (or, where
no name is right, how many were named falsely or blamed), and `median_ms`, the median time that the
diagnosis of a known mistake takes.

A pair counts as named when exactly its two are named. Pairs are drawn from all that can be written
down; a pair that no input tells from a single mistake or from another pair is left out. That is
decided by calling the functions themselves, not by the diagnosis.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import itertools
import random
import sys
import time
import types

from measurement import FULL, QUICK, ROOT, SMOKE, add_sizes, ensure, median, part, report

sys.path.insert(0, str(ROOT))
KINDS = ("known", "pairs", "respelled", "left out", "harmless")
KEYS = (
    "total",
    "named",
    "pairs_total",
    "pairs_named",
    "respelled_total",
    "respelled_named",
    "left_out_total",
    "false_names",
    "harmless_total",
    "harmless_blamed",
    "median_ms",
)
# Seconds for all kinds together (0: no limit), and pairs of each kata.
SIZES = {FULL: (0.0, 100), QUICK: (8.0, 2), SMOKE: (0.1, 1)}
SMOKE_KATA = "softmax"
FUNCTIONS_TIMED = ("diagnose", "look_for_false_alarms")  # of attention_katas.diagnosis.diagnose


class Bench:
    """One judge for all katas, and the time that each diagnosis took.

    undecided: what the last diagnosis could not tell apart.
    """

    def __init__(self, judge, catalog, pairs):
        from attention_katas.diagnosis import diagnose

        self.judge, self.catalog = judge, catalog
        self.pairs, self.random = pairs, random.Random(7)
        self.milliseconds, self.seed, self.undecided = [], 0, []
        self._module, self._without = diagnose, ""
        self._functions = {name: getattr(diagnose, name) for name in FUNCTIONS_TIMED}

    def __enter__(self):
        for name, function in self._functions.items():
            setattr(self._module, name, self._timed(function))
        return self

    def __exit__(self, *_):
        for name, function in self._functions.items():
            setattr(self._module, name, function)

    def shuffled(self, items):
        items = list(items)
        self.random.shuffle(items)
        return items

    @contextlib.contextmanager
    def without(self, name):
        """Inside, the diagnosis does not know this mistake, nor what goes by its name."""
        self._without = name
        try:
            yield
        finally:
            self._without = ""

    def _timed(self, function):
        def timed(case):
            if self._without:
                case = with_fewer_mistakes(case, self._without)
            started = time.perf_counter()
            diagnoses = function(case)
            self.milliseconds.append((time.perf_counter() - started) * 1000)
            return diagnoses

        return timed

    def names(self, kata, source, false_alarms=False):
        """The causes and the symptoms that a file's verdict names, and the milliseconds it took.

        Raises BenchError when there is no verdict, or when a wrong file was not diagnosed.
        """
        from attention_katas.packs.submission import Submission
        from attention_katas.verdict import data as v
        from attention_katas.verdict import words

        self.seed += 1
        file = Submission(kata, {kata.module: source}, kata.file, {kata.module: frozenset()})
        self.milliseconds.clear()
        verdict = self.judge.judge(file, seed=self.seed, false_alarms=false_alarms)
        ensure(verdict.outcome != v.COULD_NOT_GRADE, f"{kata.name}: {words.verdict(verdict)}")
        diagnoses = [d for d in verdict.diagnoses if d.kind != v.EARLIER_WORK]
        faults = [d.fault for d in diagnoses if d.fault is not None]
        ensure(not faults, f"{kata.name}: the diagnosis broke: {faults}")
        diagnosed = len(self.milliseconds) == 1 or not (false_alarms or verdict.outcome == v.FAILED)
        ensure(diagnosed, f"{kata.name}: the diagnosis did not end, or was not asked:\n{source}")
        self.undecided = [name for d in diagnoses for name in d.undecided]
        causes = [frozenset(cause.id for cause in d.causes) for d in diagnoses]
        symptoms = [words.symptom(symptom) for d in diagnoses for symptom in d.symptoms]
        return causes, symptoms, sum(self.milliseconds)


def with_fewer_mistakes(case, name):
    """A failed run whose known mistakes lack one, and what goes by its name."""
    from attention_katas.authoring.mistakes import entries_in

    mistakes = case.knowledge.mistakes
    module = types.ModuleType(mistakes.__name__)
    vars(module).update(vars(mistakes))
    for entry, function in entries_in(mistakes):
        if name in (entry.id, entry.same_as):
            delattr(module, function.__name__)
    knowledge = dataclasses.replace(case.knowledge, mistakes=module)
    return dataclasses.replace(case, knowledge=knowledge)


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
    candidates = []
    # Writing down a pair takes a while, so they are drawn first.
    for first, second in bench.shuffled(itertools.combinations(entries, 2)):
        source = source_of_both(kata, first, second) if first.function == second.function else ""
        candidates += [(first, second, source)] if source else []
        if len(candidates) == bench.pairs:
            break
    twins = alike(kata, candidates)
    for first, second, source in candidates:
        name = f"{first.id}+{second.id}"
        if name in twins:
            continue
        expected = frozenset([first.id, second.id])
        causes, _, took = bench.names(kata, source)
        yield name, causes == [expected], causes, took


def alike(kata, candidates):
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
            for name, namespace in executed(kata, candidates, function):
                answers = [equivalence.observed(namespace[function], call) for call in calls]
                for names, group_answers in groups:
                    if all(map(equivalence.alike, answers, group_answers, calls)):
                        names.append(name)
                        break
                else:
                    groups.append(([name], answers))
        for names, _ in groups:
            if len(names) > 1:
                twins |= {name for name in names if "+" in name}
    return twins


def with_gradients(reference, call):
    from attention_katas.judge.proxy import copy_of, mapped

    call.args = mapped(call.args, lambda t: copy_of(t).requires_grad_(t.is_floating_point()))
    call.upstreams = [reference(*call.args, **call.kwargs).detach() + 1]
    return call


def executed(kata, candidates, function):
    """The namespaces of the single entries and of the pairs of one function, by name."""
    from attention_katas.authoring.mistakes import source_of

    only = len(kata.functions) == 1
    texts = [("the reference", kata.reference.read_text(encoding="utf-8"))]
    texts += [
        (entry.id, source_of(kata, entry))
        for entry, _ in chosen(kata)
        if not entry.harmless
        and (entry.function == function or only)
        and (len(candidates) > 9 or any(entry.id in (e.id, f.id) for e, f, _ in candidates))
    ]
    texts += [
        (f"{first.id}+{second.id}", source)
        for first, second, source in candidates
        if first.function == function or only
    ]
    for name, text in texts:
        namespace = {}
        exec(compile(text, name, "exec"), namespace)
        yield name, namespace


def left_out(bench, kata, sample):
    """Every mistake as if nobody had catalogued it, nor what goes by the same name."""
    from attention_katas.authoring.mistakes import source_of

    entries = chosen(kata)
    for entry, _ in sample(entries):
        if entry.harmless or entry.same_as:
            continue
        with bench.without(entry.id):
            causes, _, took = bench.names(kata, source_of(kata, entry))
        names = sorted({cause for causes_of_one in causes for cause in causes_of_one})
        yield entry.id, not names or same(kata, entries, entry, names), causes, took


def same(kata, entries, entry, names):
    """Whether the named mistakes answer every probe as this one does: algebra, not a guess."""
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
    together = mistakes.together(*(functions[name] for name in names))
    named = together if len(names) > 1 else functions[names[0]]
    for probe in probing.marked(probes, probing.PROBE, entry.function or kata.functions[0]):
        for question in probing.questions(probe(draw)):
            call = Call("", question.args, question.kwargs, "", [], [])
            call.tolerance = question.tolerance
            answer = equivalence.observed(functions[entry.id], call)
            if not equivalence.alike(answer, equivalence.observed(named, call), call):
                return False
    print(f"  {kata.name}: {entry.id} is {' and '.join(names)}, by algebra", flush=True)
    return True


def harmless(bench, kata, sample):
    """The look-alikes, looked at as if they were suspected."""
    from attention_katas.authoring.mistakes import source_of

    for entry, _ in sample(chosen(kata)):
        if entry.harmless:
            causes, symptoms, took = bench.names(kata, source_of(kata, entry), false_alarms=True)
            yield entry.id, not any(causes) and not symptoms, causes or symptoms, took


def measure(bench, kata, kind, sample, until):
    """One kind of one kata: (how many were right, how many were tried, the milliseconds of each).

    until: when to stop after the one under way; 0 for never.
    """
    right_count, times = 0, []
    for name, right, causes, took in FUNCTIONS[kind](bench, kata, sample):
        right_count += bool(right)
        times.append(took)
        if not right:
            names = ", ".join("+".join(sorted(c)) for c in causes if c) or "no name"
            undecided = f" (undecided: {', '.join(bench.undecided)})" if bench.undecided else ""
            print(f"  {kata.name} {kind}: {name} -> {names}{undecided}", flush=True)
        if until and time.monotonic() > until:
            break
    print(f"{kata.name:16} {kind:10} {right_count} of {len(times)}", flush=True)
    return right_count, len(times), times


FUNCTIONS = dict(zip(KINDS, (known, pairs, respelled, left_out, harmless), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "a sample, under 40 s")
    parser.add_argument("--kata", help="only this one")
    parser.add_argument("--kind", choices=KINDS, help="only these")
    parser.add_argument("--pairs", type=int, help="at most so many for each kata")
    options = parser.parse_args()
    seconds, most_pairs = SIZES[options.size]

    from attention_katas.packs.catalog import load_catalog
    from attention_katas.service.local import open_judge

    catalog, counts = load_catalog(), collections.Counter()
    only = options.kata or (SMOKE_KATA if options.size == SMOKE else "")
    katas = [catalog[only]] if only else catalog.ready
    kinds = [options.kind] if options.kind else KINDS
    times = []
    with (
        open_judge(catalog, katas) as judge,
        Bench(judge, catalog, options.pairs or most_pairs) as bench,
    ):
        started = time.monotonic()
        sample = bench.shuffled if seconds else list
        for kind in kinds:
            for number, kata in enumerate(katas):
                if seconds and kind != "known" and number % 2:
                    continue
                share = (KINDS.index(kind) * len(katas) + number + 1) / (len(KINDS) * len(katas))
                until = started + seconds * share if seconds else 0.0
                right, total, milliseconds = measure(bench, kata, kind, sample, until)
                counts[kind, "total"] += total
                counts[kind, "right"] += right
                times += milliseconds if kind == "known" else []
    for kind in kinds:
        right, total = counts[kind, "right"], counts[kind, "total"]
        print(f"{kind:10} {part(kind, right, total)} of {total}")
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
        "median_ms": round(median("diagnosis", times), 1) if "known" in kinds else None,
    }
    report(result, KEYS)


if __name__ == "__main__":
    main()
