"""Packs: added, replaced, installed by pip; refused by name, while the others keep working."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from attention_katas import cli
from attention_katas.authoring import mistakes
from attention_katas.errors import BadContent
from attention_katas.judge.modules import load_module
from attention_katas.lab import panels as lab_panels
from attention_katas.packs import installed, names, panels
from attention_katas.packs.catalog import Selection, load_catalog
from attention_katas.packs.pack import SHIPPED
from attention_katas.packs.progress import DONE, Progress
from attention_katas.packs.submission import submission
from attention_katas.packs.workspace import create
from attention_katas.service.daemon.address import address
from attention_katas.service.local import hidden_paths, open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words
from tests.conftest import submission_of
from tests.labs import Running, ask, hear
from tests.packs import PACK, add_kata, make_pack, only


def names_of(catalog):
    return [kata.name for kata in catalog.katas]


def beside(*folders):
    return load_catalog(Selection(folders))


@pytest.fixture
def pack(tmp_path):
    """A pack with one kata."""
    made = make_pack(tmp_path / "made", "made")
    add_kata(made, "double")
    return made


# Adding and replacing.


def test_a_pack_is_added_and_replaces(pack, catalog):
    assert names_of(beside(pack)) == [*names_of(catalog), "double"]  # after those of other packs
    assert names_of(only(pack)) == ["double"]


def test_the_folder_above_katas_names_the_pack_too(tmp_path):
    made = make_pack(tmp_path / "root" / "katas", "made")
    add_kata(made, "double")
    assert names_of(only(tmp_path / "root")) == ["double"]


def test_references_stand_inside_the_pack_or_beside_it(pack):
    (pack / "reference").rename(pack.parent / "reference")
    assert only(pack)["double"].ready


def test_a_set_of_version_0_1_says_what_to_do(pack):
    (pack / "pack.toml").unlink()
    (refusal,) = beside(pack).refusals
    assert "holds katas, but no pack.toml" in refusal.reason
    assert refusal.next_step.startswith("write ")


def test_the_step_into_a_workspace_names_the_pack_from_there(pack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.main, ["init", "work", "--only-katas", pack.name])
    step = f"cd work, then kata show double --only-katas {pack}"
    assert "".join(step.split()) in "".join(done.output.split())  # a long path wraps


# Installed by pip.


def distribution(site, entry, package="my_package", name="my-pack"):
    """A distribution as pip leaves it, whose package must never be imported."""
    made = make_pack(site / package / "katas", name)
    (site / package / "__init__.py").write_text("raise RuntimeError('imported')\n", "utf-8")
    info = site / f"{package}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[{installed.GROUP}]\n{name} = {entry}\n", "utf-8")
    return made


@pytest.mark.parametrize(
    "entry", ["my_package:katas", "my_package.katas", "my_package"], ids=["in", "dotted", "above"]
)
def test_an_installed_pack_is_found_without_importing_it(tmp_path, monkeypatch, entry):
    add_kata(distribution(tmp_path / "site", entry), "double")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    catalog = load_catalog()
    assert "double" in names_of(catalog)
    assert catalog.refusals == []
    assert "my_package" not in sys.modules
    assert "double" not in names_of(load_catalog(Selection(only=True)))


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("no_such_module", "there is no module 'no_such_module'"),
        ("json.decoder:x", "names no folder"),
        ("this", "is a module, not a package"),
        ("my_package:nowhere", "names no folder"),
        ("my package", "is not MODULE or MODULE:FOLDER"),
        ("my_package.katas.empty", "there is no pack"),
    ],
)
def test_a_broken_entry_point_is_refused_by_name(tmp_path, monkeypatch, catalog, entry, says):
    made = distribution(tmp_path / "site", entry)
    (made / "empty").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = load_catalog()
    (refusal,) = found.refusals
    assert refusal.pack == "my-pack"
    assert says in refusal.reason
    assert names_of(found) == names_of(catalog)


@pytest.mark.parametrize("line", [b"x", b"\xff = m", b"y ="])
def test_entry_points_that_cannot_be_read_are_refused_by_name(tmp_path, monkeypatch, line):
    add_kata(distribution(tmp_path / "site", "my_package:katas"), "double")
    distribution(tmp_path / "site", "broken:katas", "broken", "broken")
    file = tmp_path / "site" / "broken-1.dist-info" / "entry_points.txt"
    file.write_bytes(f"[{installed.GROUP}]\n".encode() + line)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = load_catalog()
    (refusal,) = found.refusals
    assert refusal.pack in ("broken", "y")
    assert refusal.reason == "its entry_points.txt cannot be read"
    assert "double" in names_of(found)


def test_the_current_folder_installs_nothing(tmp_path, monkeypatch, catalog):
    """It may be a student's submission, or a clone."""
    add_kata(distribution(tmp_path, "my_package:katas"), "double")
    monkeypatch.chdir(tmp_path)
    for entry in ("", str(tmp_path)):
        monkeypatch.syspath_prepend(entry)
    assert names_of(load_catalog()) == names_of(catalog)


