"""Who handed in what: every layout, and whatever people put into a zip."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile

import pytest

from attention_katas.errors import KataError
from attention_katas.grading import collect, files, notebooks
from attention_katas.grading import remarks as m
from attention_katas.verdict import reasons as r

SOFT = "def softmax(x, dim=-1):\n    return x.softmax(dim)\n"
NOTHING = m.NoKataFile()
DOT = "def attention_scores(q, k):\n    return q @ k.mT\n"


def tree(root, texts):
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def zipped(texts):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return data.getvalue()


def notebook(*cells):
    found = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "x"}, *found]})


def by_id(found):
    return {submission.student.id: submission for submission in found}


def one(found):
    (submission,) = found
    return submission


def test_a_folder_of_kata_files(catalog, tmp_path):
    tree(tmp_path / "anna", {"softmax.py": SOFT, "dot_product.py": DOT, "notes.py": "x = 1"})
    found = collect.collect(catalog, tmp_path / "anna")
    assert found.layout == collect.ONE
    submission = one(found)
    assert submission.student.id == "anna"
    assert submission.sources == {"softmax": SOFT, "dot_product": DOT}
    assert submission.remarks == []


def test_a_single_file_and_a_name_for_its_owner(catalog, tmp_path):
    tree(tmp_path, {"softmax.py": SOFT})
    submission = one(collect.collect(catalog, tmp_path / "softmax.py", student="anna"))
    assert (submission.student.id, submission.sources) == ("anna", {"softmax": SOFT})


def test_a_repository_whose_files_lie_deeper(catalog, tmp_path):
    """A student's repository is one submission, not a class of folders."""
    tree(tmp_path, {".git/config": "", "my-katas/softmax.py": SOFT, "docs/x.py": ""})
    found = collect.collect(catalog, tmp_path)
    assert found.layout == collect.ONE
    assert one(found).files == {"softmax": "my-katas/softmax.py"}


def test_a_class_of_folders_and_zips_and_one_that_is_empty(catalog, tmp_path):
    tree(tmp_path, {"anna/softmax.py": SOFT, "ben/mine/week 1/softmax.py": SOFT})
    (tmp_path / "carl").mkdir()
    (tmp_path / "dora.zip").write_bytes(zipped({"x/softmax.py": SOFT}))
    (tmp_path / "emil.zip").write_bytes(b"no zip")
    (tmp_path / ".git").mkdir(exist_ok=True)
    found = collect.collect(catalog, tmp_path, collect.CLASS)
    submissions = by_id(found)
    assert list(submissions) == ["anna", "ben", "carl", "dora", "emil"]
    assert all("softmax" in submissions[name].sources for name in ("anna", "ben", "dora"))
    assert submissions["carl"].remarks == [NOTHING]
    assert isinstance(submissions["emil"].remarks[0], m.NotAnArchive)


def test_nbgrader(catalog, tmp_path):
    tree(
        tmp_path,
        {
            "submitted/anna/week1/softmax.py": SOFT,
            "submitted/ben/week1/all.ipynb": notebook(SOFT),
            "submitted/ben/week2/softmax.py": DOT,
            "release/week1/softmax.py": "",
        },
    )
    with pytest.raises(KataError, match="several assignments: week1, week2"):
        collect.collect(catalog, tmp_path)
    for path in (tmp_path, tmp_path / "submitted"):
        found = collect.collect(catalog, path, assignment="week1")
        assert found.layout == collect.NBGRADER
        submissions = by_id(found)
        assert submissions["anna"].sources == {"softmax": SOFT}
        assert "def softmax" in submissions["ben"].sources["softmax"]
    with pytest.raises(KataError, match="nobody handed in 'week3'"):
        collect.collect(catalog, tmp_path, assignment="week3")


