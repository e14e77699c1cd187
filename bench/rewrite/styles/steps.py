"""The style "steps": one operation a line, other names, helpers written out where they are called.

Every `if` is turned round, comprehensions become loops, and arguments are given by keyword where
that can be. A function that holds another one, or a statement that is not known here, stays.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rewrite.styles import calls
from rewrite.styles.names import Renamer, Replacer, local_to, names_in

# What a method of a tensor calls its positional arguments. Those of max may be a tensor.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "all": ("dim", "keepdim"),
    "amax": ("dim", "keepdim"),
    "amin": ("dim", "keepdim"),
    "any": ("dim", "keepdim"),
    "chunk": ("chunks", "dim"),
    "flatten": ("start_dim", "end_dim"),
    "logsumexp": ("dim", "keepdim"),
    "masked_fill": ("mask", "value"),
    "mean": ("dim", "keepdim"),
    "movedim": ("source", "destination"),
    "size": ("dim",),
    "softmax": ("dim",),
    "squeeze": ("dim",),
    "sum": ("dim", "keepdim"),
    "transpose": ("dim0", "dim1"),
    "tril": ("diagonal",),
    "triu": ("diagonal",),
    "unbind": ("dim",),
    "unflatten": ("dim", "sizes"),
    "unsqueeze": ("dim",),
}
OF_LISTS = ("cat", "stack", "concat")
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
# Calls that use up an iterable before they answer: a list does as well as a generator.
EAGER = ("list", "tuple", "sum", "max", "min", "sorted", "dict")
# What this style doesn't take apart.
UNKNOWN = (
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.ClassDef,
    ast.FunctionDef,
    ast.Global,
    ast.Match,
    ast.NamedExpr,
    ast.Nonlocal,
    ast.Yield,
    ast.YieldFrom,
)
LONGEST, DEEPEST = 8, 3  # statements of a function that is written out; calls within calls

Names = dict[str, str]
Block = list[ast.stmt]


class Steps:
    """Rewrites the functions of a file; `public` are those whose names have to stay."""

    def __init__(self, tree: ast.Module, public: set[str]) -> None:
        self.tree = tree
        self.public = public
        self.functions: dict[str, ast.FunctionDef] = {}
        self.modules = set(calls.imported(tree.body))
        self.taken = {
            name
            for node in ast.walk(tree)
            for name in (
                getattr(node, "id", ""),
                getattr(node, "arg", ""),
                getattr(node, "name", ""),
            )
            if isinstance(name, str)
        }
        self.out: Block = []
        self.names: Names = {}
        self.result = ""  # the name for what a function that is written out gives
        self.inside: list[str] = []

    def respell(self) -> None:
        functions = [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        counted = [function.name for function in functions]
        # A name that is defined twice may mean the one or the other.
        self.functions = {
            function.name: copy.deepcopy(function)
            for function in functions
            if counted.count(function.name) == 1
        }
        for function in functions:
            if not _is_unknown(function):
                self._function(function)
        self._rename_helpers(functions)

    def _function(self, function: ast.FunctionDef) -> None:
        parameters = [argument.arg for argument in _parameters(function)]
        variadic = [a.arg for a in (function.args.vararg, function.args.kwarg) if a]
        body, head = list(function.body), []
        if ast.get_docstring(function) is not None:
            head = [body.pop(0)]
        local = [name for name in local_to(body) if name not in variadic]
        names = dict.fromkeys([*parameters, *local])
        self.names = {name: self._fresh(f"my_{name}") for name in names}
        self.result, self.inside = "", [function.name]
        with self._into() as out:
            for name in parameters:
                if name in names_in(body):
                    self._bind(self.names[name], ast.Name(name, ast.Load()))
            self._block(body)
        function.body = [*head, *(out or [ast.Pass()])]

    def _rename_helpers(self, functions: list[ast.FunctionDef]) -> None:
        helpers = {function.name for function in functions} - self.public
        names = {name: self._fresh(f"{name.lstrip('_')}_steps") for name in sorted(helpers)}
        for function in functions:
            function.name = names.get(function.name, function.name)
        Renamer(names).visit(self.tree)

    # names

    def _fresh(self, wish: str) -> str:
        name, number = wish, 1
        while name in self.taken:
            number += 1
            name = f"{wish}_{number}"
        self.taken.add(name)
        return name

    @contextmanager
    def _into(self) -> Iterator[Block]:
        """Collects the statements that are written meanwhile."""
        kept, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = kept

    def _bind(self, name: str, value: ast.expr) -> None:
        self.out.append(ast.Assign([ast.Name(name, ast.Store())], value))

    def _renamed(self, node: ast.AST) -> ast.AST:
        made = Renamer(self.names).visit(copy.deepcopy(node))
        assert isinstance(made, ast.AST)
        return made

    def _whole(self, node: ast.expr) -> ast.expr:
        """The expression in one piece, with the new names."""
        made = self._renamed(node)
        assert isinstance(made, ast.expr)
        return made

    # statements

    def _block(self, body: Block) -> None:
        for number, statement in enumerate(body):
            rest = body[number + 1 :]
            if isinstance(statement, ast.If) and _leaves(statement.body):
                # What comes after it is what else there is.
                self._if(statement.test, statement.body, [*statement.orelse, *rest])
                return
            self._statement(statement)

    def _branch(self, body: Block) -> Block:
        with self._into() as out:
            self._block(body)
        return out or [ast.Pass()]

    def _if(self, test: ast.expr, body: Block, orelse: Block) -> None:
        """With the branches exchanged, if there are two."""
        condition = self._value(test)
        if not orelse:
            self.out.append(ast.If(condition, self._branch(body), []))
            return
        self.out.append(ast.If(_negated(condition), self._branch(orelse), self._branch(body)))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign(target, value)
            case ast.AugAssign(target=ast.Name()):
                value = self._atom(node.value)
                target = self._whole(node.target)
                assert isinstance(target, ast.Name)
                self.out.append(ast.AugAssign(target, node.op, value))
            case ast.Return():
                self._return(node)
            case ast.Expr():
                self.out.append(ast.Expr(self._value(node.value)))
            case ast.If():
                self._if(node.test, node.body, node.orelse)
            case ast.For():
                iterable = self._value(node.iter)
                body, orelse = self._branch(node.body), self._orelse(node.orelse)
                self.out.append(ast.For(self._whole(node.target), iterable, body, orelse))
            case ast.While():
                body, orelse = self._branch(node.body), self._orelse(node.orelse)
                self.out.append(ast.While(self._whole(node.test), body, orelse))
            case ast.With():
                items = [
                    ast.withitem(self._whole(i.context_expr), i.optional_vars) for i in node.items
                ]
                for item in items:
                    if item.optional_vars:
                        item.optional_vars = self._whole(item.optional_vars)
                self.out.append(ast.With(items, self._branch(node.body)))
            case _:
                made = self._renamed(node)
                assert isinstance(made, ast.stmt)
                self.out.append(made)

    def _orelse(self, body: Block) -> Block:
        return self._branch(body) if body else []

    def _return(self, node: ast.Return) -> None:
        if self.result:
            self._bind(self.result, self._value(node.value or ast.Constant(None)))
        elif node.value is None:
            self.out.append(ast.Return())
        else:
            self.out.append(ast.Return(self._atom(node.value)))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        several = isinstance(target, ast.Tuple | ast.List)
        if several and isinstance(value, ast.Tuple | ast.List):
            pairs = _pairs(target, value)
            if pairs:
                named = [(one, self._named(part)) for one, part in pairs]
                for one, part in named:
                    self.out.append(ast.Assign([self._whole(one)], part))
                return
        if several and isinstance(value, ast.GeneratorExp):
            value = ast.ListComp(value.elt, value.generators)
        made = self._value(value)
        if not isinstance(target, ast.Name | ast.Tuple | ast.List):
            made = self._name(made)
        self.out.append(ast.Assign([self._whole(target)], made))

    # expressions

    def _atom(self, node: ast.expr) -> ast.expr:
        """A name or a constant; what has to be worked out for it is written down first."""
        made = self._value(node)
        return made if self._is_atom(made) else self._name(made)

    def _named(self, node: ast.expr) -> ast.expr:
        """A name that nothing will bind again, or a constant."""
        made = self._value(node)
        return made if isinstance(made, ast.Constant) else self._name(made)

    def _name(self, made: ast.expr) -> ast.expr:
        name = self._fresh("step")
        self._bind(name, made)
        return ast.Name(name, ast.Load())

    def _is_atom(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return isinstance(node.operand, ast.Constant)
        dotted = isinstance(node, ast.Attribute) and calls.root(node) in self.modules
        return isinstance(node, ast.Name | ast.Constant) or dotted

    def _value(self, node: ast.expr) -> ast.expr:
        """One operation on atoms; what comes before it is written down."""
        if self._is_atom(node):
            return self._whole(node)
        match node:
            case ast.BinOp():
                left = self._atom(node.left)
                return ast.BinOp(left, node.op, self._atom(node.right))
            case ast.UnaryOp():
                return ast.UnaryOp(node.op, self._atom(node.operand))
            case ast.BoolOp():
                return self._bool(node)
            case ast.Compare(ops=[_], comparators=[other]):
                left = self._atom(node.left)
                return ast.Compare(left, node.ops, [self._atom(other)])
            case ast.IfExp():
                return self._choice(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return ast.Attribute(self._atom(node.value), node.attr, ast.Load())
            case ast.Subscript():
                value = self._atom(node.value)
                return ast.Subscript(value, self._index(node.slice), ast.Load())
            case ast.Tuple():
                return ast.Tuple([self._element(part) for part in node.elts], ast.Load())
            case ast.List():
                return ast.List([self._element(part) for part in node.elts], ast.Load())
            case ast.Dict():
                keys, values = [], []
                for key, value in zip(node.keys, node.values, strict=True):
                    keys.append(None if key is None else self._atom(key))
                    values.append(self._atom(value))
                return ast.Dict(keys, values)
            case ast.ListComp(elt=element):
                found = self._name(ast.List([], ast.Load()))
                add = ast.Attribute(found, "append", ast.Load())
                self._loops(
                    node.generators,
                    lambda: self.out.append(ast.Expr(ast.Call(add, [self._atom(element)], []))),
                )
                return found
            case ast.DictComp():
                found = self._name(ast.Dict([], []))
                self._loops(node.generators, lambda: self._entry(found, node))
                return found
            case _:
                return self._whole(node)

    def _element(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            return ast.Starred(self._atom(node.value), ast.Load())
        return self._atom(node)

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            ends = [self._atom(end) if end else None for end in (node.lower, node.upper, node.step)]
            return ast.Slice(*ends)
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._index(part) for part in node.elts], ast.Load())
        return self._element(node)

    def _bool(self, node: ast.BoolOp) -> ast.expr:
        first, *rest = node.values
        found = self._name(self._value(first))
        assert isinstance(found, ast.Name)
        more: ast.expr = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        with self._into() as out:
            self._bind(found.id, self._value(more))
        test = found if isinstance(node.op, ast.And) else ast.UnaryOp(ast.Not(), found)
        self.out.append(ast.If(test, out, []))
        return found

    def _choice(self, node: ast.IfExp) -> ast.expr:
        condition, name = self._value(node.test), self._fresh("chosen")
        branches = []
        for value in (node.orelse, node.body):
            with self._into() as out:
                self._bind(name, self._value(value))
            branches.append(out)
        self.out.append(ast.If(_negated(condition), *branches))
        return ast.Name(name, ast.Load())

    def _loops(self, generators: list[ast.comprehension], inner: Callable[[], None]) -> None:
        """`for`s within each other, as deep as the comprehension."""
        if not generators:
            inner()
            return
        first, *rest = generators
        iterable, kept = self._value(first.iter), self.names
        bound = {part.id for part in ast.walk(first.target) if isinstance(part, ast.Name)}
        self.names = {**kept, **{name: self._fresh(f"each_{name}") for name in sorted(bound)}}
        with self._into() as body:
            self._conditions(first.ifs, lambda: self._loops(rest, inner))
        self.out.append(ast.For(self._whole(first.target), iterable, body, []))
        self.names = kept

    def _conditions(self, tests: list[ast.expr], inner: Callable[[], None]) -> None:
        if not tests:
            inner()
            return
        condition = self._value(tests[0])
        with self._into() as body:
            self._conditions(tests[1:], inner)
        self.out.append(ast.If(condition, body, []))

    def _entry(self, found: ast.expr, node: ast.DictComp) -> None:
        key = self._atom(node.key)
        place = ast.Subscript(found, key, ast.Store())
        self.out.append(ast.Assign([place], self._atom(node.value)))

    # calls

    def _call(self, node: ast.Call) -> ast.expr:
        written = self._written_out(node)
        if written is not None:
            return written
        function = node.func
        if isinstance(function, ast.Attribute) and not self._is_atom(function):
            function = ast.Attribute(self._atom(function.value), function.attr, ast.Load())
        else:
            function = self._whole(function)
        eager = isinstance(function, ast.Name) and function.id in EAGER
        args = [self._element(_listed(argument) if eager else argument) for argument in node.args]
        keywords = [ast.keyword(k.arg, self._atom(k.value)) for k in node.keywords]
        return self._by_keyword(ast.Call(function, args, keywords))

    def _by_keyword(self, call: ast.Call) -> ast.expr:
        function, args = call.func, call.args
        if any(isinstance(a, ast.Starred) for a in args) or any(not k.arg for k in call.keywords):
            return call
        if isinstance(function, ast.Name) and function.id in self.functions:
            return self._own_by_keyword(call, self.functions[function.id])
        if not isinstance(function, ast.Attribute):
            return call
        name, first = function.attr, []
        if calls.root(function) in self.modules:
            if ast.unparse(function.value) != "torch" or not args:
                softmax = ast.unparse(function) in ("F.softmax", "torch.nn.functional.softmax")
                if not softmax:
                    return call
            first, args = args[:1], args[1:]
        names = KEYWORDS.get(name, ("dim",) if first and name in OF_LISTS else ())
        if not names or len(args) > len(names):
            return call
        given = [ast.keyword(name, value) for name, value in zip(names, args, strict=False)]
        keywords = [*given, *call.keywords]
        if name == "softmax" and [keyword.arg for keyword in keywords] == ["dim"]:
            return self._softmax(first[0] if first else function.value, keywords[0].value)
        return ast.Call(function, first, keywords)

    def _own_by_keyword(self, call: ast.Call, function: ast.FunctionDef) -> ast.expr:
        names = [argument.arg for argument in function.args.args]
        if function.args.posonlyargs or function.args.vararg or len(call.args) > len(names):
            return call
        given = [ast.keyword(name, value) for name, value in zip(names, call.args, strict=False)]
        return ast.Call(call.func, [], [*given, *call.keywords])

    def _softmax(self, x: ast.expr, dim: ast.expr) -> ast.expr:
        """Step by step, in float32 at least, as torch.softmax does it."""
        lines = """
            dtype = x.dtype
            wide_dtype = torch.promote_types(dtype, torch.float32)
            wide = x.to(dtype=wide_dtype)
            top = wide.amax(dim=dim, keepdim=True)
            fixed = top.detach()
            shifted = wide - fixed
            exponentials = shifted.exp()
            total = exponentials.sum(dim=dim, keepdim=True)
            shares = exponentials / total
        """
        names = {"x": x, "dim": dim}
        for line in ast.parse("\n".join(part.strip() for part in lines.strip().splitlines())).body:
            assert isinstance(line, ast.Assign)
            assert isinstance(line.targets[0], ast.Name)
            names[line.targets[0].id] = self._name(Replacer(names).visit(line.value))
        to = ast.Attribute(names["shares"], "to", ast.Load())
        return ast.Call(to, [], [ast.keyword("dtype", names["dtype"])])

    def _written_out(self, node: ast.Call) -> ast.expr | None:
        """The body of a short helper in the place of its call."""
        if not isinstance(node.func, ast.Name) or node.func.id in self.names:
            return None
        function = self.functions.get(node.func.id)
        if function is None or function.name in self.public or not self._is_short(function):
            return None
        given = _arguments(node, function)
        if given is None:
            return None
        values = {name: self._atom(value) for name, value in given.items()}
        for name, default in _defaults(function).items():
            values.setdefault(name, default)
        kept, result = self.names, self.result
        body = list(function.body)
        if ast.get_docstring(function) is not None:
            del body[0]
        names = dict.fromkeys([*values, *local_to(body)])
        fresh = {name: self._fresh(f"its_{name}") for name in names}
        for name, value in values.items():
            self._bind(fresh[name], value)
        self.names, self.result = fresh, self._fresh("answer")
        self.inside.append(function.name)
        self._block(body)
        self.inside.pop()
        answer = ast.Name(self.result, ast.Load())
        self.names, self.result = kept, result
        return answer

    def _is_short(self, function: ast.FunctionDef) -> bool:
        size = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
        known = not _is_unknown(function) and not function.args.vararg and not function.args.kwarg
        nested = function.name in self.inside or len(self.inside) > DEEPEST
        simple = all(self._is_fixed(value) for value in _defaults(function).values())
        ends = _answers(function.body) and not function.decorator_list
        return size <= LONGEST and known and not nested and simple and ends

    def _is_fixed(self, default: ast.expr) -> bool:
        """Whether a default is the same when the function is called as when it was defined."""
        named = isinstance(default, ast.Name) and default.id in self.functions
        return named or (self._is_atom(default) and not isinstance(default, ast.Name))


def _is_unknown(function: ast.FunctionDef) -> bool:
    within = [node for statement in function.body for node in ast.walk(statement)]
    return any(isinstance(node, UNKNOWN) for node in within)


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    given = function.args
    positional = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    found = dict(zip(reversed(positional), reversed(given.defaults), strict=False))
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {argument.arg: value for argument, value in by_name if value}


def _arguments(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """What a call gives to which parameter; None if that cannot be told, or if it is wrong."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if starred or len(call.args) > len(positional):
        return None
    given = dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    names = {argument.arg for argument in _parameters(function)}
    complete = names <= given.keys() | _defaults(function).keys() and given.keys() <= names
    return given if complete else None


def _leaves(body: Block) -> bool:
    """Whether a block always ends its function."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise)


def _answers(body: Block) -> bool:
    """Whether every way through a block ends with a return or raise, and none returns earlier."""
    *before, last = body
    for number, statement in enumerate(before):
        if not any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            continue
        if not isinstance(statement, ast.If) or not _leaves(statement.body):
            return False
        rest = [*statement.orelse, *body[number + 1 :]]
        return _answers(statement.body) and _answers(rest)
    if isinstance(last, ast.If):
        return bool(last.orelse) and _answers(last.body) and _answers(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and type(test.ops[0]) in OPPOSITES and len(test.ops) == 1:
        return ast.Compare(test.left, [OPPOSITES[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The single assignments of `a, b = x, y`; none where a star is involved."""
    assert isinstance(target, ast.Tuple | ast.List)
    assert isinstance(value, ast.Tuple | ast.List)
    starred = any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
    if starred or len(target.elts) != len(value.elts):
        return []
    return list(zip(target.elts, value.elts, strict=True))


def _listed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.GeneratorExp):
        return ast.ListComp(node.elt, node.generators)
    return node
