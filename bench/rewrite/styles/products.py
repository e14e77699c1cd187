"""The styles "einsum" and "loops": products, sums and triangles by other means."""

from __future__ import annotations

import ast
import string
from dataclasses import dataclass

from rewrite.styles import calls

LAST_TWO = ({"-2", "-1"}, {"-1", "-2"})


@dataclass(frozen=True)
class Means:
    """The helpers of a style by what they stand for; "" for what it leaves as it is."""

    product: str
    pairs: str = ""
    linear: str = ""
    turned: str = ""
    softmax: str = ""
    einsum: str = ""
    eye: str = ""
    reductions: tuple[tuple[str, str], ...] = ()
    triangles: tuple[tuple[str, str], ...] = ()


EINSUM = Means(
    product="_einsum_product",
    pairs="_einsum_pairs",
    linear="_einsum_linear",
    turned="_einsum_turned",
    reductions=(("sum", "_einsum_sum"),),
)
LOOPS = Means(
    product="_loop_product",
    softmax="_loop_softmax",
    einsum="_loop_einsum",
    eye="_loop_eye",
    reductions=(
        ("sum", "_loop_sum"),
        ("amax", "_loop_amax"),
        ("any", "_loop_any"),
    ),
    triangles=(("tril", "_loop_tril"), ("triu", "_loop_triu")),
)


class Products(calls.BodyTransformer):
    """Puts the helpers of a style in the place of what they stand for."""

    def __init__(self, tree: ast.Module, means: Means) -> None:
        super().__init__(tree)
        self.means = means

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.MatMult):
            return self._product(node.left, node.right)
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if isinstance(node.op, ast.MatMult) and isinstance(node.target, ast.Name):
            # Tensors have no product in place: this binds the name to a new one.
            left = ast.Name(node.target.id, ast.Load())
            return ast.Assign([node.target], self._product(left, node.value))
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "mT" and self.means.turned:
            return calls.call(self.means.turned, self.visit(node.value))
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        turned = _transposed(node)
        if turned is not None and self.means.turned:
            return calls.call(self.means.turned, self.visit(turned))
        self.generic_visit(node)
        found = self.tensor_call(node)
        if found is None:
            return node
        if found.name == "einsum":
            return self._einsum(node)
        if found.name == "matmul" and len(found.args) == 1 and not found.keywords:
            return calls.call(self.means.product, found.of, *found.args)
        if found.name == "softmax" and self.means.softmax:
            dim = found.only("dim")
            return calls.call(self.means.softmax, found.of, dim) if dim else node
        if found.name == "eye" and self.means.eye and not found.method:
            fits = len(found.args) < 2 and found.fits("m", "dtype", "device")
            return calls.call(self.means.eye, *node.args, keywords=node.keywords) if fits else node
        for name, helper in self.means.triangles:
            if found.name == name and found.fits("diagonal"):
                return calls.call(helper, found.of, *found.args, keywords=found.keywords)
        for name, helper in self.means.reductions:
            if found.name == name and found.has("dim") and found.fits("dim", "keepdim"):
                return calls.call(helper, found.of, *found.args, keywords=found.keywords)
        return node

    def _product(self, left: ast.expr, right: ast.expr) -> ast.expr:
        means, turned = self.means, _transposed(right)
        if turned is not None and means.pairs:
            return calls.call(means.pairs, self.visit(left), self.visit(turned))
        if isinstance(right, ast.Attribute) and right.attr == "T" and means.linear:
            return calls.call(means.linear, self.visit(left), self.visit(right.value))
        return calls.call(means.product, self.visit(left), self.visit(right))

    def _einsum(self, node: ast.Call) -> ast.expr:
        spec = node.args[0] if node.args else None
        if not isinstance(spec, ast.Constant) or not isinstance(spec.value, str):
            return node
        if node.keywords or "->" not in spec.value:
            return node
        if self.means.einsum:
            return calls.call(self.means.einsum, *node.args)
        node.args[0] = ast.Constant(_other_letters(spec.value))
        return node


def _transposed(node: ast.expr) -> ast.expr | None:
    """x, if the node is x.transpose(-2, -1) or another way of writing that."""
    if isinstance(node, ast.Attribute) and node.attr == "mT":
        return node.value
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    args = list(node.args)
    of = node.func.value
    if isinstance(of, ast.Name) and of.id == "torch" and args:
        of = args.pop(0)
    axes = {ast.unparse(argument) for argument in args}
    named = node.func.attr in ("transpose", "swapaxes", "swapdims")
    return of if named and len(args) == 2 and axes in LAST_TWO else None


def _other_letters(spec: str) -> str:
    """The same einsum with a, b, c, ... in the order in which its letters appear."""
    letters = list(dict.fromkeys(sign for sign in spec if sign.isalpha()))
    names = string.ascii_lowercase[: len(letters)]
    if list(names) == letters:
        names = string.ascii_lowercase[-len(letters) :]
    return spec.translate(str.maketrans("".join(letters), names))
