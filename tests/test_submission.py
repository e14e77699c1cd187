"""Source text before it runs: bytes, encodings, stubs, siblings."""

from __future__ import annotations

import os
import sys

import pytest

from attention_katas.packs.precheck import read_submission
from attention_katas.packs.submission import (
    SIZE_CAP,
    Submission,
    Unreadable,
    decode,
    imported,
    read_source,
    still_stub,
    submission,
)
from attention_katas.verdict import data as v
from attention_katas.verdict import words

RIGHT = "import torch\ndef softmax(x, dim=-1):\n    return torch.exp(x)\n"


@pytest.mark.parametrize(
    "data", [RIGHT.encode(), b"\xef\xbb\xbf" + RIGHT.encode(), RIGHT.replace("\n", "\r\n").encode()]
)
def test_utf8_with_or_without_a_mark_and_any_line_ends(data):
    assert decode(data, "softmax.py") == RIGHT


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (RIGHT.encode("utf-16"), "saved as UTF-16"),
        ("x = 1\n# für\n".encode("latin-1"), "byte 0xfc in line 2"),
        (b"x = 1\n\ny = '\0'\n", "NUL byte in line 3"),
    ],
)
def test_other_bytes_are_named(data, says):
    with pytest.raises(Unreadable, match=says):
        decode(data, "softmax.py")


def test_large_files_and_odd_ones_are_refused(tmp_path):
    big = tmp_path / "softmax.py"
    big.write_bytes(b"#" * (SIZE_CAP + 1))
    with pytest.raises(Unreadable, match="larger than 256 KB"):
        read_source(big)
    with pytest.raises(Unreadable, match="not an ordinary file"):
        read_source(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFOs there")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "softmax.py")
    with pytest.raises(Unreadable, match="not an ordinary file"):
        read_source(tmp_path / "softmax.py")


def test_imports_are_found_wherever_they_stand():
    source = "import a.b, c\nfrom d import e\nfrom . import f\ndef g():\n    from h import i\n"
    assert imported(source) == {"a", "c", "d", "h"}
    assert imported("def broken(:") == set()
    assert imported("(" * 100_000) == set()


def test_comments_and_docstrings_do_not_start_a_kata(catalog):
    kata = catalog["softmax"]
    stub = kata.stub.read_text(encoding="utf-8")
    assert still_stub(stub, kata) == {"softmax"}
    assert still_stub(stub.replace("Exponentials", "My notes: exponentials") + "\n# todo\n", kata)
    bare = 'def softmax(x, dim=-1):\n    raise NotImplementedError("softmax is yours to write")\n'
    assert still_stub(bare, kata) == {"softmax"}


def test_any_other_body_is_a_start(catalog):
    kata = catalog["softmax"]
    for body in ("return x", "raise NotImplementedError('half done')", "pass"):
        assert still_stub(f"def softmax(x, dim=-1):\n    {body}\n", kata) == frozenset()
    assert still_stub("", kata) == frozenset()


def test_earlier_katas_travel_with_the_file(catalog, tmp_path):
    (tmp_path / "softmax.py").write_text("from dot_product import attention_scores\n" + RIGHT)
    (tmp_path / "dot_product.py").write_text("def attention_scores(q, k):\n    return q @ k.mT\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    found = submission(catalog, catalog["softmax"], tmp_path / "softmax.py")
    assert set(found.sources) == {"softmax", "dot_product"}
    before = found.digest
    (tmp_path / "dot_product.py").write_text("def attention_scores(q, k):\n    return 1\n")
    assert submission(catalog, catalog["softmax"], tmp_path / "softmax.py").digest != before


@pytest.mark.parametrize(
    ("content", "outcome"),
    [(None, v.NOT_STARTED), (b"\0", v.BROKEN), ("x = 'é'".encode("latin-1"), v.BROKEN)],
)
def test_some_verdicts_need_no_judge(catalog, tmp_path, content, outcome):
    path = tmp_path / "softmax.py"
    if content is not None:
        path.write_bytes(content)
    found = read_submission(catalog, catalog["softmax"], path)
    assert isinstance(found, v.Verdict)
    assert found.outcome == outcome
    assert words.verdict(found)


def test_a_stub_is_told_at_once(catalog):
    kata = catalog["softmax"]
    assert read_submission(catalog, kata, kata.stub).outcome == v.NOT_STARTED
    assert isinstance(read_submission(catalog, kata, kata.reference), Submission)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_and_broken_ones_are_named(catalog, tmp_path):
    kata = catalog["softmax"]
    (tmp_path / "softmax.py").symlink_to(kata.reference)
    assert isinstance(read_submission(catalog, kata, tmp_path / "softmax.py"), Submission)
    (tmp_path / "lost.py").symlink_to(tmp_path / "nowhere.py")
    found = read_submission(catalog, kata, tmp_path / "lost.py")
    assert found.outcome == v.BROKEN
    assert "a link to a file that is not there" in words.verdict(found)
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    assert read_submission(catalog, kata, tmp_path / "loop.py").outcome == v.BROKEN