def test_an_installed_pack_may_be_named_too(tmp_path, monkeypatch):
    made = distribution(tmp_path / "site", "my_package:katas")
    add_kata(made, "double")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    catalog = beside(made)
    assert catalog.refusals == []
    assert [pack.name for pack in catalog.named_packs] == ["my-pack"]


# Refused by name.


@pytest.mark.parametrize(
    ("kata", "options", "says"),
    [
        (
            "softmax",
            {},
            "'softmax.py' belongs to the kata softmax of the pack attention-katas",
        ),
        ("other", {"functions": ["softmax"]}, "'softmax' belongs to the kata softmax"),
        ("run", {}, "is a command of kata"),
        ("daemon", {}, "is a command of kata"),
        ("json", {}, "means something else in Python"),
        ("torch", {}, "means something else in Python"),
        ("attention-katas", {}, "means something else in Python"),
        ("click", {}, "is the name of an installed module"),
        ("class", {}, "means something else in Python"),
        ("Upper", {}, "is no name for a kata"),
        ("other", {"functions": ["not a name"]}, "is no name of a function"),
        ("other", {"functions": ["twice", "twice"]}, "stands in 'functions' twice"),
        ("other", {"requires": ["nowhere"]}, "requires 'nowhere', which is no kata"),
        ("other", {"requires": ["other"]}, "in a circle: other -> other"),
        ("other", {"banned": ["softmx"]}, "bans 'softmx', which is no family"),
    ],
)
def test_a_pack_that_does_not_fit_is_refused(pack, tmp_path, catalog, kata, options, says):
    wrong = make_pack(tmp_path / "wrong", "wrong")
    add_kata(wrong, kata, **options)
    found = beside(wrong, pack)
    (refusal,) = found.refusals
    assert refusal.pack in ("wrong", str(wrong))
    assert refusal.selected
    assert says in refusal.reason
    assert set(names_of(found)) == {*names_of(catalog), "double"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no FIFOs")
@pytest.mark.parametrize("file", ["double/kata.toml", "shared/bans.toml"])
def test_a_fifo_is_refused_and_not_waited_for(pack, catalog, file):
    (pack / file).parent.mkdir(exist_ok=True)
    (pack / file).unlink(missing_ok=True)
    os.mkfifo(pack / file)
    found = beside(pack)
    (refusal,) = found.refusals
    assert f"{pack / file} cannot be read: it is not an ordinary file" in refusal.reason
    assert names_of(found) == names_of(catalog)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no FIFOs")
def test_hints_and_lessons_that_cannot_be_read_are_named(pack):
    os.mkfifo(pack / "double" / "hints.md")
    (pack / "double" / "lesson.md").write_bytes(b"\xff")
    kata = only(pack)["double"]
    with pytest.raises(BadContent, match=r"hints\.md cannot be read: it is not an ordinary file"):
        kata.hints()
    with pytest.raises(BadContent, match=r"lesson\.md: not text in UTF-8"):
        kata.lesson()


@pytest.mark.parametrize("file", ["pack.toml", "double/kata.toml"])
def test_toml_that_is_nested_too_deeply_is_refused(pack, catalog, file):
    (pack / file).write_text(f"a = {'[' * 5000}{']' * 5000}", encoding="utf-8")
    found = beside(pack)
    (refusal,) = found.refusals
    assert f"{pack / file}: nested too deeply" in refusal.reason
    assert names_of(found) == names_of(catalog)


def test_a_kata_that_is_a_link_is_refused(pack, tmp_path, catalog):
    """Its files would not count in the hash that a daemon compares."""
    other = make_pack(tmp_path / "other", "other")
    (other / "double").symlink_to(pack / "double")
    found = beside(other)
    (refusal,) = found.refusals
    assert "is a link: a pack holds its own folders" in refusal.reason
    assert names_of(found) == names_of(catalog)


def test_packs_that_require_each_other_in_a_circle(tmp_path, catalog):
    first, second = make_pack(tmp_path / "a", "first"), make_pack(tmp_path / "b", "second")
    add_kata(first, "one", ["two"])
    add_kata(second, "two", ["one"])
    found = beside(first, second)
    assert [refusal.pack for refusal in found.refusals] == ["second", "first"]
    assert "in a circle" in found.refusals[0].reason
    assert "requires 'two', which is no kata" in found.refusals[1].reason
    assert names_of(found) == names_of(catalog)


def test_two_packs_of_one_name(pack, tmp_path):
    other = make_pack(tmp_path / "other", "made")
    add_kata(other, "triple")
    (refusal,) = beside(pack, other).refusals
    assert "there is a pack 'made' already" in refusal.reason


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("format = ", "not TOML"),
        (PACK.format(name="x y"), "is no name"),
        (PACK.format(name=SHIPPED), "is the name of the pack that ships"),
        (PACK.format(name="x").replace("title", "titel"), "did you mean 'title'?"),
        (PACK.format(name="x").replace("format = 1", "format = 9"), "format 9 is not known"),
    ],
)
def test_what_is_wrong_with_a_pack_toml_is_said(pack, text, says):
    (pack / "pack.toml").write_text(text, encoding="utf-8")
    found = load_catalog(Selection((pack,), only=True))
    assert any(says in refusal.reason for refusal in found.refusals)


