"""tools/house.py: what counts in each of its figures and what does not, and the goals."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "house.py"


def load_tool():
    """The tool as a module: it is a script, beside the package and no part of it."""
    spec = importlib.util.spec_from_file_location("house", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module
    spec.loader.exec_module(module)
    return module


house = load_tool()


@pytest.fixture
def measure(tmp_path):
    """Measures a package of files that are given as {path: text}."""

    def measure_files(files):
        package = tmp_path / "src" / "package"
        for name, text in files.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return house.measure(package)

    return measure_files


def names(figures, key):
    return [place.name for place in figures.places[key]]


def test_lines_are_those_of_python_files(measure):
    figures = measure({"a.py": "x = 1\ny = 2\n", "b/c.py": "z = 3\n", "page.js": "let x;\n"})
    assert figures.values["lines"] == 3


@pytest.mark.parametrize(
    "back",
    [
        "from package import a\n",
        "from . import a\n",
        "from .a import f\n",
        "def g():\n    import package.a\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f\n",
    ],
)
def test_a_circle_is_two_modules_that_import_each_other(measure, back):
    figures = measure({"__init__.py": "", "a.py": "from .b import g\n", "b.py": back})
    assert names(figures, "circles") == ["package.a <-> package.b"]


def test_imports_one_way_are_no_circle(measure):
    files = {"a.py": "from . import b, c\n", "b.py": "from .c import f\n", "c.py": "import json\n"}
    assert measure({"__init__.py": "", **files}).values["circles"] == 0


@pytest.mark.parametrize(
    "line",
    [
        "found = 1",
        "told: int = 1",
        "for one in (): pass",
        "with f() as mine: pass",
        "[0 for wanted in ()]",
        "f(said := 1)",
        "row, (left, n) = g()",
        "retrieved = 1",
        "found[n] = 1",
    ],
)
def test_a_participle_or_pronoun_counts_wherever_it_is_bound(measure, line):
    assert len(names(measure({"a.py": f"def h():\n    {line}\n"}), "participles")) == 1


@pytest.mark.parametrize(
    "line", ["verdict = 1", "seed = 1", "expected = 1", "found_at = 1", "found += 1", "f(told=1)"]
)
def test_other_names_and_other_places_of_a_participle_do_not_count(measure, line):
    assert names(measure({"a.py": f"def h(given):\n    {line}\n"}), "participles") == []


@pytest.mark.parametrize(
    "test",
    [
        'x.endswith("is not there")',
        'x.verdict.message.startswith("raised ")',
        'cause.ask.rstrip().endswith(".")',
        "check.message == NOT_YET",
        "x != words.LOST",
        '"values" in check["message"]',
        'any(word in x for word in ("SIGKILL", "the process is gone"))',
        'failure.message == f"raised {kind}"',
        'message.partition("most")[2]',
        're.search(r"no gradient reaches", x)',
        "any(pattern.fullmatch(said) for pattern in table)",
        "FILE.sub('', message)",
    ],
)
def test_a_test_of_wording_is_a_text_read(measure, test):
    head = (
        "import re\nfrom . import words\nNOT_YET = 'not judged yet'\nFILE = re.compile('file ')\n"
    )
    code = f"{head}def f(x, check, cause):\n    return {test}\n"
    figures = measure({"__init__.py": "", "words.py": 'LOST = "it was lost"\n', "a.py": code})
    assert names(figures, "texts_read") == ["f"]


@pytest.mark.parametrize(
    "test",
    [
        'x == "passed"',
        'verdict.outcome == "out of memory"',
        "x == TRUTHS",
        "verdict.outcome != FULL",
        'x.endswith(".py")',
        'message.split("\\n")',
        "check.message == other.message",
        'row[0] == "Points Possible"',
        '"a b" in {"a b": 1}',
        '"out of memory" in str(error)',
        '"const x = " in x',
        're.findall(r"\\d+", message)',
        're.match(r"(x): registered at", line)',
    ],
)
def test_codes_forms_and_words_of_others_are_no_text_reads(measure, test):
    head = "import re\nFULL = 'all of it'\nTENSOR, TRUTHS = 'tensor', 'tensor of truths'\n"
    code = f"{head}def f(x, verdict):\n    return {test}\n"
    assert names(measure({"a.py": code}), "texts_read") == []


def test_a_function_that_is_given_an_exception_may_read_its_words(measure):
    code = 'def f(error: RuntimeError, message):\n    return "out of memory" in message\n'
    assert names(measure({"a.py": code}), "texts_read") == []


@pytest.mark.parametrize(
    "line",
    [
        "/graph/.test(found.says)",
        "EARLIER.exec(one)",
        'step.said?.endsWith("a return missing?")',
        'x === "is not there"',
    ],
)
def test_a_script_that_tests_wording_is_a_text_read(measure, line):
    head = "const EARLIER = /^(.+?) is wrong as well/;\n"
    figures = measure({"page.js": f"{head}export function shows(x) {{\n  return {line};\n}}\n"})
    assert names(figures, "texts_read") == ["shows"]


@pytest.mark.parametrize(
    "line", ['step.state === "yours"', "/^rgba/.test(colour)", 'verdict.outcome === "not started"']
)
def test_a_script_that_tests_codes_is_none(measure, line):
    figures = measure({"page.js": f"function shows(x) {{\n  return {line};\n}}\n"})
    assert names(figures, "texts_read") == []


PREFIX = """import struct
SIZE = struct.Struct("<I")
def read(read_exactly):
    return read_exactly(*SIZE.unpack(read_exactly(4)))
