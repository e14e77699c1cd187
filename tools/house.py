"""Six figures of how the package reads to a stranger, and where each of them comes from.

    python tools/house.py [PACKAGE_DIR] [--where KEY]

The package is every .py file below PACKAGE_DIR (harness/attention_katas beside this folder when it
is left out); what it ships as text, style or picture is no part of a figure, but its .js files are
searched for `texts_read`. The last line of the output is the figures as JSON:

lines           lines of those files.
circles         import circles: sets of more than one module that import each other. Imports inside
                functions and under TYPE_CHECKING count.
participles     the share of bindings whose whole name is a participle or a pronoun (PARTICIPLES and
                PRONOUNS; a word in -ed unless ROLES has it). A binding is a name in the target of
                an assignment, `for`, `with`, `:=` or comprehension: the `row` of `row.key = 1` is
                one, and so is a constant or a field; `+=` and parameters are none.
texts_read      functions that test the wording of an English message to decide something. See
                `Texts`.
framings        implementations of messages between processes. See `framing`.
shapeless       public functions and methods, here and in the reference solutions, that take tensors
                and whose docstring states no shapes. Nested functions and stubs are left out.
function_median, function_p90   lines of a function, its decorators apart.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ("lines", "circles", "participles", "texts_read", "framings", "shapeless")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = words(
    """mine yours theirs ours hers his its one other others each all both none some any another
    this that these those it itself them they he she him her"""
)

PARTICIPLES = words(
    """found told said made given known kept left held shown seen done chosen sent lost taken
    written unwritten rewritten spent hidden broken heard gone drawn begun stuck spoken meant met
    brought thought taught caught bought sold felt led laid paid won thrown grown flown torn worn
    sworn bitten woken frozen eaten fallen forgotten ridden risen driven proven forgiven wound lent
    bent struck dealt dug fed swept wept stood understood misunderstood sought fought mistaken
    undone unknown unseen unheard become overcome gotten sung sunk swum shaken stolen withdrawn
    withheld foreseen overseen undertaken mistold retold remade unmade foretold"""
)

# Words in -ed that are no participle, or that name a role or a result in programs: the expected
# value, the tests that failed, the names that are allowed, a masked score.
ROLES = words(
    """seed speed feed need embed red bed bleed breed indeed weed deed creed greed hundred sacred
    naked wicked ragged shared embedded expected failed passed skipped raised named changed started
    placed noted allowed returned judged stopped opened used moved banned printed called turned
    counted masked graded ungraded starred imported helped replaced offered described dotted
    listed refused blamed halted audited windowed batched nested annotated ordered numbered
    collected finished ended killed watched merged linked packed stored permitted swapped ranged
    rearranged revalued resubmitted outdated optimised untouched typed excused unexplained sorted
    reversed cached locked padded fixed signed unsigned enabled disabled selected required
    elapsed closed weighted limited advanced detached attached verified unverified
    undecided concerned"""
)

# What a message, or a part of one, is called. In the singular: a plural is a collection.
MESSAGES = words(
    """message msg said says sentence wording phrase remark reason why told title headline subtitle
    symptom ask question explanation complaint notice advice next_step prose caption"""
)
# What is compared with codes, which may have a space in them ("out of memory").
CODES = words("outcome kind state status code type level mode category verdict")
# Where the words of an exception, of a file or of another program begin.
OTHERS_WORDS = words("str repr raised exception exc line stdout stderr output")
PATTERNS = words("search match fullmatch findall finditer sub subn split")
WORDINGS = words(
    """startswith endswith partition rpartition removeprefix removesuffix replace find rfind index
    count split rsplit"""
)

AXES = r"(?:\.\.\.|\*?[A-Za-z_][\w/']*|\d+)"
SHAPES = re.compile(
    rf"\({AXES}(?:, {AXES})+\)|\({AXES},\)"
    r"|\b0-d\b|\bscalars?\b|\b(?:any|same|one|equal) shapes?\b|\bshapes? of\b|\bof shape\b"
)
BYTES_READ = words("recv recv_into recv_fds recvmsg recvfrom recv_bytes readexactly")
READERS = re.compile(r"read|_?(read|recv|receive)_(exactly|exact|all|bytes|n)")


@dataclass
class Module:
    """A file of the package. name: as it is imported."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        if self.path.name == "__init__.py":
            return self.name
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, order=True)
class Place:
    """Where something counts, and what it is called there."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        path, here = Path(self.path), Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else path
        return f"{path}:{self.line}: {self.name}"


@dataclass
class Figures:
    """values: by key, as in the JSON. totals: of what a value is a part. places: what counts."""

    values: dict[str, float] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[Place]] = field(default_factory=dict)


def read_modules(folder: Path) -> list[Module]:
    """Every Python file below `folder`. Raises SyntaxError for one that is not valid Python."""
    modules = []
    for path in sorted(folder.rglob("*.py")):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        text = path.read_text(encoding="utf-8")
        modules.append(Module(".".join(parts), path, text, ast.parse(text, str(path))))
    return modules


# Imports


def circles(modules: list[Module]) -> list[list[str]]:
    """The sets of modules that import each other, directly or through others."""
    names = {module.name for module in modules}
    graph = {module.name: set(imports(module, names)) - {module.name} for module in modules}
    groups = {frozenset(_loop(graph, name)) for name in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def imports(module: Module, names: set[str]) -> Iterator[str]:
    """The modules of the package that this one imports, wherever the statement stands."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            base = source(module, node)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                if whole in names or base in names:
                    yield whole if whole in names else base


