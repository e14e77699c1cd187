"""Options that several commands share, and the types of option values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from attention_katas.cli.shared import say_once
from attention_katas.verdict.redact import LEVELS, NAMED

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from attention_katas.render.registry import Registry

Command = TypeVar("Command", bound=Callable[..., Any])


def device_option(command: Command) -> Command:
    return click.option(
        "--device",
        type=click.Choice(("auto", "cpu", "cuda", "mps")),
        default="auto",
        show_default=True,
        help="Where your code runs.",
    )(command)


def cold_option(command: Command) -> Command:
    return click.option(
        "--cold", is_flag=True, help="Judge without the daemon, the background process."
    )(command)


def feedback_option(command: Command) -> Command:
    return click.option(
        "--feedback",
        type=click.Choice(LEVELS),
        default=NAMED,
        show_default=True,
        help="What students see: all, the mistake by name without inputs, or only points.",
    )(command)


def fail_under_option(help: str) -> Callable[[Command], Command]:
    return click.option("--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help=help)


def run_formats() -> Registry[Any]:
    from attention_katas.render import formats

    return formats.REGISTRY


def grade_formats() -> Registry[Any]:
    from attention_katas.grading import formats

    return formats.REGISTRY


def all_names(registry: Registry[Any]) -> list[str]:
    """The names of all formats; says which installed ones had to be skipped."""
    names = registry.names()
    for problem in registry.problems:
        say_once(problem)
    return names


class FormatName(click.ParamType):  # type: ignore[type-arg]
    """The name of a format, or one of the words that stand for no format.

    Formats of installed packages are loaded only for a name that is not built in.
    """

    name = "format"

    def __init__(self, registry: Callable[[], Registry[Any]], *words: str) -> None:
        self._registry, self._words = registry, words

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        if value in self._words or value in self._registry().built_in():
            return str(value)
        names = [*self._words, *all_names(self._registry())]
        if value not in names:
            self.fail(f"there is no format {value!r}; there are {', '.join(names)}", param, ctx)
        return str(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join([*self._words, *self._registry().names()])}]"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [*self._words, *self._registry().names()]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class Target(click.ParamType):  # type: ignore[type-arg]
    """FORMAT or FORMAT=FILE; the value is a pair, with "" where there is no FILE."""

    name = "FORMAT[=FILE]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        name, _, file = str(value).partition("=")
        return FormatName(grade_formats).convert(name, param, ctx), file


class Points(click.ParamType):  # type: ignore[type-arg]
    """NAME=N; the value is a pair."""

    name = "NAME=N"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, int]:
        name, _, number = str(value).partition("=")
        if not number.isdecimal() or len(number) > 6:
            self.fail(f"{value!r} is not a kata's name, = and a whole number", param, ctx)
        return name, int(number)
