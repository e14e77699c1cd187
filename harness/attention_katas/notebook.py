"""The katas in a notebook: `from attention_katas.notebook import check, lab`.

    %load_ext attention_katas.notebook

    %%kata softmax
    def softmax(x, dim=-1): ...

judges the cell as `kata run` judges a file, and then runs it. `check(softmax)` does so where there
are no magics, and `lab()` is the lab's page as a widget, computed by the functions that cells have
handed in so far. Those live in a workspace of the notebook's own; your files are left alone.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attention_katas.errors import KataError, NoSuchKata
from attention_katas.packs.catalog import Kata, load_catalog
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.workspace import create
from attention_katas.service import JudgeService, open_service, verdict_of
from attention_katas.verdict import data as v

if TYPE_CHECKING:
    from attention_katas.lab.panels import Panel

WIDTH = 88
# A function alone has lost the imports of the cells above it.
IMPORTS = "import math\n\nimport torch\nimport torch.nn.functional as F\n\n\n"
AGAIN = "change the cell, and run it again"
PRE = '<pre style="font: 13px/1.35 ui-monospace, Menlo, Consolas, monospace">{code}</pre>'


class Result:
    """A verdict as a notebook shows it: on the screen's own words, with its colours."""

    def __init__(self, verdict: v.Verdict, kata: Kata) -> None:
        self.verdict, self._kata = verdict, kata

    def _printed(self) -> Any:
        from rich.console import Console

        from attention_katas.render.terminal import Screen

        console = Console(
            file=io.StringIO(),
            record=True,
            width=WIDTH,
            force_terminal=True,
            color_system="truecolor",
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        step = "on to the next kata" if self.verdict.outcome == v.PASSED else AGAIN
        Screen(console).verdict(self.verdict, self._kata, step=step)
        return console

    def __repr__(self) -> str:
        return str(self._printed().export_text())

    def _repr_html_(self) -> str:
        return str(self._printed().export_html(inline_styles=True, code_format=PRE))


class NotebookSession:
    """What the cells of one notebook have handed in, its judge, and its widgets."""

    def __init__(self) -> None:
        self.catalog = load_catalog()
        self._folder = tempfile.TemporaryDirectory(prefix="kata-notebook-")
        self.space, _, _ = create(Path(self._folder.name), self.catalog)
        self._service: JudgeService | None = None
        self._functions: Any = None
        self._processes: Any = None
        self._tells: list[Callable[[dict[str, Any]], None]] = []
        self.generation = 0
        self.verdicts: dict[str, dict[str, Any]] = {}
        atexit.register(self.close)

    def judge(self, kata: Kata, source: str) -> Result:
        """Hand in source for a kata. Raises KataError when it cannot be judged here."""
        path = self.space.path(kata)
        path.write_text(source, encoding="utf-8")
        self._changed(kata.file)
        reading = read_submission(self.catalog, kata, path, kata.file)
        self._service = self._service or open_service(self.catalog, device="cpu")
        verdict = verdict_of(self._service, reading)
        from attention_katas.lab.judging import told

        self.verdicts[kata.name] = told(verdict, kata)
        self._tell({"event": "verdict", **self.verdicts[kata.name]})
        return Result(verdict, kata)

    def kata_of(self, function: str) -> Kata:
        """The kata that asks for this function. Raises NoSuchKata."""
        for kata in self.catalog.ready:
            if function in kata.functions:
                return kata
        raise NoSuchKata(f"no kata asks for a function called {function!r}")

    def open(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """A widget has appeared on the page."""
        from attention_katas.lab.lab import greeting

        if tell not in self._tells:
            self._tells.append(tell)
        verdicts = list(self.verdicts.values())
        tell(greeting(self.catalog, self.space, self._panels(), self.generation, verdicts))

    def leave(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """That widget is closed."""
        if tell in self._tells:
            self._tells.remove(tell)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """One question of a widget, answered here and now: a kernel has one thread for us."""
        from attention_katas.lab.engine import answer
        from attention_katas.lab.functions import LearnerFunctions
        from attention_katas.lab.processes import Processes
        from attention_katas.service.local import hidden_paths

        if self._functions is None:
            self._processes = Processes(hidden_paths(self.catalog))
            self._functions = LearnerFunctions(self.catalog, self.space, self._processes)
        answers = {panel.name: panel.answer for panel in self._panels()}
        return answer(self._functions, answers, request)

    def _panels(self) -> list[Panel]:
        """The pictures that a widget can draw: those of packs come from the lab's server alone."""
        from attention_katas.lab.panels import panels_of

        return [panel for panel in panels_of(self.catalog) if panel.script is None]

    def _changed(self, file: str) -> None:
        from attention_katas.lab.lab import katas_of

        self.generation += 1
        if self._functions is not None:
            self._functions.forget({file})
        katas = katas_of(self.catalog, self.space)
        message = {"event": "saved", "generation": self.generation, "files": [file], "katas": katas}
        self._tell(message)

    def _tell(self, message: dict[str, Any]) -> None:
        for tell in list(self._tells):
            try:
                tell(message)
            except Exception:  # noqa: BLE001 - a widget whose line is gone; the cell goes on
                self.leave(tell)

    def close(self) -> None:
        for part in (self._functions, self._processes, self._service):
            if part is not None:
                part.close()
        self._functions = self._processes = self._service = None
        self._folder.cleanup()


@functools.cache
def session() -> NotebookSession:
    """That of this notebook."""
    return NotebookSession()


def check(function: Callable[..., Any] | str, source: str = "") -> Result:
    """Judge a function of this notebook, or source text for the kata of that name.

    `check(softmax)` takes the function's own source, with torch, F and math imported before it;
    `check("softmax", source)` takes the text as it is.
    """
    here = session()
    if isinstance(function, str):
        return here.judge(here.catalog[function], source)
    kata = here.kata_of(function.__name__)
    return here.judge(kata, IMPORTS + inspect.getsource(function))


def lab() -> Any:
    """The lab's page as a widget. Needs the extra: pip install 'attention-katas[notebook]'."""
    return _widget()()


@functools.cache
def _widget() -> Any:
    try:
        anywidget: Any = importlib.import_module("anywidget")
        traitlets: Any = importlib.import_module("traitlets")
    except ImportError:
        message = "the lab in a notebook needs anywidget"
        raise KataError(message, "pip install 'attention-katas[notebook]'") from None
    from attention_katas.lab import export

    class LabWidget(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = export.widget_script()
        style = traitlets.Unicode(export.widget_style()).tag(sync=True)

        def __init__(self) -> None:
            super().__init__()
            self.on_msg(self._hear)

        def close(self) -> None:
            session().leave(self.send)
            super().close()

        def _hear(self, _: Any, content: Any, __: Any) -> None:
            if not isinstance(content, dict):
                return
            if content.get("panel") == "open":
                session().open(self.send)
            else:
                self.send(json.loads(json.dumps(session().answer(content), allow_nan=False)))

    return LabWidget


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext attention_katas.notebook`: the magic %%kata."""

    display = importlib.import_module("IPython.display").display
    usage_error = importlib.import_module("IPython.core.error").UsageError

    def kata(line: str, cell: str) -> None:
        """%%kata NAME: judge this cell, then run it."""
        here = session()
        try:
            result = here.judge(here.catalog[line.strip()], cell)
        except KataError as error:
            raise usage_error(f"{error.message}. Next: {error.next_step}") from None
        if result.verdict.outcome != v.BROKEN:
            shell.run_cell(cell)
        display(result)

    shell.register_magic_function(kata, "cell", "kata")