def test_the_names_of_commands_are_known():
    assert set(cli.main.commands) == names.COMMANDS


# Content.


def test_katas_of_one_pack_build_on_those_of_another(tmp_path):
    first, second = make_pack(tmp_path / "a", "first"), make_pack(tmp_path / "b", "second")
    add_kata(second, "fourfold", ["double"])
    add_kata(first, "double")
    catalog = beside(second, first)
    assert names_of(catalog).index("double") < names_of(catalog).index("fourfold")
    uses = "from double import double\n\n\ndef fourfold(x):\n    return double(x)\n"
    wrong = "def double(x):\n    return 3 * x\n"
    with open_judge(catalog, [catalog["fourfold"]]) as judge:
        right = "def double(x):\n    return x + x\n"
        assert (
            judge.judge(submission_of(catalog, "fourfold", uses, double=right)).outcome == v.PASSED
        )
        verdict = judge.judge(submission_of(catalog, "fourfold", uses, double=wrong))
    assert verdict.outcome == v.FAILED
    assert [diagnosis.kind for diagnosis in verdict.diagnoses] == [v.EARLIER_WORK]


SHARED = "def factor():\n    return {}\n"
MISTAKES = (
    "from attention_katas.authoring import mistake\n"
    "from shared.helpers import factor\n\n\n"
    "@mistake('multiplies wrongly', question='By what?')\n"
    "def wrong(x):\n    return x * factor()\n"
)