def source(module: Module, node: ast.ImportFrom) -> str:
    """The absolute name of what a `from` statement imports from."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _loop(graph: dict[str, set[str]], start: str) -> set[str]:
    """`start` and every module that it reaches and that reaches it."""
    backward: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backward[target].add(name)
    return _reach(graph, start) & _reach(backward, start)


def _reach(graph: dict[str, set[str]], start: str) -> set[str]:
    modules, stack = {start}, [start]
    while stack:
        news = graph[stack.pop()] - modules
        modules |= news
        stack.extend(news)
    return modules


# Names


def bindings(tree: ast.AST) -> Iterator[ast.Name]:
    """Every name in a target of an assignment, `for`, `with`, `:=` or comprehension."""
    for node in ast.walk(tree):
        for target in _targets(node):
            yield from (name for name in ast.walk(target) if isinstance(name, ast.Name))


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, ast.AnnAssign | ast.For | ast.AsyncFor | ast.comprehension | ast.NamedExpr):
        return [node.target]
    if isinstance(node, ast.withitem) and node.optional_vars:
        return [node.optional_vars]
    return []


def is_participle(name: str) -> bool:
    """The whole name is a past participle or a pronoun."""
    if name in PARTICIPLES or name in PRONOUNS:
        return True
    return len(name) > 3 and name.isalpha() and name.endswith("ed") and name not in ROLES


# Texts


class Texts:
    """Finds the tests of wording in a package.

    A test is ==, != or `in`, a method such as `endswith`, or a regular expression. It is one of
    wording if what is tested is called as a message is (MESSAGES) and the pattern has letters or is
    the sign that ends a sentence, or if the pattern is a phrase: two words of small letters, as a
    literal or as a constant of the package. Not counted: what is compared with a code (CODES, or a
    constant that is assigned together with others, `A, B = "a", "b"`), and words that are not ours
    and so have no code (OTHERS_WORDS, and a function that is given an exception or a warning of
    Python's). A function counts once.
    """

    def __init__(self, modules: list[Module]) -> None:
        self.modules = {module.name: module for module in modules}
        self.constants = {module.name: _constants(module) for module in modules}
        self.origins = {module.name: _origins(module) for module in modules}

    def places(self) -> Iterator[Place]:
        for module in self.modules.values():
            for name, function in _scopes(module.tree):
                nodes = list(own_nodes(function))
                if _is_about_exceptions(function):
                    continue
                scope = Scope(self, module.name, _choices(nodes))
                expressions = (node for node in nodes if isinstance(node, ast.expr))
                line = next((node.lineno for node in expressions if scope.is_test(node)), 0)
                if line:
                    yield Place(str(module.path), line, name)

    def resolve(self, module: str, name: str) -> tuple[str, ast.expr] | None:
        """The module that defines a constant and its value, through at most one import."""
        if name in self.constants.get(module, {}):
            return module, self.constants[module][name]
        base, _, attribute = self.origins.get(module, {}).get(name, "").rpartition(".")
        if attribute in self.constants.get(base, {}):
            return base, self.constants[base][attribute]
        return None


@dataclass
class Scope:
    """One function. choices: what the names of its comprehensions run through."""

    texts: Texts
    module: str
    choices: dict[str, ast.expr]

    def is_test(self, node: ast.expr) -> bool:
        """The node tests the wording of a text."""
        if isinstance(node, ast.Compare):
            return self._is_comparison(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._is_method(node, node.func)
        return False

    def _is_comparison(self, node: ast.Compare) -> bool:
        first, second = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return not _is_collection(second) and self._tests(second, first)
        if isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return self._tests(first, second) or self._tests(second, first)
        return False

    def _is_method(self, node: ast.Call, method: ast.Attribute) -> bool:
        name, owner, args = method.attr, method.value, node.args
        if name in PATTERNS and isinstance(owner, ast.Name) and owner.id == "re":
            at = 2 if name in ("sub", "subn") else 1
            return len(args) > at and self._matches(args[at], args[0], name)
        at = 1 if name in ("sub", "subn") else 0
        if name in PATTERNS - {"split"} and len(args) > at:
            return self._matches(args[at], owner, name)
        if name not in WORDINGS or not args:
            return False
        return self._tests(owner, args[0], phrases=name != "replace")

    def _matches(self, subject: ast.expr, pattern: ast.expr, method: str) -> bool:
        """A regular expression is applied; one that comes from a table counts for a message."""
        if not self.strings(pattern):
            return last_name(subject) in MESSAGES and not _is_foreign(subject)
        return self._tests(subject, pattern, phrases=method not in ("sub", "subn"))

    def _tests(self, subject: ast.expr, pattern: ast.expr, phrases: bool = True) -> bool:
        strings, name = self.strings(pattern), last_name(subject)
        if not strings or name in CODES or _is_foreign(subject):
            return False
        if name in MESSAGES:
            return any(has_words(string) for string in strings)
        return phrases and any(is_phrase(string) for string in strings)

    def strings(self, node: ast.expr) -> list[str]:
        """What a literal, a constant, or a name that runs through literals can be."""
        if isinstance(node, ast.Name) and node.id in self.choices:
            return self._elements(self.choices[node.id])
        return self._elements(node)

    def _elements(self, node: ast.expr, module: str = "") -> list[str]:
        module = module or self.module
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            return [_fixed_part(node)]
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return [string for part in node.elts for string in self._elements(part, module)]
        if isinstance(node, ast.Call) and node.args and last_name(node.func) == "compile":
            return self._elements(node.args[0], module)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._constant(node, module)
        return []

    def _constant(self, node: ast.Name | ast.Attribute, module: str) -> list[str]:
        name = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(node, ast.Attribute):
            if not isinstance(node.value, ast.Name):
                return []
            module = self.texts.origins[module].get(node.value.id, "")
        match = self.texts.resolve(module, name) if name.isupper() else None
        return self._elements(match[1], match[0]) if match else []


def _constants(module: Module) -> dict[str, ast.expr]:
    """The values that a module gives to names in capitals, one at a time."""
    values: dict[str, ast.expr] = {}
    for node in module.tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            values.update((name, node.value) for name in names if name.isupper())
    return values


def _origins(module: Module) -> dict[str, str]:
    """What each imported name stands for, in full."""
    origins = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            origins.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            base = source(module, node)
            for alias in node.names:
                origins[alias.asname or alias.name] = f"{base}.{alias.name}"
    return origins


def _scopes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The module itself, and every function in it."""
    yield "(module)", tree
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            yield node.name, node


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in a function or module, and not in a function inside it; in its order."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from own_nodes(child)


def _choices(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Names that run through a tuple or list that stands there, as in `for w in ("a", "b")`."""
    loops = [node for node in nodes if isinstance(node, ast.comprehension | ast.For)]
    return {
        loop.target.id: loop.iter
        for loop in loops
        if isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Tuple | ast.List)
    }


def _fixed_part(node: ast.JoinedStr) -> str:
    constants = (part.value for part in node.values if isinstance(part, ast.Constant))
    return " ".join(str(value) for value in constants)


def last_name(node: ast.expr) -> str:
    """What an expression is called: `message` for `check.message[:9].strip()`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        return last_name(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not node.args:
            return last_name(node.func.value)
        return last_name(node.func)
    if isinstance(node, ast.BoolOp):
        return last_name(node.values[0])
    return ""


def is_phrase(string: str) -> bool:
    """Two words of small letters at least, and nothing that looks like code."""
    string = _without_classes(string)
    pair = re.search(r"(?<![\w-])[a-z]{2,} [a-z]{2,}(?![\w-])", string)
    first = re.search(r"[^\W\d_]", string)
    return bool(pair and first and first[0].islower()) and not re.search(r"[=<>{}\"@%/]", string)


def has_words(string: str) -> bool:
    """Letters of a language, or the sign that ends a sentence. A number written out has none."""
    letters = re.findall(r"[A-Za-z]{2,}", _without_classes(string))
    return any(word not in ("nan", "inf") for word in letters) or string in (".", "?", "!")


def _without_classes(pattern: str) -> str:
    return re.sub(r"\\[A-Za-z][+*]?|\(\?[:=!]|\(\?P<\w+>", " ", pattern)


def _is_collection(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.ListComp | ast.SetComp):
        return True
    name = last_name(node)
    return name.isupper() or (name.endswith("s") and name not in MESSAGES)


def _is_foreign(node: ast.expr) -> bool:
    """The words of an exception or of another program: `str(error)`, `raised.message`, `line`."""
    names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return bool(names) and names[0] in OTHERS_WORDS


def _is_about_exceptions(function: ast.AST) -> bool:
    """It is given an exception or a warning of Python's, and so reads what that says."""
    if not isinstance(function, FUNCTIONS):
        return False
    return any(_is_exception(name) for name in _annotation_names(function))


def _annotation_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for parameter in parameters(function):
        if parameter.annotation:
            yield from re.findall(r"\w+", ast.unparse(parameter.annotation))


def _is_exception(name: str) -> bool:
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, BaseException)


# The same in the .js files, by lines: a parser of JavaScript is not in the standard library.

JS_CONSTANT = re.compile(r"const (\w+) = (?:/((?:[^/\\\n]|\\.)+)/\w*|\"([^\"]*)\"|'([^']*)');")
JS_SCOPE = re.compile(r"(?:export )?(?:default )?(?:async )?(?:function\*?|const|let|class) (\w+)")
JS_PATTERN = r"/(?:[^/\\\n]|\\.)+/\w*|\"[^\"]*\"|'[^']*'|[A-Z][A-Z_0-9]+\b"
JS_REGEX = re.compile(rf"({JS_PATTERN})\.(?:test|exec)\(([\w.?\[\]]*)")
JS_METHOD = re.compile(
    r"([\w.?\[\]]+?)\??\.(?:endsWith|startsWith|includes|indexOf|match|matchAll|search|split)"
    rf"\(({JS_PATTERN})"
)
JS_EQUAL = re.compile(rf"([\w.?\[\]]+) [!=]==? ({JS_PATTERN})")


def script_places(folder: Path) -> Iterator[Place]:
    """The functions in .js files that test wording."""
    for path in sorted(folder.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        constants = {match[1]: match[2] or match[3] or "" for match in JS_CONSTANT.finditer(text)}
        scopes: set[str] = set()
        scope = "(module)"
        for number, line in enumerate(text.splitlines(), 1):
            head = JS_SCOPE.match(line)
            scope = head[1] if head else scope
            if scope not in scopes and _is_script_test(line, constants):
                scopes.add(scope)
                yield Place(str(path), number, scope)


def _is_script_test(line: str, constants: dict[str, str]) -> bool:
    """A line of JavaScript tests the wording of a text."""
    tests = [(match[2], match[1]) for match in JS_REGEX.finditer(line)]
    tests += [(match[1], match[2]) for match in JS_METHOD.finditer(line)]
    tests += [(match[1], match[2]) for match in JS_EQUAL.finditer(line)]
    for subject, pattern in tests:
        name = re.split(r"\W+", subject.rstrip("?]["))[-1]
        string = constants.get(pattern, pattern.strip("/\"'") if not pattern.isupper() else "")
        if name in MESSAGES and has_words(string):
            return True
        if name not in CODES and is_phrase(string):
            return True
    return False


# Framings


def framings(modules: list[Module]) -> dict[tuple[str, str], list[Place]]:
    """Where messages between processes are framed, by the folder and the way it is done.

    Two modules of one folder that read in the same way are the two ends of one framing.
    """
    groups: dict[tuple[str, str], list[Place]] = {}
    for module in modules:
        way, line = framing(module)
        if way:
            key = str(module.path.parent), way
            groups.setdefault(key, []).append(Place(str(module.path), line, way))
    return groups


def framing(module: Module) -> tuple[str, int]:
    """How a module turns the bytes of a pipe or socket into messages by itself, and the line.

    It both takes bytes from it (`recv`, or a read of a given size) and decodes them: a length
    before the message ("prefix"), or one message as it comes ("json", "pickle"). To call the
    `read` of another module of the package is to use a framing, not to make one.
    """
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    aliases = set(_origins(module))
    reads = [node.lineno for node in calls if _takes_bytes(node, aliases)]
    ways = {way for node in calls if (way := _decodes(node))}
    if not reads or not ways:
        return "", 0
    return min(ways, key=("prefix", "pickle", "json").index), reads[0]


def _takes_bytes(node: ast.Call, aliases: set[str]) -> bool:
    """Bytes are taken from a pipe or socket: not looked at, nor a whole file read."""
    function = node.func
    if isinstance(function, ast.Name):
        return (
            bool(READERS.fullmatch(function.id)) and bool(node.args) and function.id not in aliases
        )
    if not isinstance(function, ast.Attribute) or not node.args:
        return False
    if function.attr in BYTES_READ:
        return "MSG_PEEK" not in ast.unparse(node)
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    return function.attr == "read" and len(node.args) == 1 and owner not in aliases


def _decodes(node: ast.Call) -> str:
    """How a call turns bytes into a message: prefix, json, pickle, or "" for not at all."""
    function = node.func
    if not isinstance(function, ast.Attribute):
        return ""
    owner = last_name(function.value)
    if function.attr == "loads" and owner in ("json", "pickle"):
        return owner
    return "prefix" if _is_length(node, owner, function.attr) else ""


def _is_length(node: ast.Call, owner: str, method: str) -> bool:
    """The length of a message is unpacked; `unpack("3i", data)` is a structure of the system."""
    if method == "from_bytes":
        return owner == "int" and any(isinstance(part, ast.Call) for part in node.args[:1])
    layout = str(ast.literal_eval(node.args[0])) if _is_literal(node.args[:1]) else ""
    is_struct = owner == "struct" and not re.fullmatch(r"[@=<>!]?[HIQLN]", layout)
    return method in ("unpack", "unpack_from") and not is_struct


def _is_literal(nodes: list[ast.expr]) -> bool:
    return bool(nodes) and isinstance(nodes[0], ast.Constant)


# Shapes


def tensor_functions(modules: Iterable[Module]) -> Iterator[tuple[Place, bool]]:
    """Public functions and methods that take tensors, and whether their docstring states shapes."""
    for module in modules:
        for name, function in public_functions(module.tree):
            if any(_is_tensor(parameter) for parameter in parameters(function)):
                docstring = " ".join((ast.get_docstring(function) or "").split())
                place = Place(str(module.path), function.lineno, name)
                yield place, bool(SHAPES.search(docstring))


def public_functions(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods without an underscore, those of public classes and no nested ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNCTIONS):
            if not node.name.startswith("_"):
                yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield from public_functions(node, f"{node.name}.")
        else:
            yield from public_functions(node, prefix)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    a = function.args
    return [p for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p]


def _is_tensor(parameter: ast.arg) -> bool:
    """Annotated as a tensor, or as something made of tensors."""
    return parameter.annotation is not None and "Tensor" in ast.unparse(parameter.annotation)


# The figures


def reference_modules(folder: Path) -> list[Module]:
    """The reference solutions of a checkout, or none: a wheel has them inside the package."""
    beside = folder.resolve().parents[1] / "reference"
    return read_modules(beside) if beside.is_dir() else []


def measure(folder: Path) -> Figures:
    """All figures of the package in `folder`."""
    modules, figures = read_modules(folder), Figures()
    figures.values["lines"] = sum(len(module.text.splitlines()) for module in modules)
    figures.places["lines"] = [
        Place(str(module.path), len(module.text.splitlines()), module.name) for module in modules
    ]
    loops = circles(modules)
    figures.values["circles"] = len(loops)
    figures.places["circles"] = [Place(str(folder), 0, " <-> ".join(loop)) for loop in loops]
    _measure_names(figures, modules)
    figures.places["texts_read"] = sorted([*Texts(modules).places(), *script_places(folder)])
    figures.values["texts_read"] = len(figures.places["texts_read"])
    groups = framings(modules)
    figures.values["framings"] = len(groups)
    figures.places["framings"] = [place for group in groups.values() for place in group]
    _measure_shapes(figures, [*modules, *reference_modules(folder)])
    _measure_functions(figures, modules)
    return figures


def _measure_names(figures: Figures, modules: list[Module]) -> None:
    places, total = [], 0
    for module in modules:
        for name in bindings(module.tree):
            total += 1
            if is_participle(name.id):
                places.append(Place(str(module.path), name.lineno, name.id))
    figures.values["participles"] = round(len(places) / max(total, 1), 4)
    figures.totals["participles"] = total
    figures.places["participles"] = places


def _measure_shapes(figures: Figures, modules: list[Module]) -> None:
    functions = list(tensor_functions(modules))
    figures.places["shapeless"] = [place for place, has_shapes in functions if not has_shapes]
    figures.values["shapeless"] = len(figures.places["shapeless"])
    figures.totals["shapeless"] = len(functions)


def _measure_functions(figures: Figures, modules: list[Module]) -> None:
    sizes = sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, FUNCTIONS)
    ) or [0]
    figures.values["function_median"] = sizes[len(sizes) // 2]
    figures.values["function_p90"] = sizes[len(sizes) * 9 // 10]


NOTES: dict[str, Callable[[Figures], str]] = {
    "lines": lambda figures: f"in {len(figures.places['lines'])} files",
    "participles": lambda figures: (
        f"{len(figures.places['participles'])} of {figures.totals['participles']} bindings: "
        + ", ".join(f"{name} {count}" for name, count in most_common(figures))
    ),
    "texts_read": lambda figures: "functions that test the wording of a message",
    "framings": lambda figures: ", ".join(
        Path(place.path).stem for place in figures.places["framings"]
    ),
    "shapeless": lambda figures: (
        f"of {figures.totals['shapeless']} public functions that take tensors"
    ),
}


def most_common(figures: Figures) -> list[tuple[str, int]]:
    return Counter(place.name for place in figures.places["participles"]).most_common(10)


def table(figures: Figures) -> list[str]:
    """A line for each figure."""
    return [
        f"{key:<16}{value:>9,}  {NOTES[key](figures) if key in NOTES else ''}".rstrip()
        for key, value in figures.values.items()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "harness/attention_katas")
    parser.add_argument("--where", choices=FIGURES, metavar="KEY", help="also list what counts")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    figures = measure(options.folder)
    lines = [str(place) for place in figures.places[options.where]] if options.where else []
    lines += [*table(figures), json.dumps(figures.values)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