"""
RECEIVE = """import json
def receive(line):
    return json.loads(line.recv(1 << 16))
"""
USE = """import json
from . import frames
def receive(read_exactly):
    return json.loads(frames.read(read_exactly))
"""


def test_each_way_in_each_folder_is_a_framing(measure):
    files = {"frames.py": PREFIX, "fork.py": RECEIVE, "forker.py": RECEIVE, "pool/a.py": RECEIVE}
    figures = measure(files)
    assert figures.values["framings"] == 3  # fork and forker are the ends of one
    assert sorted(names(figures, "framings")) == ["json", "json", "json", "prefix"]


def test_who_uses_a_framing_or_reads_a_file_makes_none(measure):
    whole = "import json\ndef f(file):\n    return json.loads(file.read())\n"
    system = "import struct\ndef f(line):\n    return struct.unpack('3i', line.recv(12))\n"
    files = {"frames.py": PREFIX, "use.py": USE, "whole.py": whole, "system.py": system}
    assert measure(files).values["framings"] == 1


@pytest.mark.parametrize(
    "docstring",
    ["q (..., T_q, d_k)", "w (D, D/H)", "b (D,)", "A scalar.", "x of any shape", "The same shape."],
)
def test_a_docstring_can_state_shapes(measure, docstring):
    code = f'def f(x: torch.Tensor):\n    """{docstring}"""\n'
    figures = measure({"a.py": code})
    assert (figures.values["shapeless"], figures.totals["shapeless"]) == (0, 1)


def test_public_functions_that_take_tensors_must_state_shapes(measure):
    code = """
def f(x: torch.Tensor): "Adds (in place)."
def g(x: list[Tensor] | None): ...
def _private(x: torch.Tensor): ...
def number(x: int): ...
class C:
    def method(self, *, x: torch.Tensor):
        def inner(y: torch.Tensor): ...
class _D:
    def method(self, x: torch.Tensor): ...
"""
    assert names(measure({"a.py": code}), "shapeless") == ["f", "g", "C.method"]


def test_reference_solutions_count_where_they_stand_beside_the_package(measure, tmp_path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "scale.py").write_text("def scaled(q: Tensor): ...\n")
    assert names(measure({"a.py": ""}), "shapeless") == ["scaled"]


def test_functions_are_measured_in_lines(measure):
    short = "".join(f"def f{n}():\n    pass\n" for n in range(8))
    figures = measure({"a.py": f"{short}def g():\n{'    pass' + chr(10)}{'    pass' + chr(10)}"})
    assert (figures.values["function_median"], figures.values["function_p90"]) == (2, 3)


def test_the_last_line_is_json_and_where_lists_the_places(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("found = 1\n")
    command = [sys.executable, str(TOOL), str(package), "--where", "participles"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = output.splitlines()
    assert lines[0] == f"{package / 'a.py'}:1: found"
    assert list(json.loads(lines[-1])) == [*house.FIGURES, "function_median", "function_p90"]


def test_the_house_is_in_order():
    """The goals, on this checkout. `python tools/house.py --where KEY` lists what is in the way."""
    values = house.measure(house.ROOT / "harness" / "attention_katas").values
    excess = {
        key: values[key]
        for key, most in [("circles", 0), ("texts_read", 0), ("shapeless", 0), ("framings", 1)]
        if values[key] > most
    }
    if values["participles"] >= 0.02:
        excess["participles"] = values["participles"]
    assert excess == {}
    assert values["framings"] == 1