def test_shared_modules_of_two_packs_do_not_meet(tmp_path):
    modules = {}
    for name, number in (("first", 3), ("second", 5), ("first", 3)):
        pack = tmp_path / name
        if not pack.exists():
            make_pack(pack, name)
            folder = add_kata(pack, f"kata-{name}")
            (pack / "shared").mkdir()
            (pack / "shared" / "helpers.py").write_text(SHARED.format(number), "utf-8")
            (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
        modules[name] = load_module(pack / f"kata-{name}" / "mistakes.py")
        assert modules[name].wrong(1) == number
    assert modules["first"].wrong(1) == 3
    assert not {name for name in sys.modules if name.partition(".")[0] == "shared"}


def test_a_mistake_is_written_out_with_what_it_shares(pack):
    (pack / "shared").mkdir()
    (pack / "shared" / "helpers.py").write_text(SHARED.format(7), encoding="utf-8")
    (pack / "double" / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    kata = only(pack)["double"]
    (entry,) = mistakes.mistakes_in(load_module(kata.mistakes))
    space = {}
    exec(mistakes.source_of(kata, entry), space)
    assert space["double"](1) == 7


def test_hidden_tests_may_import_what_a_pack_shares(pack):
    (pack / "shared").mkdir()
    (pack / "shared" / "shapes.py").write_text("SHAPE = (2, 3)\n", encoding="utf-8")
    (pack / "double" / "test_double.py").write_text(
        "from shared.shapes import SHAPE\n\n\n"
        "def test_it(solution, draw, agree):\n    agree(solution.double, draw(*SHAPE))\n",
        encoding="utf-8",
    )
    catalog = only(pack)
    kata = catalog["double"]
    with open_judge(catalog, [kata]) as judge:
        assert judge.judge(submission(catalog, kata, kata.reference)).outcome == v.PASSED


BANS = """
[cumsum]
title = "cumulative sum"
operators = ["aten::cumsum"]
python = []

[cumsum.routes]
short = "x.cumsum(0)"
"""


def test_a_pack_bans_built_ins_of_its_own(tmp_path):
    pack = make_pack(tmp_path / "made", "made")
    (pack / "shared").mkdir()
    (pack / "shared" / "bans.toml").write_text(BANS, encoding="utf-8")
    add_kata(pack, "double", banned=["cumsum", "attention"])
    catalog = only(pack)
    source = "def double(x):\n    x.cumsum(0)\n    return x + x\n"
    with open_judge(catalog, [catalog["double"]]) as judge:
        verdict = judge.judge(submission_of(catalog, "double", source))
    assert verdict.first_failure.rung == "nothing banned"
    assert "cumsum" in words.check(verdict.first_failure)


def test_a_family_without_a_route_or_of_another_pack_is_refused(tmp_path):
    for number, text in enumerate(
        (BANS.replace("x.cumsum(0)", " "), BANS.replace("cumsum", "softmax"))
    ):
        pack = make_pack(tmp_path / f"made{number}", "made")
        (pack / "shared").mkdir()
        (pack / "shared" / "bans.toml").write_text(text, encoding="utf-8")
        (refusal,) = beside(pack).refusals
        assert ("'routes.short' is empty", "belongs to attention-katas")[number] in refusal.reason


def test_no_learner_reads_a_pack(pack):
    hidden = hidden_paths(only(pack))
    assert {pack, pack / "reference"} <= set(hidden)


@pytest.mark.parametrize("problem", ["1 / 0", "import no_such_module_at_all", "exit(3)"])
@pytest.mark.parametrize("file", ["katas/double/test_double.py", "reference/double.py"])
def test_a_broken_file_of_a_pack_concerns_only_its_kata(tmp_path, catalog, file, problem):
    """A broken pack beside a good one and the katas that ship."""
    broken, good = make_pack(tmp_path / "b" / "katas", "broken"), make_pack(tmp_path / "g", "good")
    add_kata(broken, "double")
    add_kata(good, "triple")
    (broken / "reference").rename(broken.parent / "reference")
    (broken.parent / file).write_text(f"{problem}\n", encoding="utf-8")
    right = "def {}(x):\n    return x + x\n"
    katas = beside(broken, good)
    with open_judge(katas, katas.ready) as judge:
        assert judge.is_broken(katas["double"])
        assert list(judge.dry_run(submission_of(katas, "double", right.format("double")))) == []
        verdict = judge.judge(submission_of(katas, "double", right.format("double")))
        triple = judge.judge(submission_of(katas, "triple", right.format("triple")))
        shipped = judge.judge(submission(katas, katas["scale"], katas["scale"].reference))
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert isinstance(verdict.reason, reasons.PackFileBroken)
    assert verdict.reason.pack == "broken"
    assert verdict.reason.file == str(broken.parent / file)
    assert triple.outcome == v.PASSED, words.verdict(triple)
    assert shipped.outcome == v.PASSED, words.verdict(shipped)


def test_broken_mistakes_of_a_pack_change_no_verdict(tmp_path):
    """They only explain a failure: the diagnosis names the pack and the file instead."""
    pack = make_pack(tmp_path / "made", "made")
    mistakes_file = add_kata(pack, "double") / "mistakes.py"
    mistakes_file.write_text("1 / 0\n", encoding="utf-8")
    catalog = only(pack)
    with open_judge(catalog, [catalog["double"]]) as judge:
        right = submission_of(catalog, "double", "def double(x):\n    return x + x\n")
        for _ in judge.dry_run(right):
            pass
        assert judge.judge(right).outcome == v.PASSED
        verdict = judge.judge(submission_of(catalog, "double", "def double(x):\n    return x\n"))
    assert verdict.outcome == v.FAILED
    (diagnosis,) = verdict.diagnoses
    assert diagnosis.kind == v.NO_DIAGNOSIS
    assert str(mistakes_file) in diagnosis.fault.text
    assert "made" in diagnosis.fault.text


# What remembers.


def test_progress_stays_when_a_pack_moves(pack, tmp_path):
    space = create(tmp_path / "space", only(pack))[0]
    catalog = only(pack)
    kata = catalog["double"]
    space.path(kata).write_text(kata.reference.read_text("utf-8"), encoding="utf-8")
    found = submission(catalog, kata, space.path(kata))
    verdict = v.Verdict("double", v.PASSED, kata_version=kata.version, source_hash=found.digest)
    Progress(space.progress_file, catalog.keys).record(verdict, found.source)
    pack.rename(tmp_path / "moved")
    moved = only(tmp_path / "moved")
    states = Progress(space.progress_file, moved.keys).states(moved, space.root)
    assert states["double"].name == DONE


def test_two_packs_with_a_kata_of_one_name_keep_two_records(pack, tmp_path):
    other = make_pack(tmp_path / "other", "other")
    add_kata(other, "double")
    file = tmp_path / ".kata" / "progress.db"
    Progress(file, only(pack).keys).record(v.Verdict("double", v.FAILED), "")
    assert Progress(file, only(pack).keys).attempts("double") == 1
    assert Progress(file, only(other).keys).attempts("double") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="there is no daemon elsewhere")
def test_a_daemon_is_for_some_packs_as_they_are(pack, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    shipped, before = address(), address(only(pack))
    assert before.family != shipped.family
    assert address(only(pack)) == before
    (pack / "double" / "mistakes.py").write_text("X = 1\n", encoding="utf-8")
    assert address(only(pack)).family == before.family
    assert address(only(pack)).key != before.key


# The lab.


PICTURE = (
    "TITLE = 'Doubling'\n\n\n"
    "def answer(live, asked):\n"
    "    import torch\n"
    "    step = live.step('double', (torch.tensor([1.0, 2.0]),))\n"
    "    return {'double': step.as_json()}\n"
)
DRAWS = 'import { panel } from "./panel.js";\nexport default { render({ model, el }) {} };\n'


def test_a_pack_brings_a_picture_of_its_own(tmp_path):
    pack = make_pack(tmp_path / "made", "made")
    add_kata(pack, "double", panels=["doubling"])
    pack.joinpath("lab").mkdir()
    (pack / "lab" / "doubling.py").write_text(PICTURE, encoding="utf-8")
    (pack / "lab" / "doubling.js").write_text(DRAWS, encoding="utf-8")
    (pack / "lab" / "secret.js").write_text("no", encoding="utf-8")
    running = Running(only(pack), tmp_path / "space")
    (running.root / "panel-mine.js").write_text("no", encoding="utf-8")
    try:
        with running.line() as line:
            shown = hear(line, "hello")["panels"]
            answer = ask(line, "doubling")
        with urllib.request.urlopen(f"{running.origin}/panel-doubling.js") as reply:
            assert reply.read().decode() == DRAWS
            assert reply.headers["content-type"].startswith("text/javascript")
        for name in ("panel-secret.js", "panel-mine.js", "doubling.js"):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(f"{running.origin}/{name}")
    finally:
        running.close()
    assert shown == [{"name": "doubling", "title": "Doubling", "script": "panel-doubling.js"}]
    assert answer["double"]["state"] == "yours"
    assert json.dumps(answer["double"]["yours"]) == "[2.0, 4.0]"


def test_a_broken_reference_or_picture_of_a_pack_leaves_the_lab_running(tmp_path):
    broken, good = make_pack(tmp_path / "broken", "broken"), make_pack(tmp_path / "good", "good")
    add_kata(broken, "triple", panels=["torn"])
    (broken / "lab").mkdir()
    (broken / "lab" / "torn.py").write_text("1 / 0\n", encoding="utf-8")
    (broken / "lab" / "torn.js").write_text(DRAWS, encoding="utf-8")
    add_kata(good, "double", panels=["doubling"])
    (good / "lab").mkdir()
    (good / "lab" / "doubling.py").write_text(PICTURE, encoding="utf-8")
    (good / "lab" / "doubling.js").write_text(DRAWS, encoding="utf-8")
    (broken / "reference" / "triple.py").write_text("1 / 0\n", encoding="utf-8")
    running = Running(only(broken, good), tmp_path / "space")
    try:
        with running.line() as line:
            hear(line, "hello")
            answer = ask(line, "doubling")
    finally:
        running.close()
    assert json.dumps(answer["double"]["yours"]) == "[2.0, 4.0]"


def test_our_pictures_are_known_to_packs():
    assert set(lab_panels.OURS) == set(panels.OURS)


def test_the_katas_that_ship_show_in_all_of_our_pictures(catalog):
    assert panels.used(catalog)[0] == list(panels.OURS)
    assert [problem for kata in catalog.katas for problem in panels.problems(kata)] == []
