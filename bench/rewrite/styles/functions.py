"""The style "functions": torch's functions in the place of methods and operators, as in NumPy."""

from __future__ import annotations

import ast

from rewrite.styles import calls
from rewrite.styles.kinds import TRUTHS, Kinds, words

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Pow: "pow",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
}
IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.FloorDiv: "floor_divide_",
    ast.Pow: "pow_",
    ast.BitAnd: "bitwise_and_",
    ast.BitOr: "bitwise_or_",
}
# Exactly the same with its two sides exchanged.
EITHER_WAY = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
# Methods that take `axis` and `keepdims` as a function.
REDUCTIONS = words("all amax amin any cumsum logsumexp mean softmax squeeze sum")
# Methods that are functions of torch with the same arguments, by the name that NumPy has.
METHODS = {
    **{
        name: name
        for name in words(
            """abs chunk clone detach exp exp2 flatten log logical_not matmul max min
        nan_to_num norm pow rsqrt sigmoid sqrt tril triu unbind unflatten unsqueeze"""
        )
    },
    "add": "add",
    "clamp": "clip",
    "div": "divide",
    "movedim": "moveaxis",
    "mul": "multiply",
    "sub": "subtract",
    "swapaxes": "swapaxes",
    "transpose": "swapaxes",
}
ARITHMETIC = words("add div mul sub pow")  # a set has `add` too
TO_DTYPE = {"double": "torch.float64", "float": "torch.float32", "half": "torch.float16"}
# Fills that every dtype of floating point holds exactly; masked_fill refuses others, where doesn't.
EXACT = ("0", "0.0", "1", "1.0")
INFINITE = ("float('inf')", "float('-inf')", "torch.inf", "math.inf")


