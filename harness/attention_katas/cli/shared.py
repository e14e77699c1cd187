"""What the commands share: errors as messages, the catalog, the screen, a sign of life."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas.errors import BadContent, KataError, ProgressUnavailable
from attention_katas.packs.catalog import Selection, load_catalog

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from attention_katas.packs.catalog import Catalog, Kata
    from attention_katas.packs.progress import Progress, State
    from attention_katas.packs.workspace import Workspace
    from attention_katas.render.terminal import Screen

# Keys in click's context: the packs that were named, and the options as they were typed.
FOLDERS, TYPED = "attention_katas.packs", "attention_katas.typed"
REPORTED = "attention_katas.reported"
SAID = "attention_katas.said"
OUR_FAULT = 3


class Group(click.Group):
    """Turns errors into a message, a next step and an exit code; never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are met, not of the alphabet."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KataError as error:
            nearest = getattr(error, "nearest", "")
            say(error.message, _with(nearest) if nearest else error.next_step)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("\nkata: stopped", err=True)
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # a closed pipe is the reader's choice; click ends quietly
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                say(
                    f"this could not be written: {error.strerror}",
                    "free some space, then run the command again",
                )
                ctx.exit(OUR_FAULT)
            if "KATA_TRACEBACK" in os.environ:
                raise
            say(
                f"a fault of this program: {type(error).__name__}: {error}",
                "set KATA_TRACEBACK=1 and run the command again to see where; please report it",
            )
            ctx.exit(OUR_FAULT)


def _with(name: str) -> str:
    """The command that was typed, with another kata."""
    words = [word for word in sys.argv[1:2] if word.isalpha()]
    if words == ["grade"]:
        return f"the same with --only {name}"
    return f"kata {words[0] if words else 'show'} {name}"


def say(message: str, next_step: str = "") -> None:
    """A message to the person, beside the output proper."""
    # One line, which a runner of Actions takes for no command.
    line = " ".join(message.split("\n")).replace("\r", " ")
    click.echo(f"kata: {line}", err=True)
    if next_step:
        click.echo(f"next:  {complete(next_step)}", err=True)


def say_once(message: str) -> None:
    """As `say`, but a message that this command has said already is not repeated."""
    context = click.get_current_context(silent=True)
    messages = context.find_root().meta.setdefault(SAID, set()) if context else set()
    if message not in messages:
        messages.add(message)
        say(message)


def complete(step: str) -> str:
    """The commands in a next step, for the same packs as this one."""
    context = click.get_current_context(silent=True)
    typed = context.find_root().meta.get(TYPED) if context else None
    if not typed or "--katas" in step or "--only-katas" in step:
        return step
    options = "".join(f" {name} {shlex.quote(folder)}" for name, folder in typed)
    return re.sub(r"\bkata (?!daemon)[a-z]+[^,\n]*", lambda match: match.group() + options, step)


def name_packs_by_whole_paths(ctx: click.Context) -> None:
    """For a next step in another folder, where a relative path leads elsewhere."""
    meta = ctx.find_root().meta
    meta[TYPED] = [(name, os.path.abspath(folder)) for name, folder in meta.get(TYPED, [])]


def _remember(ctx: click.Context, parameter: click.Parameter, folders: tuple[Path, ...]) -> None:
    meta = ctx.find_root().meta
    for folder in folders:
        meta.setdefault(FOLDERS, {}).setdefault(parameter.name, []).append(folder.resolve())
        meta.setdefault(TYPED, []).append((parameter.opts[0], str(folder)))


def _packs_option(name: str, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        name,
        type=click.Path(file_okay=False, path_type=Path),
        multiple=True,
        expose_value=False,
        is_eager=True,
        callback=_remember,
        metavar="DIR",
        help=text,
    )


def katas_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--katas DIR` adds a pack, `--only-katas DIR` replaces all others. Each may come again."""
    only = _packs_option("--only-katas", "This pack of katas, and no other.")
    return only(_packs_option("--katas", "A pack of katas beside the others.")(function))


def selection() -> Selection:
    """The packs that the command line names. Raises BadContent when it names them both ways."""
    context = click.get_current_context(silent=True)
    named = context.find_root().meta.get(FOLDERS, {}) if context else {}
    if len(named) > 1:
        raise BadContent("--katas adds packs and --only-katas replaces them", "give one of them")
    folders = tuple(folder for group in named.values() for folder in group)
    return Selection(folders, only="only_katas" in named)


def load(*, strict: bool = False) -> Catalog:
    """The katas that this call is about. Raises BadContent when there are none.

    Packs that are refused are reported once. strict: a pack that the command line names has to
    be usable, since grades depend on it.
    """
    katas = load_catalog(selection())
    failures = [refusal for refusal in katas.refusals if refusal.selected]
    if failures and (strict or not katas.katas):
        raise BadContent(failures[0].message, failures[0].next_step)
    report(katas)
    if not katas.katas:
        raise BadContent("there are no katas", "kata dev new NAME --katas DIR")
    return katas


def report(katas: Catalog) -> None:
    """Say once which packs are not used, and why."""
    meta = click.get_current_context().find_root().meta
    for refusal in katas.refusals:
        if refusal not in meta.setdefault(REPORTED, set()):
            meta[REPORTED].add(refusal)
            say(refusal.message, refusal.next_step)


def complete_names(ctx: click.Context, _: click.Parameter, start: str) -> list[CompletionItem]:
    """Names of katas, for the shell."""
    from click.shell_completion import CompletionItem

    katas = load_catalog(selection()).katas
    return [CompletionItem(k.name, help=k.blurb) for k in katas if k.name.startswith(start)]


def screen() -> Screen:
    from attention_katas.render.terminal import Screen

    return Screen(complete=complete)


def progress_of(space: Workspace, katas: Catalog) -> Progress:
    from attention_katas.packs.progress import Progress

    return Progress(space.progress_file, katas.keys)


def states_of(katas: Catalog, space: Workspace) -> dict[str, State]:
    """Where every kata stands, from the progress file and the learner's files as they are."""
    progress = progress_of(space, katas)
    states = progress.states(katas, space.root)
    tell_notice(progress)
    return states


def next_name(katas: Catalog) -> str:
    """The kata that is meant when none is named: the next one, or the last."""
    from attention_katas.packs import workspace
    from attention_katas.packs.progress import next_kata

    current = next_kata(katas.ready, states_of(katas, workspace.find()))
    return current.name if current else katas.ready[-1].name


def ready(kata: Kata) -> Kata:
    """The kata. Raises KataError when it is only planned."""
    if not kata.ready:
        raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
    return kata


def tell_notice(progress: Progress) -> None:
    if progress.notice:
        say(progress.notice)


@contextlib.contextmanager
def unless_unavailable() -> Iterator[None]:
    """A verdict is worth more than its record: say that it was not kept, and go on."""
    try:
        yield
    except ProgressUnavailable as error:
        say_once(error.message)


@contextlib.contextmanager
def waiting(text: str) -> Iterator[Callable[[str], None]]:
    """A sign of life on a terminal while something takes long; call it to change the text."""
    if not sys.stderr or not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        yield lambda _: None
        return

    def show(new: str) -> None:
        click.echo(f"\r\x1b[K{new}", nl=False, err=True)

    show(text)
    try:
        yield show
    finally:
        show("")
