"""The learner's folder: found from anywhere in it, never overwritten."""

from __future__ import annotations

import pytest

from attention_katas.errors import KataError, NoWorkspace
from attention_katas.packs import workspace


@pytest.fixture
def space(tmp_path, catalog):
    return workspace.create(tmp_path / "my katas é", catalog)[0]


def test_init_writes_every_stub_once(space, catalog):
    files = {kata.file for kata in catalog.ready}
    assert {path.name for path in space.root.iterdir()} == {".kata", *files}
    mine = space.root / "softmax.py"
    mine.write_text("mine", encoding="utf-8")
    _, made, kept = workspace.create(space.root, catalog)
    assert made == []
    assert set(kept) == files
    assert mine.read_text(encoding="utf-8") == "mine"


def test_it_is_found_from_below_and_from_beside(space, tmp_path, catalog):
    below = space.root / "a" / "b"
    below.mkdir(parents=True)
    assert workspace.find(below).root == space.root
    workspace.create(tmp_path / "course" / workspace.DEFAULT, catalog)
    assert workspace.find(tmp_path / "course").root.name == workspace.DEFAULT
    with pytest.raises(NoWorkspace) as caught:
        workspace.find(tmp_path)
    assert caught.value.next_step == "kata init my-katas"


def test_reset_keeps_what_was_there(space, catalog):
    kata = catalog["softmax"]
    texts = ["first", "second", "third"]
    backups = []
    for text in texts:
        space.path(kata).write_text(text, encoding="utf-8")
        backups.append(space.reset(kata))
        assert space.path(kata).read_bytes() == kata.stub.read_bytes()
    assert [backup.read_text(encoding="utf-8") for backup in backups] == texts


def test_reset_of_a_missing_file_writes_the_stub(space, catalog):
    kata = catalog["softmax"]
    space.path(kata).unlink()
    assert space.reset(kata) is None
    assert space.path(kata).exists()


def test_reset_leaves_odd_things_alone(space, catalog):
    kata = catalog["softmax"]
    space.path(kata).unlink()
    space.path(kata).mkdir()
    with pytest.raises(KataError, match="not an ordinary file"):
        space.reset(kata)


def test_init_into_a_file_is_refused(tmp_path, catalog):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(KataError, match="is a file"):
        workspace.create(tmp_path / "file", catalog)
