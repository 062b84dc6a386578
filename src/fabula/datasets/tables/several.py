"""Several files of stories as one source: each file is a system unless it says so itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.tables.rows import TEXTS
from fabula.datasets.tables.stories import StoryColumns, StoryFile, StoryLayout, open_stories


@contextmanager
def open_several(sources: Sequence[str], layout: StoryLayout) -> Iterator[SeveralFiles]:
    """Open several files, folders or data sets as one source; each is read as it would be alone."""
    if sources.count("-") > 1:
        raise InputError("stdin (-) is given twice", "give it once")
    with ExitStack() as stack:
        files = [stack.enter_context(open_stories(source, layout)) for source in sources]
        yield SeveralFiles(files)


@dataclass(frozen=True)
class _Pairing:
    """How stories of several files are told apart, and which of them share an item.

    `by` is "id", "line", or "" where it cannot be told; `why` says so then.
    """

    clash: bool
    by: str
    why: str = ""


class SeveralFiles:
    """Stories of several files, one file after the other, in bounded memory.

    The system is what a file says in a column, or a folder by its folders, else the file's name
    without its ending. Ids that several files use are made distinct (`a/1`). Where no file has
    items, stories with one id share one, and where none has ids but all are equally long, those on
    one line do. Of single texts each is a story; where they lie in several folders, these are the
    systems.
    """

    def __init__(self, files: Sequence[StoryFile]) -> None:
        for one, other in combinations(files, 2):
            if one.path.samefile(other.path):
                raise InputError(f"{other.label} is given twice", "give every file once")
        self.files = list(files)
        texts = [file for file in files if file.kind in TEXTS]
        folders = {file.path.absolute().parent for file in texts}
        names = dict(zip(map(id, texts), _name_folders(texts), strict=True))
        tables = [file for file in files if file.kind not in TEXTS]
        names |= dict(zip(map(id, tables), _name_files(tables), strict=True))
        self.names = [names[id(file)] for file in files]
        self._systems = [
            None if file.kind in TEXTS and len(folders) == 1 else name
            for file, name in zip(self.files, self.names, strict=True)
        ]

    @property
    def label(self) -> str:
        """Names of the files, of many the first ones."""
        names = [Path(file.label).name for file in self.files]
        more = len(names) - 3
        return ", ".join(names if more < 2 else [*names[:3], f"and {more} more"])

    @property
    def kind(self) -> str:
        """Their formats."""
        return "+".join(dict.fromkeys(file.kind for file in self.files))

    @property
    def encoding(self) -> str:
        """Their encodings."""
        return "+".join(dict.fromkeys(file.encoding for file in self.files))

    @property
    def left_out(self) -> int:
        """How many rows or files were left out so far, because they cannot be used."""
        return sum(file.left_out for file in self.files)

    @cached_property
    def columns(self) -> StoryColumns:
        """Columns of each part, those of all files together."""
        names: dict[str, dict[str, None]] = {}
        for file in self.files:
            for role, own in file.columns.names.items():
                names.setdefault(role, {}).update(dict.fromkeys(own))
        return StoryColumns({role: tuple(own) for role, own in names.items()})

    def describe(self) -> list[str]:
        """Say which columns were taken from each file, and how stories were paired."""
        lines = [line for file in self.files for line in file.describe()]
        if "item" in self.columns.names:
            return lines
        words = {
            "id": "stories with the same id share an item",
            "line": "no file has ids: stories on the same line share an item",
        }
        by = self._pairing.by
        return [*lines, words.get(by) or f"no items are shared: {self._pairing.why}"]

    def inputs(self) -> list[Path]:
        """Files that the stories are read from."""
        return [path for file in self.files for path in file.inputs()]

    def checksum(self) -> str:
        """SHA-256 of the names and the checksums of the files."""
        named = [
            f"{name} {file.checksum()}" for name, file in zip(self.names, self.files, strict=True)
        ]
        return hashlib.sha256("\n".join(named).encode("utf-8", "surrogatepass")).hexdigest()

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories of one file after the other."""
        pairing, has_items = self._pairing, "item" in self.columns.names
        for file, name, system in zip(self.files, self.names, self._systems, strict=True):
            for story in file:
                yield replace(
                    story,
                    id=f"{name}/{story.id}" if pairing.clash else story.id,
                    system=story.system or system,
                    item=story.id if pairing.by and not has_items else story.item,
                )

    @cached_property
    def _pairing(self) -> _Pairing:
        """Look at all ids once: do files share any, and what do they say?"""
        places: dict[str, int] = {}
        clash = False
        counts = []
        for place, file in enumerate(self.files):
            counts.append(0)
            for story in file:
                clash |= places.setdefault(story.id, place) != place
                counts[-1] += 1
        return _pair(["id" in file.columns.names for file in self.files], counts, clash=clash)


def _pair(with_ids: Sequence[bool], counts: Sequence[int], *, clash: bool) -> _Pairing:
    if all(with_ids):
        return _Pairing(clash, "id" if clash else "", "no id is in two files")
    if any(with_ids):
        return _Pairing(clash, "", "some files have ids and some have none")
    if len(set(counts)) == 1:
        return _Pairing(clash, "line")
    lengths = ", ".join(map(str, counts))
    return _Pairing(clash, "", f"no file has ids, and they hold {lengths} stories")


def _name_files(files: Sequence[StoryFile]) -> list[str]:
    """Name files by their names without the ending, with as many folders as tell them apart."""
    paths = [Path(file.label) for file in files]
    stems = [Path(path.name.removesuffix(".gz")).stem or path.name for path in paths]
    short = [(*path.parts[:-1], stem) for path, stem in zip(paths, stems, strict=True)]
    return tell_apart(short) or tell_apart([path.parts for path in paths])


def _name_folders(texts: Sequence[StoryFile]) -> list[str]:
    """Name texts by the folder they lie in."""
    folders = [file.path.absolute().parent for file in texts]
    distinct = list(dict.fromkeys(folders))
    names = dict(zip(distinct, tell_apart([folder.parts for folder in distinct]), strict=True))
    return [names[folder] for folder in folders]


def tell_apart(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Give the ends of paths that are just long enough to differ; none where they never do."""
    for length in range(1, max(map(len, paths), default=0) + 1):
        ends = ["/".join(path[-length:]) for path in paths]
        if len(set(ends)) == len(ends):
            return ends
    return []
