"""All katas there are, of all packs, in the order in which they build on each other.

The order comes from `requires`, never from numbers. A pack that does not fit is refused by name,
and the others keep working.
"""

from __future__ import annotations

import difflib
import graphlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attention_katas.errors import BadContent, KataError, NoSuchKata
from attention_katas.packs import installed, names
from attention_katas.packs.kata import Kata, read_kata
from attention_katas.packs.pack import SHIPPED, Pack, locate, read_pack

__all__ = ["Catalog", "Kata", "Refusal", "Selection", "content_root", "load_catalog"]


@dataclass(frozen=True)
class Selection:
    """The packs that the command line names.

    folders: packs beside the others.
    only: no other packs.
    """

    folders: tuple[Path, ...] = ()
    only: bool = False


@dataclass(frozen=True)
class Refusal:
    """A pack that is not used.

    pack: its name, or that of its entry point or folder while it cannot be read.
    reason: why, in words.
    next_step: what helps.
    selected: the command line names it.
    """

    pack: str
    reason: str
    next_step: str = ""
    selected: bool = False

    @property
    def message(self) -> str:
        return f"the pack {self.pack} is not used: {self.reason}"


@dataclass(frozen=True)
class _Source:
    """Where a pack comes from: what to call it until its name is known, and its folder."""

    label: str
    folder: Callable[[], Path]
    selected: bool = False


class Catalog:
    """All katas of some packs.

    selection: what the command line named.
    packs: those that are used.
    refusals: those that are not.
    katas: in the order in which they build on each other.
    """

    def __init__(
        self,
        selection: Selection,
        packs: Sequence[Pack],
        katas: Sequence[Kata],
        refusals: Sequence[Refusal] = (),
    ) -> None:
        self.selection = selection
        self.packs, self.katas, self.refusals = list(packs), list(katas), list(refusals)

    def __getitem__(self, name: str) -> Kata:
        """The kata called `name`, however it is spelt. Raises NoSuchKata."""
        base = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
        spelling = base.lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
        for kata in self.katas:
            if kata.name == spelling:
                return kata
        near = difflib.get_close_matches(spelling, [kata.name for kata in self.katas], 1, 0.4)
        if near:
            message = f"there is no kata called {name!r}; did you mean {near[0]!r}?"
            raise NoSuchKata(message, near[0])
        raise NoSuchKata(f"there is no kata called {name!r}")

    @property
    def ready(self) -> list[Kata]:
        return [kata for kata in self.katas if kata.ready]

    @property
    def named_packs(self) -> list[Pack]:
        """The packs that the command line names."""
        folders = {folder.resolve() for folder in self.selection.folders}
        return [pack for pack in self.packs if folders & set(_places(pack))]

    @property
    def modules(self) -> dict[str, Kata]:
        """Katas by the module name that other katas import them by."""
        return {kata.module: kata for kata in self.katas}

    @property
    def keys(self) -> dict[str, str]:
        """What the progress of each kata is kept under, by the kata's name."""
        return {kata.name: kata.key for kata in self.katas}

    @property
    def digest(self) -> str:
        """A short hash of everything in its packs that decides a verdict."""
        parts = sorted(f"{pack.name} {pack.digest}" for pack in self.packs)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _places(pack: Pack) -> tuple[Path, Path]:
    """The folders by which the command line may name a pack; see `locate`."""
    folder = pack.folder.resolve()
    return folder, folder.parent


def content_root() -> Path:
    """The folder that holds katas/ and reference/: the installed package, or the checkout."""
    package = Path(__file__).resolve().parents[1]
    return package if (package / "katas").is_dir() else package.parents[1]


def load_catalog(selection: Selection | None = None) -> Catalog:
    """The katas that ship, those that are installed, and those that the command line names.

    Nothing else selects a pack: no environment variable, and no file of a workspace.
    """
    selection = selection or Selection()
    shipped_pack = read_pack(content_root() / "katas")
    gathering = _Gathering()
    for source in _sources(selection):
        gathering.add(source, shipped_pack)
    katas = gathering.in_order()
    return Catalog(selection, list(gathering.packs), katas, gathering.refusals)


def _sources(selection: Selection) -> Iterator[_Source]:
    if not selection.only:
        yield _Source(SHIPPED, lambda: content_root() / "katas")
        for entry in installed.entry_points():
            yield _Source(entry.name, lambda entry=entry: installed.folder_of(entry))  # type: ignore[misc]
    for folder in selection.folders:
        yield _Source(str(folder), lambda folder=folder: folder, selected=True)  # type: ignore[misc]