class Functions(calls.BodyTransformer):
    """Methods and operators of tensors become functions; what may be a number stays."""

    def __init__(self, tree: ast.Module, public: set[str]) -> None:
        super().__init__(tree)
        self.kinds = Kinds(tree, public)
        self.exact = {*EXACT, *INFINITE, *_constants(tree, INFINITE)}

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = (self.kinds.of(side) for side in (node.left, node.right))
        tensors = [self.kinds.is_tensor(side) for side in (node.left, node.right)]
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            return calls.call("torch.matmul", node.left, node.right)
        name = OPERATORS.get(type(node.op))
        if name is None:
            return node
        if left == right == TRUTHS:
            name = name.replace("bitwise", "logical")
        if tensors[0]:
            return calls.call(f"torch.{name}", node.left, node.right)
        if tensors[1]:
            swapped = calls.call(f"torch.{name}", node.right, node.left)
            return swapped if isinstance(node.op, EITHER_WAY) else node
        return calls.call("pow", node.left, node.right) if name == "pow" else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        kind, tensor = self.kinds.of(node.operand), self.kinds.is_tensor(node.operand)
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and tensor and kind != TRUTHS:
            return calls.call("torch.negative", node.operand)
        if isinstance(node.op, ast.Invert) and kind == TRUTHS:
            return calls.call("torch.logical_not", node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        tensor = self.kinds.is_tensor(node.left)
        self.generic_visit(node)
        name = COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        other = node.comparators[0]
        odd = isinstance(other, ast.Constant) and not isinstance(other.value, int | float)
        if not tensor or name is None or odd:
            return node
        return calls.call(f"torch.{name}", node.left, other)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        tensor = self.kinds.is_tensor(node.target)
        self.generic_visit(node)
        name = IN_PLACE.get(type(node.op))
        if name is None or not tensor or not isinstance(node.target, ast.Name):
            return node
        method = ast.Attribute(ast.Name(node.target.id, ast.Load()), name, ast.Load())
        return ast.Expr(ast.Call(method, [node.value], []))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr == "mT":
            return calls.call("torch.swapaxes", node.value, *_numbers(-2, -1))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        before = self.tensor_call(node)
        truths = before is not None and self.kinds.of(before.of) == TRUTHS
        tensor = before is not None and self.kinds.is_tensor(before.of)
        self.generic_visit(node)
        found = self.tensor_call(node)
        if found is None:
            return node
        if found.name in REDUCTIONS:
            return _reduction(found) or node
        if found.name in ARITHMETIC and not tensor:
            return node
        if not found.method:
            return _function(found, node)
        if found.name == "size" and found.fits("dim"):
            shape = ast.Attribute(found.of, "shape", ast.Load())
            dim = found.only("dim")
            return ast.Subscript(shape, dim, ast.Load()) if dim else shape
        if found.name == "dim" and not found.args:
            return ast.Attribute(found.of, "ndim", ast.Load())
        if found.name in TO_DTYPE and not found.args and not found.keywords:
            function = ast.Attribute(found.of, "to", ast.Load())
            return ast.Call(function, [ast.parse(TO_DTYPE[found.name], mode="eval").body], [])
        if found.name == "masked_fill" and len(found.args) == 2 and not truths:
            mask, fill = found.args
            if ast.unparse(fill).removeprefix("-") in self.exact:
                return calls.call("torch.where", mask, fill, found.of)
        if found.name == "where" and len(found.args) == 2:
            return calls.call("torch.where", found.args[0], found.of, found.args[1])
        if found.name in ("reshape", "permute", "expand"):
            return _of_shape(found) or node
        name = METHODS.get(found.name)
        if name is None:
            return node
        return calls.call(f"torch.{name}", found.of, *found.args, keywords=found.keywords)


def _reduction(found: calls.TensorCall) -> ast.expr | None:
    """torch.sum(x, axis=-1, keepdims=True)"""
    names = ("dim",) if found.name in ("softmax", "squeeze") else ("dim", "keepdim")
    if not found.fits(*names) or (found.name == "softmax" and not found.has("dim")):
        return None
    named = {"dim": "axis", "keepdim": "keepdims"}
    given = [*zip(names, found.args, strict=False), *((k.arg, k.value) for k in found.keywords)]
    keywords = [ast.keyword(named[name], value) for name, value in given if name]
    return calls.call(f"torch.{found.name}", found.of, keywords=keywords)


def _function(found: calls.TensorCall, node: ast.Call) -> ast.expr:
    """A function of torch by the name that it has in NumPy."""
    if found.name in ("cat", "concat", "stack") and found.fits("dim"):
        name = "stack" if found.name == "stack" else "concatenate"
        dim = found.only("dim")
        keywords = [ast.keyword("axis", dim)] if dim else []
        return calls.call(f"torch.{name}", found.of, keywords=keywords)
    if found.name in ("ones", "zeros") and found.args:
        return calls.call(
            f"torch.{found.name}", ast.Tuple(node.args, ast.Load()), keywords=node.keywords
        )
    name = METHODS.get(found.name, found.name)
    return calls.call(f"torch.{name}", *node.args, keywords=node.keywords)


def _of_shape(found: calls.TensorCall) -> ast.expr | None:
    """torch.reshape(x, (2, 3)): the sizes in a tuple, which they may be already."""
    name = {"expand": "broadcast_to"}.get(found.name, found.name)
    if found.keywords or not found.args:
        return None
    first = found.args[0]
    if len(found.args) > 1 or isinstance(first, ast.Starred):
        sizes: ast.expr = ast.Tuple(found.args, ast.Load())
    elif isinstance(first, ast.Tuple | ast.List) or ast.unparse(first).endswith(".shape"):
        sizes = first
    else:
        return None
    return calls.call(f"torch.{name}", found.of, sizes)


def _constants(tree: ast.Module, texts: tuple[str, ...]) -> list[str]:
    """The module's own names for one of these expressions."""
    return [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).removeprefix("-") in texts
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def _numbers(*numbers: int) -> list[ast.expr]:
    return [ast.Constant(number) for number in numbers]
