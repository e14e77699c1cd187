"""What a learner reads: golden at a fixed width, safe against what a submission says."""

from __future__ import annotations

from attention_katas.render import glyphs
from attention_katas.render.heat import side_by_side
from attention_katas.render.terminal import render
from attention_katas.verdict import data as v
from attention_katas.verdict import words


def screen(submit, catalog, source, seed=1):
    verdict = submit("softmax", source, seed)
    verdict.seconds = 0.25
    return render([verdict], {"softmax": catalog["softmax"]})


NAIVE = "import torch\ndef softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, True)\n"

ZEROS = """\

softmax  failed  0 of 17 checks pass
softmax.py, on cpu, seed 1, 0.25 s

  ✗ Turns each row of a matrix into weights
  ✗ Works on a batch of heads, along the last axis by default
  ✗ Works on a single row, and on a batch of one
  ✗ Sums to one along dim, not always along the last axis
  ✗ Stays finite for scores of 1000 and of -1000
  ✗ Subtracts the maximum of each row: rows 500 apart are both right
  ✗ Is right for rows of 300 scores, rising or falling
  ✗ Is right when one score is far above the rest of its row
  ✗ Gives -inf entries a weight of exactly zero, with finite gradients
  ✗ Returns the dtype of its input, also in half precision
  ✗ Accepts inputs of any memory layout
  ✗ Keeps no state between calls of different lengths
  ✗ Keeps two calls apart, also in the backward pass
  · Law: the weights of every row sum to one
  · Law: adding one number to a whole row changes nothing
  · Law: reordering the scores reorders the weights and changes nothing else
  · Creates every tensor on the device of its input
  (· counts once the values are right)

  ! softmax: I do not recognise this mistake. What I can see:
    -  row 0 of the weights sums to 0, not to 1
    -  a higher score does not always get a higher weight
    -  with dim=0 the weights do not sum to 1 along axis 0

  ✗ Turns each row of a matrix into weights
    called     softmax(x)
"""


def test_zeros_earn_nothing(submit, catalog):
    text = screen(submit, catalog, "def softmax(x, dim=-1):\n    return x * 0\n")
    assert text.startswith(ZEROS)
    assert "15 of 15 entries differ" in text
    assert "exactly 0" in text
    assert "sum 0" in text
    assert "or:    kata hint softmax" in text


def test_nan_looks_like_nan(submit, catalog):
    text = screen(submit, catalog, NAIVE)
    assert "finite     NaN in 15 of 15 entries, first at [0, 0]" in text
    assert "NaN! sum NaN" in text


def test_a_mistake_is_called_by_its_name(submit, catalog):
    text = " ".join(screen(submit, catalog, NAIVE).split())
    assert "! softmax takes exponentials without subtracting the maximum (overflow)" in text
    assert "think What can you subtract from a whole row" in text
    assert "of your outputs; in softmax(x) for x" in text
    assert "hint kata hint softmax --level 3 (Scores of a thousand)" in text
    assert "sum 1.00" in text


def test_an_exception_shows_the_learners_line_and_nothing_of_ours(submit, catalog):
    text = screen(submit, catalog, "def softmax(x, dim=-1):\n    y = 1\n    return y.exp()\n")
    assert "softmax.py, line 3, in softmax\n        return y.exp()\n" in text
    assert "AttributeError: 'int' object has no attribute 'exp'" in text
    assert "runner" not in text


def test_a_syntax_error_has_a_caret(submit, catalog):
    text = screen(submit, catalog, "def softmax(x, dim=-1):\n    return (x\n")
    assert "softmax.py, line 2\n        return (x\n               ^\n" in text


def test_what_was_printed_is_shown_and_cut(submit, catalog):
    loud = (
        "def softmax(x, dim=-1):\n    for i in range(50):\n        print('line', i)\n    return x\n"
    )
    text = screen(submit, catalog, loud)
    assert "your code printed\n    line 0\n" in text
    assert "and 38 more lines" in text