def test_a_download_from_canvas(catalog, tmp_path):
    """The latest of several uploads counts; LATE is kept; a zip is looked into."""
    texts = {
        "doejane_101_5001_softmax.py": "old = 1",
        "doejane_101_5002_softmax-1.py": SOFT,
        "miermax_LATE_102_5003_dot_product.py": DOT,
        "leeann_103_5004_homework.pdf": "x",
        "leeann_103_5004_readme.py": "",
    }
    path = tmp_path / "submissions.zip"
    path.write_bytes(zipped(texts))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("poe_104_5005_katas.zip", zipped({"katas/softmax.py": SOFT}))
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(unpacked)
    for where in (path, unpacked):
        found = collect.collect(catalog, where)
        assert found.layout == collect.CANVAS
        submissions = by_id(found)
        assert submissions["101"].sources == {"softmax": SOFT}
        assert submissions["101"].student.name == "doejane"
        assert submissions["101"].student.ids == {"canvas": "101"}
        assert submissions["101"].remarks[0] == m.SeveralFiles("softmax.py", 2, "softmax-1.py")
        assert submissions["102"].late
        assert not submissions["101"].late
        assert submissions["103"].remarks == [NOTHING]
        assert submissions["104"].sources == {"softmax": SOFT}


def test_a_download_from_moodle(catalog, tmp_path):
    texts = {
        "Ána Ní Bhriain_271_assignsubmission_file_/softmax.py": SOFT,
        "Ben de la Cruz_272_assignsubmission_file_softmax.py": SOFT,
        "Cy_273_assignsubmission_onlinetext_/onlinetext.html": "x",
    }
    path = tmp_path / "course-42.zip"
    path.write_bytes(zipped(texts))
    found = collect.collect(catalog, path)
    assert found.layout == collect.MOODLE
    submissions = by_id(found)
    assert submissions["271"].student.name == "Ána Ní Bhriain"
    assert submissions["271"].sources == submissions["272"].sources == {"softmax": SOFT}
    assert submissions["272"].student.ids == {"moodle": "272"}


def test_a_moodle_folder_without_files_counts(catalog, tmp_path):
    tree(tmp_path, {"Ana_1_assignsubmission_file_/softmax.py": SOFT})
    (tmp_path / "Ben_2_assignsubmission_file_").mkdir()
    assert list(by_id(collect.collect(catalog, tmp_path))) == ["1", "2"]


@pytest.mark.parametrize(
    "name", ["Softmax.py", "softmax (1).py", "softmax-2.py", "dot-product.py", "DOT_PRODUCT.PY"]
)
def test_spellings_of_a_file(catalog, tmp_path, name):
    tree(tmp_path, {name: SOFT, "mask.py": ""})
    assert len(one(collect.collect(catalog, tmp_path)).sources) == 2


def test_the_fullest_folder_is_home_and_the_rest_is_told(catalog, tmp_path):
    texts = {"new/softmax.py": SOFT, "new/dot_product.py": DOT}
    texts |= {"old/softmax.py": "x", "mask.py": ""}
    submission = one(collect.collect(catalog, tree(tmp_path, texts), collect.ONE))
    assert submission.files["softmax"] == "new/softmax.py"
    assert submission.files["mask"] == "mask.py"
    assert submission.remarks == [m.SeveralFiles("softmax.py", 2, "new/softmax.py")]


def test_links_are_not_followed(catalog, tmp_path):
    """A link could hand in somebody else's file, or one of ours."""
    other = tree(tmp_path / "other", {"softmax.py": SOFT})
    space = tree(tmp_path / "class", {"anna/dot_product.py": DOT})
    (space / "anna/softmax.py").symlink_to(other / "softmax.py")
    (space / "anna/more").symlink_to(other)
    (space / "ben").symlink_to(other)
    submissions = by_id(collect.collect(catalog, space))
    assert list(submissions) == ["anna", "ben"]
    assert submissions["ben"].sources == {}
    assert submissions["ben"].remarks == [m.FolderIsLink(), NOTHING]
    assert submissions["anna"].sources == {"dot_product": DOT}
    assert submissions["anna"].invalid["softmax"] == r.LinkNotFollowed("softmax.py")


