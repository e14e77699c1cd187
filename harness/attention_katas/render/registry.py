"""Formats by name: those built in, and those of installed packages.

A built-in format is a module of the registry's package with a constant `FORMAT`; it is called like
the module. An installed package brings formats under the entry point group
`attention_katas.formats`: the name of an entry point is the name of the format. An entry point that
breaks or whose name is taken is skipped with a reason, and the other formats keep working.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Generic, TypeVar

from attention_katas.errors import KataError
from attention_katas.packs.installed import entry_points

GROUP = "attention_katas.formats"


@dataclass(frozen=True)
class Format:
    """What the formats of all commands have in common.

    summary: one line about the format.
    """

    summary: str


F = TypeVar("F", bound=Format)


class Registry(Generic[F]):
    """The formats of one command.

    package: the package whose modules are the built-in formats.
    kind: the class of the formats.
    help: the command that lists them.
    reserved: names that no format may have.
    problems: why entry points were skipped, once they have been loaded.
    """

    def __init__(
        self, package: str, kind: type[F], help: str, reserved: tuple[str, ...] = ()
    ) -> None:
        self._package, self._kind, self._help, self._reserved = package, kind, help, reserved
        self._installed: dict[str, F] | None = None
        self.problems: list[str] = []

    def names(self) -> list[str]:
        """The names of all formats, as they are typed. Loads the entry points."""
        return sorted({*self.built_in(), *self._third_party()})

    def load(self, name: str) -> F:
        """The format of that name. Raises KataError when there is none.

        Entry points are loaded only for a name that is not built in.
        """
        if name in self.built_in():
            return self._of_module(name)
        if name in self._third_party():
            return self._third_party()[name]
        message = f"there is no format called {name!r}; there are {', '.join(self.names())}"
        raise KataError(message, self._help)

    def built_in(self) -> list[str]:
        """The names of the formats that ship."""
        modules = pkgutil.iter_modules(importlib.import_module(self._package).__path__)
        return [m.name.replace("_", "-") for m in modules if not m.name.startswith("_")]

    def _of_module(self, name: str) -> F:
        module = importlib.import_module(f"{self._package}.{name.replace('-', '_')}")
        assert isinstance(module.FORMAT, self._kind), name
        return module.FORMAT

    def _third_party(self) -> dict[str, F]:
        if self._installed is None:
            self._installed = {}
            points = [(point, self._loaded(point)) for point in entry_points(GROUP)]
            formats = [(p, loaded) for p, loaded in points if isinstance(loaded, self._kind)]
            count = Counter(point.name for point, _ in formats)
            for point, loaded in formats:
                if point.name in (*self.built_in(), *self._reserved):
                    self._refuse(point, "a built-in format has that name")
                elif count[point.name] > 1:
                    self._refuse(point, "several installed packages have a format of that name")
                else:
                    self._installed[point.name] = loaded
        return self._installed

    def _loaded(self, point: EntryPoint) -> object:
        if not point.value:
            self._refuse(point, "its entry_points.txt cannot be read")
            return None
        try:
            loaded: object = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others
            self._refuse(point, f"{type(error).__name__}: {error}")
            return None
        if not isinstance(loaded, Format):
            self._refuse(point, "it is neither a RunFormat nor a GradeFormat")
        return loaded

    def _refuse(self, point: EntryPoint, reason: str) -> None:
        package = point.dist.name if point.dist else "an installed package"
        self.problems.append(f"the format {point.name!r} of {package} is skipped: {reason}")