def test_a_submission_cannot_steer_the_terminal(submit, catalog):
    rude = (
        "def softmax(x, dim=-1):\n    print('\\x1b[2J\\x07[bold]hi[/bold]\\r')\n"
        "    raise ValueError('\\x1b]0;title\\x07' + 'x' * 9000)\n"
    )
    text = screen(submit, catalog, rude)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]hi[/bold]" in text
    assert len(text) < 6000


def grids(**more):
    yours = v.Grid([[0.5, "nan", 0.0], [0.0, 0.25, 0.75]], [2, 3], row_sums=["nan", 1.0])
    expected = v.Grid([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], [2, 3], row_sums=[1.0, 1.0])
    wrong = [[False, True, False], [False] * 3]
    return v.Evidence(yours=yours, expected=expected, wrong=wrong, **more)


def test_masked_zero_and_nan_look_different():
    found = side_by_side(
        grids(masked=[[False, False, True], [False] * 3]), glyphs.UNICODE, 80, False
    )
    assert [line.plain.rstrip() for line in found] == [
        "yours                         expected",
        " ▅.50   NaN!   ╱╱  sum NaN     ▅.50 ▅.50   ╱╱ sum 1.00",
        "    ·  ▃.25  ▇.75  sum 1.00       · ▃.25 ▇.75 sum 1.00",
        "╱╱ masked   · exactly 0   ! wrong",
    ]


def one_cell(yours, expected, **more):
    grid = [v.Grid([[value]], [1, 1]) for value in (yours, expected)]
    found = v.Evidence(yours=grid[0], expected=grid[1], wrong=[[True]], **more)
    return [line.plain.split() for line in side_by_side(found, glyphs.UNICODE, 80, False)]


def test_digits_enough_to_tell_two_numbers_apart():
    assert one_cell(1.16, 1.25)[1] == ["1.16!", "1.25"]
    assert one_cell(1.161, 1.162)[1] == ["1.1610!", "1.1620"]
    assert one_cell(30001.0, 30007.0)[1] == ["3.000e4!", "3.001e4"]


def test_a_gradient_is_called_one():
    assert one_cell(1.0, 2.0, gradient_of="x")[0][:4] == ["gradient", "of", "x,", "yours"]


def test_one_factor_for_all_entries_is_said(submit):
    verdict = submit("scale", "def scaled_scores(q, k):\n    return q @ k.mT\n")
    sentence = words.verdict(verdict)
    assert sentence.startswith("every entry is 2.24 times what was expected; most apart at")


def test_a_small_difference_is_not_rounded_away(submit):
    source = "def scaled_scores(q, k):\n    return q @ k.mT * (1.00001 / q.size(-1) ** 0.5)\n"
    sentence = words.verdict(submit("scale", source))
    came, expected = sentence.partition(": ")[2].split(" came back, expected ")
    assert came != expected


def test_padding_is_shown_as_bits(submit, catalog):
    source = catalog["mask"].reference.read_text(encoding="utf-8")
    source = source.replace("keep[:, None, None, :]", "keep[:, None, None, :].logical_not()")
    verdict = submit("mask", source)
    shown = verdict.first_failure.evidence.inputs
    assert "keep (3, 6) bool: 111111 111000 101101" in shown


def test_narrow_terminals_get_one_below_the_other():
    wide = side_by_side(grids(), glyphs.UNICODE, 80, False)
    narrow = side_by_side(grids(), glyphs.UNICODE, 40, False)
    assert len(wide) == 4
    assert len(narrow) == 8
    assert max(line.cell_len for line in narrow) <= 40


def test_ascii_has_a_sign_for_everything():
    plain = "".join(line.plain for line in side_by_side(grids(), glyphs.ASCII, 80, False))
    assert plain.isascii()
    assert glyphs.for_encoding("ascii") is glyphs.ASCII
    assert glyphs.for_encoding("utf-8") is glyphs.UNICODE
    assert glyphs.for_encoding("no such encoding") is glyphs.ASCII


def test_large_tensors_are_never_dumped(submit):
    verdict = submit("softmax", "def softmax(x, dim=-1):\n    return x * 0\n")
    for check in verdict.checks:
        for grid in (check.evidence and (check.evidence.yours, check.evidence.expected)) or ():
            assert len(grid.cells) <= 8
            assert all(len(row) <= 8 for row in grid.cells)