def test_pipes_and_large_files_are_not_read(catalog, tmp_path):
    os.mkfifo(tmp_path / "softmax.py")
    (tmp_path / "mask.py").write_bytes(b"#" * (files.SIZE_CAP + 1))
    submission = one(collect.collect(catalog, tmp_path))
    assert submission.sources == {}
    assert submission.invalid["softmax"] == r.NotAnOrdinaryFile("softmax.py")
    assert submission.invalid["mask"] == r.TooLarge("mask.py", 256)


def test_a_bomb_is_not_unpacked(catalog, tmp_path):
    path = tmp_path / "anna.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("softmax.py", b"\0" * (200 << 20))
        archive.writestr("mask.py", "x = 1")
    submission = one(collect.collect(catalog, path))
    assert submission.invalid["softmax"] == r.TooLarge("softmax.py", 256)
    assert submission.sources == {"mask": "x = 1"}


def test_a_zip_that_lies_about_sizes(catalog, tmp_path):
    data = bytearray(zipped({"softmax.py": "#" * (1 << 20), "mask.py": "x = 1"}))
    at = data.index(b"PK\1\2")
    data[at + 20 : at + 28] = struct.pack("<II", 10, 10)  # sizes in the directory
    path = tmp_path / "anna.zip"
    path.write_bytes(data)
    submission = one(collect.collect(catalog, path))
    assert "softmax" not in submission.sources or len(submission.sources["softmax"]) <= 10
    assert submission.sources["mask"] == "x = 1"


def test_names_that_climb_and_links_in_a_zip(catalog, tmp_path):
    path = tmp_path / "anna.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../../etc/softmax.py", SOFT)
        link = zipfile.ZipInfo("mask.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    submission = one(collect.collect(catalog, path, collect.ONE))
    assert submission.files["softmax"] == "etc/softmax.py"
    assert submission.invalid["mask"] == r.LinkNotFollowed("mask.py")
    assert not (tmp_path.parent / "etc").exists()


@pytest.mark.parametrize("damage", range(0, 200, 7))
def test_a_damaged_zip_is_told_not_raised(catalog, tmp_path, damage):
    data = bytearray(zipped({"softmax.py": SOFT * 10, "mask.py": DOT}))
    data[damage % len(data)] ^= 0xFF
    path = tmp_path / "class" / "anna.zip"
    path.parent.mkdir()
    path.write_bytes(data)
    submissions = list(collect.collect(catalog, path.parent, collect.CLASS))
    assert len(submissions) == 1


def test_an_encrypted_member(catalog, tmp_path):
    data = bytearray(zipped({"softmax.py": SOFT}))
    for mark in (b"PK\3\4", b"PK\1\2"):
        at = data.index(mark) + (6 if mark == b"PK\3\4" else 8)
        data[at] |= 1
    (tmp_path / "anna.zip").write_bytes(data)
    submission = one(collect.collect(catalog, tmp_path / "anna.zip"))
    assert isinstance(submission.invalid["softmax"], r.DamagedInArchive)


def test_odd_names_can_be_written_anywhere(catalog, tmp_path):
    for name in (b"\xff\xfe", "e\u0301ve".encode(), b"a\nb", b"\x1b[31m"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"softmax.py"), "w") as file:
            file.write(SOFT)
    found = collect.collect(catalog, tmp_path)
    for student in found.students:
        student.id.encode("utf-8")
        assert student.id.isprintable()
    assert "éve" in [student.id for student in found.students]
    assert len(list(found)) == 4


def test_two_folders_whose_names_come_out_alike_stay_two(catalog, tmp_path):
    for name in (b"a\xff", b"a\xfe"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"softmax.py"), "w") as file:
            file.write(SOFT)
    ids = [student.id for student in collect.collect(catalog, tmp_path).students]
    assert len(set(ids)) == 2


@pytest.mark.parametrize("what", ["nothing", "empty", "text"])
def test_what_is_nothing_to_grade(catalog, tmp_path, what):
    path = tmp_path / what
    if what == "empty":
        path.mkdir()
    if what == "text":
        path = tmp_path / "x.txt"
        path.write_text("")
    with pytest.raises(KataError) as raised:
        collect.collect(catalog, path)
    assert raised.value.next_step


# Notebooks


