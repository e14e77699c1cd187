"""The Jinja2 environments of all files that this package writes from templates.

The templates stand in the folder `templates` of the package that fills them in. A name that a
template uses and nobody hands over raises `jinja2.UndefinedError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from attention_katas.render import glyphs


def html(package: str, filters: Mapping[str, Callable[..., object]] | None = None) -> Environment:
    """An environment for HTML: every value is escaped, and freed of control characters."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_without_control_characters,
    )
    environment.filters.update(filters or {})
    # `tojson` escapes <, > and & itself. NaN is no JSON: browsers refuse it.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}
    return environment


def text(package: str) -> Environment:
    """An environment for shell, YAML, Python and Markdown: `[[ value ]]`, `[% if %]`, `[# #]`.

    Nothing is escaped. GitHub's `${{ }}` and the shell's `${#list}` are left as they are.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _without_control_characters(value: object) -> object:
    """Text that can be shown; markup and numbers as they are."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return glyphs.printable(value)
    return value