class _Gathering:
    """Packs that fit together so far, in the order in which they came, and those that do not."""

    def __init__(self) -> None:
        self.packs: dict[Pack, list[Kata]] = {}
        self.refusals: list[Refusal] = []
        self._selected: set[Pack] = set()

    def add(self, source: _Source, shipped: Pack) -> None:
        """Take a pack in, or refuse it."""
        label = source.label
        try:
            pack = read_pack(locate(source.folder()))
            label = pack.name
            if self._is_in(pack):
                return
            katas = _katas_of(pack, shipped)
            self._check(pack, katas, shipped)
        except KataError as error:
            refusal = Refusal(label, error.message, error.next_step, source.selected)
            self.refusals.append(refusal)
            return
        self.packs[pack] = katas
        if source.selected:
            self._selected.add(pack)

    def _is_in(self, pack: Pack) -> bool:
        """An installed pack may be named on the command line, too."""
        return any(present.folder.resolve() == pack.folder.resolve() for present in self.packs)

    def _check(self, pack: Pack, katas: Sequence[Kata], shipped: Pack) -> None:
        """Raises BadContent when a name of the pack is in use."""
        for present in self.packs:
            if present.name == pack.name:
                raise BadContent(
                    f"there is a pack {pack.name!r} already, in {present.folder}",
                    f"change name in {pack.folder / 'pack.toml'}",
                )
        if pack.ships and pack.folder.resolve() != shipped.folder.resolve():
            raise BadContent(f"{SHIPPED!r} is the name of the pack that ships")
        owners = {name: kata for part in self.packs.values() for name, kata in _names_of(part)}
        for name, kata in _names_of(katas):
            if name in owners and owners[name] is not kata:
                owner = owners[name]
                raise BadContent(
                    f"{kata.folder.name}/kata.toml: {name!r} belongs to the kata {owner.name} "
                    f"of the pack {owner.pack.name} already",
                    "give the kata, or the function, another name",
                )
            owners[name] = kata
        for kata in katas if not pack.ships else ():
            why = names.trouble(kata.module)
            if why:
                raise BadContent(f"no kata can be called {kata.name!r}: it {why}", "another name")

    def in_order(self) -> list[Kata]:
        """All katas so that each comes after what it requires; packs where that fails leave."""
        while True:
            katas = {kata.name: kata for part in self.packs.values() for kata in part}
            missing = _missing(katas)
            if missing is not None:
                self._refuse(*missing)
                continue
            sorter = graphlib.TopologicalSorter(
                {kata.name: kata.requires for kata in katas.values()}
            )
            try:
                sorter.prepare()
            except graphlib.CycleError as error:
                circle = [katas[name] for name in error.args[1]]
                last = max((kata.pack for kata in circle), key=list(self.packs).index)
                chain = " -> ".join(kata.name for kata in reversed(circle))
                self._refuse(last, f"katas require each other in a circle: {chain}")
                continue
            return [katas[name] for name in self._sorted(sorter, katas)]

    def _sorted(
        self, sorter: graphlib.TopologicalSorter[str], katas: Mapping[str, Kata]
    ) -> Iterator[str]:
        """Names in the order of `sorter`; where it leaves a choice, of the earlier pack first."""
        rank = {pack: number for number, pack in enumerate(self.packs)}
        ready: list[tuple[int, str]] = []
        while sorter.is_active():
            ready += [(rank[katas[name].pack], name) for name in sorter.get_ready()]
            first = min(ready)
            ready.remove(first)
            sorter.done(first[1])
            yield first[1]

    def _refuse(self, pack: Pack, reason: str) -> None:
        del self.packs[pack]
        self.refusals.append(Refusal(pack.name, reason, selected=pack in self._selected))


def _katas_of(pack: Pack, shipped: Pack) -> list[Kata]:
    """The katas of a pack. Raises BadContent."""
    families = {family.name: family for family in shipped.families}
    for family in pack.families if not pack.ships else ():
        if family.name in families:
            raise BadContent(f"the family of bans {family.name!r} belongs to {SHIPPED}")
        families[family.name] = family
    paths = sorted(pack.folder.glob("*/kata.toml"))
    for folder in (pack.shared, *(path.parent for path in paths)):
        if folder.is_symlink():  # its files would not count in the hash of the pack
            raise BadContent(f"{folder} is a link: a pack holds its own folders")
    return [read_kata(path, pack, families) for path in paths]


def _names_of(katas: Iterable[Kata]) -> Iterator[tuple[str, Kata]]:
    """Names that have to be unique: of modules (and so of katas), and of functions."""
    for kata in katas:
        yield f"{kata.module}.py", kata
        for name in kata.functions:
            yield name, kata


def _missing(katas: dict[str, Kata]) -> tuple[Pack, str] | None:
    """A pack with a kata that requires one that is not there, and the reason in words."""
    for kata in katas.values():
        for name in kata.requires:
            if name not in katas:
                near = difflib.get_close_matches(name, katas, 1)
                meant = f"; did you mean {near[0]!r}?" if near else ""
                return (
                    kata.pack,
                    f"{kata.name}/kata.toml requires {name!r}, which is no kata{meant}",
                )
    return None