def test_cells_marked_with_a_kata_are_that_katas_file(catalog):
    text = notebook(
        "import torch", "%%kata softmax\nimport torch\n" + SOFT, "%%kata softmax\n# 2\n"
    )
    assert notebooks.sources(catalog, text.encode(), "a.ipynb") == {"softmax": "# 2\n"}


def test_a_plain_notebook_gives_what_it_defines_not_what_it_does(catalog):
    text = notebook(
        "%matplotlib inline\nimport torch\n!pip install x\nLIMIT = 3\nx = torch.randn(9, 9)",
        "def helper(x):\n    return x\nprint(helper(x))\nwhile True: pass",
        SOFT,
        "%%bash\nrm -rf /",
        "softmax?",
    )
    found = notebooks.sources(catalog, text.encode(), "a.ipynb")
    assert list(found) == ["softmax"]
    names = {}
    exec(found["softmax"], names)  # what is left can be loaded, and quickly
    assert {"helper", "softmax", "LIMIT"} <= names.keys()
    assert "x" not in names


def test_a_cell_that_is_no_python_breaks_what_it_should_define(catalog):
    found = notebooks.sources(catalog, notebook("def softmax(x:\n    pass").encode(), "a.ipynb")
    assert "def softmax(x:" in found["softmax"]


def test_lines_of_a_joint_file_keep_their_numbers(catalog):
    text = "import torch\nprint(1)\n\n@torch.no_grad()\ndef softmax(x, dim=-1):\n    return x\n"
    found = notebooks.sources(catalog, text.encode(), "all.py")["softmax"].split("\n")
    assert found[4] == "def softmax(x, dim=-1):"
    assert found[1] == ""
    assert found[3] == "@torch.no_grad()"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [{}]}', "[" * 100_000])
def test_what_is_no_notebook(catalog, text):
    with pytest.raises(files.RefusedFile) as raised:
        notebooks.sources(catalog, text.encode(), "a.ipynb")
    assert raised.value.reason == m.NotANotebook("a.ipynb")


def test_a_notebook_as_a_submission(catalog, tmp_path):
    (tmp_path / "all.ipynb").write_text(notebook("import torch", SOFT, DOT))
    submission = one(collect.collect(catalog, tmp_path / "all.ipynb"))
    assert set(submission.sources) == {"softmax", "dot_product"}
    assert submission.files["softmax"] == "all.ipynb"


def test_what_lies_beside_the_students_is_told(catalog, tmp_path):
    texts = {"anna/softmax.py": SOFT, "ben.zip": "", "single.py": SOFT}
    found = collect.collect(catalog, tree(tmp_path, texts), collect.CLASS)
    assert found.unassigned == ["single.py"]
    moodle = {"Ana_1_assignsubmission_file_/softmax.py": SOFT, "loose.py": "x"}
    assert collect.collect(catalog, tree(tmp_path / "m", moodle)).unassigned == ["loose.py"]


def test_imports_that_nothing_needs_are_left_out(catalog):
    """A library for plots is not there where it is judged."""
    text = notebook(
        "from __future__ import annotations\nimport torch, math\nimport matplotlib.pyplot as plt",
        "def softmax(x, dim=-1):\n    return torch.exp(x)\nplt.plot([1])",
    )
    found = notebooks.sources(catalog, text.encode(), "a.ipynb")["softmax"]
    assert "matplotlib" not in found
    assert "import torch" in found
    assert "__future__" in found


# What a hostile student or a clumsy hand can do to others


def test_a_name_cannot_take_anothers_place_on_moodle(catalog, tmp_path):
    """What stands before the first number is Moodle's; what comes behind, the student's choice."""
    path = tmp_path / "moo.zip"
    texts = {
        "Alice A_23_assignsubmission_file_softmax.py": SOFT,
        "Mal_17_assignsubmission_file_x_23_assignsubmission_file_softmax (9).py": "zeros",
    }
    path.write_bytes(zipped(texts))
    submissions = by_id(collect.collect(catalog, path))
    assert list(submissions) == ["17", "23"]
    assert submissions["23"].sources == {"softmax": SOFT}


