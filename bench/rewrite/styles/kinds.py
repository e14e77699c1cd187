"""Which expressions of a file are tensors: enough to tell `a * b` of tensors from that of numbers.

Names have one kind for all of their function. What is not sure has no kind, and is left alone by
those who ask.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

TENSOR, TRUTHS, NUMBER = "tensor", "tensor of truth values", "number"
TENSORS = (TENSOR, TRUTHS)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods that only tensors have, and that give tensors.
METHODS = words(
    """abs amax amin bool chunk clamp clone contiguous detach div double exp exp2 expand
    expand_as flatten float half log logsumexp masked_fill masked_fill_ masked_select matmul mean
    movedim mul nan_to_num new_full new_ones new_zeros norm permute pow reshape rsqrt softmax sqrt
    squeeze sub sum swapaxes t tile to transpose tril triu type_as unflatten unsqueeze view
    where"""
)
TRUTH_METHODS = words("all any eq ge gt isfinite isinf isnan le logical_not lt ne")
SHAPE_METHODS = words("size dim numel element_size item")
# Attributes that only tensors have.
ATTRIBUTES = words("T mT shape ndim dtype device grad")
KEEPS_TRUTHS = words(
    """clone contiguous detach expand flatten permute reshape squeeze transpose tril triu unsqueeze
    view"""
)
NOT_TENSORS = words("Size device dtype finfo iinfo is_tensor no_grad chunk unbind")
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
LOGIC = (ast.BitAnd, ast.BitOr, ast.BitXor)

Names = dict[str, str]


class Kinds:
    """The kinds of a module's expressions; ask with `of(node)`, for nodes of the tree given.

    public: functions that others call too, with arguments of which nothing is known.
    """

    def __init__(self, tree: ast.Module, public: set[str]) -> None:
        self.functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        self.returns: Names = {}
        self.found: dict[int, str] = {}
        self.given: dict[tuple[str, str], str] = {}
        self._only_called = _only_called(tree) - public
        for _ in range(5):
            before = (dict(self.returns), dict(self.given), len(self.found))
            for function in self.functions:
                self._look(function)
            self._arguments()
            if before == (self.returns, self.given, len(self.found)):
                break

    def of(self, node: ast.AST) -> str | None:
        return self.found.get(id(node))

    def is_tensor(self, node: ast.AST) -> bool:
        return self.of(node) in TENSORS

    def _look(self, function: ast.FunctionDef) -> None:
        names = self._parameters(function)
        self._locals(function, names)
        for node in ast.walk(function):
            if isinstance(node, ast.expr):
                kind = self._kind(node, names)
                if kind:
                    self.found[id(node)] = kind
        returned = {
            self._kind(node.value, names) if node.value else None
            for node in ast.walk(function)
            if isinstance(node, ast.Return)
        }
        kind = _joined(returned)
        if kind:
            self.returns[function.name] = kind

    def _locals(self, function: ast.FunctionDef, names: Names) -> None:
        """Adds the local names: first what some binding suggests, then only what all bear out."""
        parameters = {argument.arg for argument in _all_arguments(function)}
        bound: dict[str, list[ast.expr | None]] = {}
        for name, value in _stores(function):
            if name not in parameters:
                bound.setdefault(name, []).append(value)

        def kinds(name: str) -> set[str | None]:
            return {self._kind(value, names) if value else None for value in bound[name]}

        for _ in bound:
            for name in bound:
                kind = _joined(kinds(name) - {None})
                if kind:
                    names[name] = kind
        while wrong := {n for n in names.keys() & bound.keys() if _joined(kinds(n)) is None}:
            for name in wrong:
                del names[name]

    def _parameters(self, function: ast.FunctionDef) -> Names:
        """Those that are annotated as tensors, used as ones, or always given as ones."""
        used = _used_as_tensors(function)
        arguments = _all_arguments(function)
        annotated = {a.arg for a in arguments if a.annotation and _is_tensor(a.annotation)}
        stored = {name for name, _ in _stores(function)}
        kinds: Names = {}
        for argument in arguments:
            name = argument.arg
            given = self.given.get((function.name, name)) if name not in stored else None
            if given:
                kinds[name] = given
            elif name in annotated or name in used:
                kinds[name] = TENSOR
        return kinds

    def _arguments(self) -> None:
        """The kinds that functions are called with, of those that are only ever called by name."""
        kinds: dict[tuple[str, str], set[str | None]] = {}
        named = {f.name: f for f in self.functions if f.name in self._only_called}
        for function in self.functions:
            for node in ast.walk(function):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                callee = named.get(node.func.id)
                if callee is None:
                    continue
                names = [argument.arg for argument in _all_arguments(callee)]
                given: dict[str, ast.expr] = {}
                if any(isinstance(a, ast.Starred) for a in node.args):
                    given = {}
                else:
                    given = dict(zip(names, node.args, strict=False))
                given |= {k.arg: k.value for k in node.keywords if k.arg}
                for name in names:
                    kind = self.of(given[name]) if name in given else None
                    kinds.setdefault((callee.name, name), set()).add(kind)
        for key, found in kinds.items():
            kind = _joined(found)
            if kind:
                self.given[key] = kind

    def _kind(self, node: ast.expr, names: Names) -> str | None:
        if isinstance(node, ast.Name):
            return names.get(node.id)
        if isinstance(node, ast.Constant):
            plain = isinstance(node.value, int | float) and not isinstance(node.value, bool)
            return NUMBER if plain else None
        if isinstance(node, ast.UnaryOp):
            kind = self._kind(node.operand, names)
            return kind if not isinstance(node.op, ast.Not) else None
        if isinstance(node, ast.BinOp):
            return self._of_operation(node, names)
        if isinstance(node, ast.Compare):
            sides = [self._kind(side, names) for side in (node.left, *node.comparators)]
            plain = all(
                not isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops
            )
            return TRUTHS if plain and any(side in TENSORS for side in sides) else None
        if isinstance(node, ast.IfExp):
            return _joined({self._kind(node.body, names), self._kind(node.orelse, names)})
        if isinstance(node, ast.Attribute):
            if node.attr in ("T", "mT"):
                return self._kind(node.value, names) or TENSOR
            return NUMBER if node.attr == "ndim" else None
        if isinstance(node, ast.Subscript):
            kind = self._kind(node.value, names)
            if kind in TENSORS:
                return kind
            shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            return NUMBER if shape and not isinstance(node.slice, ast.Slice) else None
        if isinstance(node, ast.Call):
            return self._of_call(node, names)
        return None

    def _of_operation(self, node: ast.BinOp, names: Names) -> str | None:
        left, right = self._kind(node.left, names), self._kind(node.right, names)
        if isinstance(node.op, ast.MatMult):
            return TENSOR
        if isinstance(node.op, LOGIC):
            return (
                TRUTHS if TRUTHS in (left, right) else TENSOR if TENSOR in (left, right) else None
            )
        if left in TENSORS or right in TENSORS:
            return TENSOR
        return NUMBER if isinstance(node.op, ARITHMETIC) and left == right == NUMBER else None

    def _of_call(self, node: ast.Call, names: Names) -> str | None:
        if isinstance(node.func, ast.Name):
            if node.func.id in ("int", "float", "len"):
                return NUMBER
            return self.returns.get(node.func.id) if node.func.id not in names else None
        if not isinstance(node.func, ast.Attribute):
            return None
        name, owner = node.func.attr, ast.unparse(node.func.value)
        if owner == "math":
            return NUMBER
        if owner == "torch":
            truths = name in TRUTH_METHODS or any(
                k.arg == "dtype" and ast.unparse(k.value) == "torch.bool" for k in node.keywords
            )
            first = self._kind(node.args[0], names) if node.args else None
            if truths or (name in KEEPS_TRUTHS and first == TRUTHS):
                return TRUTHS
            return None if name in NOT_TENSORS or not name[0].islower() else TENSOR
        if owner in ("F", "torch.nn.functional", "nn.functional"):
            return TENSOR
        if name in TRUTH_METHODS:
            return TRUTHS
        if name in SHAPE_METHODS:
            return NUMBER if name != "size" or node.args else None
        if name in KEEPS_TRUTHS and self._kind(node.func.value, names) == TRUTHS:
            return TRUTHS
        return TENSOR if name in METHODS - NOT_TENSORS else None


def _joined(kinds: set[str | None]) -> str | None:
    """The kind of something that may be any of these."""
    if kinds and kinds <= set(TENSORS):
        return TRUTHS if kinds == {TRUTHS} else TENSOR
    return NUMBER if kinds == {NUMBER} else None


def _is_tensor(annotation: ast.expr) -> bool:
    text = ast.unparse(annotation)
    return "Tensor" in text and "[" not in text


def _all_arguments(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _stores(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """Every name that a function binds, with the expression that it is bound to if there is one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _bound(target, node.value)
        elif isinstance(node, ast.AugAssign):
            yield from _bound(node.target, ast.BinOp(node.target, node.op, node.value))
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            yield from _bound(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            ranged = ast.unparse(node.iter).startswith("range(")
            yield from _bound(node.target, ast.Constant(0) if ranged else None)
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars:
                    yield from _bound(item.optional_vars, None)


def _bound(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, None)
    elif isinstance(target, ast.Tuple | ast.List):
        parts: Iterable[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            parts = value.elts
        elif isinstance(value, ast.Attribute) and value.attr == "shape":
            parts = [ast.Constant(0)] * len(target.elts)
        elif isinstance(value, ast.GeneratorExp | ast.ListComp):
            parts = [value.elt] * len(target.elts)
        for part, item in zip(target.elts, parts, strict=True):
            yield from _bound(part, item)


def _used_as_tensors(function: ast.FunctionDef) -> set[str]:
    """Names that stand where only a tensor can: before a tensor's method, or beside an @."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            known = METHODS | TRUTH_METHODS | SHAPE_METHODS | ATTRIBUTES
            if node.attr in known and isinstance(node.value, ast.Name):
                found.add(node.value.id)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found |= {side.id for side in (node.left, node.right) if isinstance(side, ast.Name)}
    return found


def _only_called(tree: ast.Module) -> set[str]:
    """Names of functions that are never passed on, only called."""
    called = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    passed = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called
    }
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} - passed
