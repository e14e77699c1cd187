"""Functions that a respelled file brings along, as text: the respeller copies those it calls.

They answer as the built-ins do in whose place they stand, also where those raise. The softmax is
worked out in float32 at least, because torch.softmax is too.
"""

import torch


def _einsum_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dim() < 2 or b.dim() < 2 or a.size(-1) != b.size(-2):
        return torch.matmul(a, b)
    return torch.einsum("...ij,...jk->...ik", a, b)


def _einsum_pairs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.dim() < 2 or b.dim() < 2 or a.size(-1) != b.size(-1):
        return torch.matmul(a, b.transpose(-2, -1))
    return torch.einsum("...id,...jd->...ij", a, b)


def _einsum_linear(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    if x.dim() < 2 or w.dim() != 2 or x.size(-1) != w.size(-1):
        return torch.matmul(x, w.T)
    return torch.einsum("...ti,oi->...to", x, w)


def _einsum_turned(x: torch.Tensor) -> torch.Tensor:
    return torch.einsum("...ij->...ji", x) if x.dim() >= 2 else x.transpose(-2, -1)


def _einsum_sum(x: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    if not isinstance(dim, int) or not x.is_floating_point() or x.dim() < 1:
        return x.sum(dim, keepdim=keepdim)
    total = torch.einsum("...d->...", x.movedim(dim, -1))
    return total.unsqueeze(dim) if keepdim else total


def _loop_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    fits = a.dim() >= 2 and b.dim() >= 2 and a.size(-1) == b.size(-2)
    if not fits or 0 in a.shape or 0 in b.shape:
        return torch.matmul(a, b)
    if a.dim() == b.dim() == 2:
        return torch.stack([torch.mv(b.t(), row) for row in a])
    if a.dim() == b.dim() and a.size(0) == b.size(0):
        return torch.stack([_loop_product(x, y) for x, y in zip(a, b, strict=True)])
    if b.dim() == 2:
        return torch.stack([_loop_product(x, b) for x in a])
    rows = [torch.matmul(a[..., i : i + 1, :], b) for i in range(a.size(-2))]
    return torch.cat(rows, -2)


def _loop_softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    if not x.is_floating_point() or 0 in (x.dim(), *x.shape):
        return torch.softmax(x, dim)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    top = wide.amax(dim, keepdim=True).detach()
    parts = [torch.exp(part) for part in (wide - top).unbind(dim)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return torch.stack([part / total for part in parts], dim).to(x.dtype)


def _loop_sum(x: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    if not isinstance(dim, int) or not x.is_floating_point() or 0 in (x.dim(), *x.shape):
        return x.sum(dim, keepdim=keepdim)
    wide = torch.promote_types(x.dtype, torch.float32)
    total = torch.zeros_like(x.select(dim, 0), dtype=wide)
    for part in x.unbind(dim):
        total = total + part
    return (total.unsqueeze(dim) if keepdim else total).to(x.dtype)


def _loop_amax(x: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    if not isinstance(dim, int) or x.dim() < 2 or 0 in x.shape or dim in (0, -x.dim()):
        return x.amax(dim, keepdim=keepdim)
    after = dim - 1 if dim > 0 else dim
    return torch.stack([_loop_amax(row, after, keepdim) for row in x])


def _loop_any(x: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:
    if not isinstance(dim, int) or x.dtype != torch.bool or 0 in (x.dim(), *x.shape):
        return x.any(dim, keepdim=keepdim)
    found = torch.zeros_like(x.select(dim, 0))
    for part in x.unbind(dim):
        found = found | part
    return found.unsqueeze(dim) if keepdim else found


def _loop_tril(x: torch.Tensor, diagonal: int = 0) -> torch.Tensor:
    if x.dim() < 2 or 0 in x.shape:
        return x.tril(diagonal)
    column = torch.arange(x.size(-1), device=x.device)
    rows = [x[..., i, :].masked_fill(column > i + diagonal, 0) for i in range(x.size(-2))]
    return torch.stack(rows, -2)


def _loop_triu(x: torch.Tensor, diagonal: int = 0) -> torch.Tensor:
    if x.dim() < 2 or 0 in x.shape:
        return x.triu(diagonal)
    column = torch.arange(x.size(-1), device=x.device)
    rows = [x[..., i, :].masked_fill(column < i + diagonal, 0) for i in range(x.size(-2))]
    return torch.stack(rows, -2)


def _loop_eye(
    n: int,
    m: int | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    column = torch.arange(n if m is None else m, device=device)
    if n < 1:
        return torch.eye(n, column.numel(), dtype=dtype, device=device)
    return torch.stack([column == i for i in range(n)]).to(dtype or torch.get_default_dtype())


def _loop_einsum(spec: str, *operands: torch.Tensor) -> torch.Tensor:
    """An einsum of which one letter is a loop: the first that one operand and the result have."""
    given, _, result = spec.replace(" ", "").partition("->")
    terms = given.split(",")
    for letter in result.replace("...", ""):
        owners = [n for n, term in enumerate(terms) if letter in term]
        if len(owners) == 1 and len(terms) == len(operands):
            owner, place = owners[0], terms[owners[0]].index(letter) - len(terms[owners[0]])
            shorter = ",".join(term.replace(letter, "") for term in terms)
            spec = f"{shorter}->{result.replace(letter, '')}"
            parts = [
                torch.einsum(spec, *operands[:owner], part, *operands[owner + 1 :])
                for part in operands[owner].unbind(place)
            ]
            return torch.stack(parts, result.index(letter) - len(result))
    return torch.einsum(spec, *operands)