def test_a_name_cannot_change_the_layout(catalog, tmp_path):
    texts = {f"s{n}_{n}_90{n}_softmax.py": SOFT for n in range(1, 6)}
    texts["mal_13_902_x_1_assignsubmission_file_softmax.py"] = "x"
    path = tmp_path / "can.zip"
    path.write_bytes(zipped(texts))
    found = collect.collect(catalog, path)
    assert found.layout == collect.CANVAS
    assert len(found.students) == 6


def test_everybody_on_canvas_has_an_entry(catalog, tmp_path):
    """Names with signs, anonymous ones, and who uploaded something else."""
    names = ["mary_ann_12_901_softmax.py", "anon_LATE_qz8Rt_902_softmax.py", "poe_14_903_x.pdf"]
    found = collect.collect(catalog, tree(tmp_path, dict.fromkeys(names, SOFT)))
    submissions = by_id(found)
    assert set(submissions) == {"12", "14", "qz8Rt"}
    assert submissions["12"].student.name == "mary_ann"
    assert submissions["qz8Rt"].late
    assert submissions["qz8Rt"].student.ids == {}
    assert submissions["14"].remarks == [NOTHING]


def test_folders_in_a_zip_without_a_kata_file_count(catalog, tmp_path):
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("anna/softmax.py", SOFT)
        archive.writestr("ben/essay.pdf", "x")
        archive.writestr("carl/", "")
    assert list(by_id(collect.collect(catalog, path))) == ["anna", "ben", "carl"]


def test_nbgraders_students_without_a_file_count(catalog, tmp_path):
    tree(tmp_path, {"submitted/anna/w/softmax.py": SOFT, "submitted/ben/w/x.txt": ""})
    (tmp_path / "submitted" / "carl" / "w").mkdir(parents=True)
    assert list(by_id(collect.collect(catalog, tmp_path))) == ["anna", "ben", "carl"]


@pytest.mark.parametrize("name", ["build", "dist", "env", "venv"])
def test_students_may_be_called_like_a_tools_folder(catalog, tmp_path, name):
    tree(tmp_path, {f"{name}/softmax.py": SOFT, f"{name}/venv/mask.py": "", "b/softmax.py": SOFT})
    assert by_id(collect.collect(catalog, tmp_path))[name].sources == {"softmax": SOFT}


def test_three_names_that_come_out_alike(catalog, tmp_path):
    path = tmp_path / "dup.zip"
    names = ("e\u0301", "\u00e9", "\u00e9 (2)")
    path.write_bytes(zipped({f"{name}/softmax.py": SOFT for name in names}))
    assert len(by_id(collect.collect(catalog, path))) == 3


@pytest.mark.parametrize("extra", [".git/config", "softmax.py"])
def test_a_class_that_looks_like_one_submission_is_asked_about(catalog, tmp_path, extra):
    tree(tmp_path, {"anna/softmax.py": SOFT, "ben/softmax.py": SOFT, extra: SOFT})
    with pytest.raises(KataError, match="may be a class"):
        collect.collect(catalog, tmp_path)
    assert len(collect.collect(catalog, tmp_path, collect.CLASS).students) == 2


def test_a_folder_around_a_class_is_asked_about(catalog, tmp_path):
    tree(
        tmp_path,
        {"class/anna/softmax.py": SOFT, "class/ben/softmax.py": SOFT, "feedback/anna.txt": ""},
    )
    with pytest.raises(KataError, match="around the class class") as refusal:
        collect.collect(catalog, tmp_path)
    assert f"kata grade {tmp_path}/class" in refusal.value.next_step
    assert len(collect.collect(catalog, tmp_path, collect.CLASS).students) == 2
    assert list(by_id(collect.collect(catalog, tmp_path / "class"))) == ["anna", "ben"]


def test_students_may_keep_several_versions(catalog, tmp_path):
    tree(
        tmp_path,
        {
            "anna/old/softmax.py": SOFT,
            "anna/new/softmax.py": SOFT,
            "ben/softmax.py": SOFT,
            "cleo/.venv/lib/softmax.py": SOFT,
            "cleo/softmax.py": SOFT,
        },
    )
    assert list(by_id(collect.collect(catalog, tmp_path))) == ["anna", "ben", "cleo"]


def test_a_teachers_notebook_beside_the_students_changes_nothing(catalog, tmp_path):
    tree(tmp_path, {"anna/softmax.py": SOFT, "ben/softmax.py": SOFT, "a.ipynb": notebook("1")})
    found = collect.collect(catalog, tmp_path)
    assert (found.layout, found.unassigned) == (collect.CLASS, ["a.ipynb"])


def test_a_folder_that_only_wraps_a_class(catalog, tmp_path):
    path = tmp_path / "hw.zip"
    path.write_bytes(zipped({"hw/alice/softmax.py": SOFT, "hw/zoe/softmax.py": SOFT}))
    assert list(by_id(collect.collect(catalog, path))) == ["alice", "zoe"]
    path.write_bytes(zipped({"dl/doe_1_2_softmax.py": SOFT, "dl/roe_3_4_softmax.py": SOFT}))
    assert collect.collect(catalog, path).layout == collect.CANVAS
    path.write_bytes(zipped({"anna/softmax.py": SOFT}))
    assert list(by_id(collect.collect(catalog, path))) == ["anna"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_we_cannot_read_costs_nobody_a_point(catalog, tmp_path):
    tree(tmp_path, {"anna/softmax.py": SOFT, "ben/softmax.py": SOFT})
    (tmp_path / "anna" / "softmax.py").chmod(0)
    (tmp_path / "ben").chmod(0)
    submissions = by_id(collect.collect(catalog, tmp_path))
    assert isinstance(submissions["anna"].unreadable["softmax"], r.CannotBeRead)
    assert isinstance(submissions["ben"].error, r.FolderNotListed)


def test_errors_of_reading_are_ours(catalog, tmp_path, monkeypatch):
    tree(tmp_path, {"anna/softmax.py": SOFT})

    def fails(self):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("pathlib.Path.read_bytes", fails)
    submission = one(collect.collect(catalog, tmp_path))
    assert submission.unreadable == {"softmax": r.CannotBeRead("softmax.py", "Input/output error")}


def test_many_files_are_not_all_looked_into(catalog, tmp_path):
    many = {f"n{n}.py": "a = 0\n" * 10 for n in range(60)}
    submission = one(collect.collect(catalog, tree(tmp_path / "one", many), collect.ONE))
    assert submission.remarks[0] == m.FilesNotRead(20, 60)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "anna.zip").write_bytes(zipped({f"m{n}.py": "" for n in range(3000)}))
    submission = one(collect.collect(catalog, tmp_path / "class", collect.CLASS))
    assert submission.remarks[0] == m.TooManyMembers("anna.zip", 2000)


def test_a_huge_notebook_is_not_parsed(catalog, tmp_path):
    (tmp_path / "a.ipynb").write_text(notebook("a=0;" * 1_000_000))
    submission = one(collect.collect(catalog, tmp_path / "a.ipynb"))
    assert submission.remarks[0] == m.TooMuchCode("a.ipynb", 256)


@pytest.mark.parametrize("kind", ["lzma", "offset", "name", "copy"])
def test_archives_that_break_the_library(catalog, tmp_path, kind):
    path = tmp_path / "class" / "mal.zip"
    path.parent.mkdir()
    name = f"softmax-{'1' * 5000}.py" if kind == "copy" else "softmax.py"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(name, SOFT * 50)
    data = bytearray(path.read_bytes())
    if kind == "lzma":
        data[30 + len(name) : 60 + len(name)] = b"\xff" * 30
    if kind == "offset":
        at = data.index(b"PK\5\6") + 16
        data[at : at + 4] = b"\xff\xff\xff\x7f"
    if kind == "name":
        data[30:34] = b"\xff\xfe\xff\xfe"
        data[6:8] = b"\0\x08"
    path.write_bytes(data)
    submission = one(collect.collect(catalog, path.parent, collect.CLASS))
    assert "softmax" not in submission.sources or kind == "copy"
    assert submission.error is None
