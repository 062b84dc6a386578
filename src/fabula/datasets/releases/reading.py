"""How an entry reads its release: files found, fields checked, stories and scores gathered.

Whatever is wrong is an `InputError` that names the file and the row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.dataset import DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.tables.rows import Row
from fabula.datasets.tables.text_file import TextFile

T = TypeVar("T")
# A value with the words for where it stands.
Placed = tuple[str, T]

_NEWLINE = re.compile(r"[ \t]*<(?:\\?newline|br ?/?)>[ \t]*")
_PROMPT = re.compile(r"^\s*\[ ?WP ?\]:?\s*")
_SENTENCE_END = re.compile(r"\s*</s>\s*")


def find_file(path: Path | None, *names: str) -> TextFile | None:
    """Give the first of some files that a folder holds, plain or gzipped, if it holds one."""
    if path is None:
        return None
    if path.is_file():
        plain = path.name.removesuffix(".gz")
        return TextFile(path, path.name) if plain in names else None
    for name in names:
        for candidate in (path / name, path / f"{name}.gz"):
            if candidate.is_file():
                return TextFile(candidate, candidate.name)
    return None


def require_file(path: Path | None, name: str, *names: str) -> TextFile:
    """Give the first of some files that a folder holds, or say what is missing."""
    file = find_file(path, name, *names)
    if file is None:
        wanted = " or ".join([name, *names])
        raise InputError(
            f"{path or 'no folder given'}: {wanted} (plain or .gz) is not there",
            "pass the folder or file with --path, or keep it with: fabula data add NAME FOLDER; "
            "fabula data show NAME says where to get it",
        )
    return file


def choose_file(path: Path | None, name: str, *names: str) -> TextFile:
    """Give the file itself, whatever its name, or the first of some that a folder holds."""
    if path is not None and path.is_file():
        return TextFile(path, path.name)
    return require_file(path, name, *names)


def choose_files(
    path: Path | None, is_part: Callable[[str], bool], name: str, *names: str
) -> list[TextFile]:
    """Give the file itself, whatever its name, or all parts of a release that a folder holds.

    `is_part` tells them by their names, in small letters and without .gz. Train comes before
    validation and test.
    """
    if path is None or not path.is_dir():
        return [choose_file(path, name, *names)]
    order = ("train", "val", "dev", "test")

    def rank(file: Path) -> tuple[int, str]:
        parts = (at for at, part in enumerate(order) if part in file.name.lower())
        return next(parts, len(order)), file.name

    found = [
        file
        for file in path.iterdir()
        if file.is_file()
        and not file.name.startswith(".")
        and is_part(file.name.lower().removesuffix(".gz"))
    ]
    files = [TextFile(file, file.name) for file in sorted(found, key=rank)]
    return files or [require_file(path, name, *names)]


def note_findings(card: DatasetCard, findings: Iterable[str]) -> DatasetCard:
    """Give the card with what was found in these very files, as further quirks."""
    return replace(card, quirks=(*card.quirks, *findings))


def find_files(path: Path | None, name: str, *names: str) -> dict[str, TextFile]:
    """Give those of some files that a folder holds, by name; at least one has to be there."""
    files = {wanted: find_file(path, wanted) for wanted in (name, *names)}
    present = {wanted: file for wanted, file in files.items() if file}
    return present or {name: require_file(path, name, *names)}


def fit_card(card: DatasetCard, *files: TextFile) -> DatasetCard:
    """Give the card; its counts are those of the files it knows, and say nothing of others."""
    known = all(file.path.name.removesuffix(".gz") in card.checksums for file in files)
    return card if known else replace(card, counts={})


def get_field(row: Row, name: str, where: str) -> Any:
    """Give a field of a row, or say which one is missing where."""
    if name not in row or row[name] is None:
        raise InputError(f"{where}: field {name!r} is missing", f"known: {', '.join(row)}")
    return row[name]


def get_text(row: Row, name: str, where: str) -> str:
    """Give a field that holds text, or say which one does not."""
    text = get_field(row, name, where)
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError(f"{where}: field {name!r} holds a {kind}, not text", "write a string")
    return text


def get_list(row: Row, name: str, where: str, count: int | None = None) -> list[Any]:
    """Give a field that holds a list, of so many values where that is known."""
    values = get_field(row, name, where)
    if not isinstance(values, list):
        kind = type(values).__name__
        raise InputError(f"{where}: field {name!r} holds a {kind}, not a list", "write a list")
    if count is not None and len(values) != count:
        raise InputError(
            f"{where}: field {name!r} holds {len(values)} values, not {count}", "fetch it again"
        )
    return values


def get_texts(row: Row, name: str, where: str) -> list[str]:
    """Give a field that holds a list of texts, at least one."""
    texts = get_list(row, name, where)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: field {name!r} is no list of texts", 'write ["…", …]')
    return texts


def read_rating(value: Any, where: str, scale: tuple[float, float] | None = None) -> float:
    """Read a rating, or say where it is no number or outside the scale."""
    try:
        rating = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: rating {value!r} is no number", "mend or delete it") from None
    if scale and not scale[0] <= rating <= scale[1]:
        low, high = scale
        raise InputError(
            f"{where}: rating {rating:g} is outside the scale {low:g} to {high:g}",
            "mend it, or leave it empty if it is missing",
        )
    return rating


def read_slot_ratings(
    story: str, values: Sequence[Any], where: str, *, aspect: str, scale: tuple[float, float]
) -> Iterator[Placed[Score]]:
    """Read a list of ratings whose raters are places in the list: `human:1`, `human:2` …"""
    for slot, value in enumerate(values, 1):
        yield where, Score(story, f"human:{slot}", aspect, read_rating(value, where, scale))


def check_object(value: Any, where: str) -> dict[str, Any]:
    """Give a value that is a JSON object, or say where it is none."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise InputError(f"{where}: a {kind}, not an object", "check that it is the right file")
    return value


def read_object(file: TextFile) -> dict[str, Any]:
    """Read a file that is one JSON object; a key that stands twice is refused."""

    def refuse_doubled(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            names = [name for name, _ in pairs]
            doubled = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{file.label}: key {doubled!r} stands twice", "keep one of the two")
        return values

    try:
        value = json.loads(file.text(), object_pairs_hook=refuse_doubled)
    except ValueError as error:
        raise InputError(f"{file.label}: not valid JSON ({error})", "fetch it again") from None
    except RecursionError:
        raise InputError(f"{file.label}: nested too deeply", "fetch it again") from None
    return check_object(value, file.label)


def read_cells(file: TextFile, separator: str, count: int) -> Iterator[Placed[list[str]]]:
    """Go through lines of so many cells, with the words for where each is."""
    for number, line in file.lines():
        where = f"{file.label}, line {number}"
        cells = [cell.strip() for cell in line.rstrip("\r\n").split(separator)]
        if len(cells) != count:
            raise InputError(
                f"{where}: {len(cells)} cells between {separator!r}, not {count}", "mend the line"
            )
        yield where, cells


def gather_stories(placed: Iterable[Placed[Story]]) -> tuple[Story, ...]:
    """Gather stories; an id that comes again names both places."""
    return tuple(
        _refuse_repeats(placed, lambda story: story.id, lambda story: f"story {story.id!r}")
    )


def gather_scores(stories: Collection[Story], placed: Iterable[Placed[Score]]) -> ScoreTable:
    """Make a table of scores that are each there once, and about stories that are there."""
    known = {story.id for story in stories}

    def check_stories() -> Iterator[Placed[Score]]:
        for where, score in placed:
            if score.story not in known:
                raise InputError(f"{where}: no story {score.story!r} in this release", "drop it")
            yield where, score

    def describe(score: Score) -> str:
        aspect = f" on {score.aspect!r}" if score.aspect else ""
        return f"a score of {score.scorer!r} for story {score.story!r}{aspect}"

    scores = _refuse_repeats(
        check_stories(), lambda score: (score.story, score.scorer, score.aspect), describe
    )
    return ScoreTable(stories, scores)


def _refuse_repeats(
    placed: Iterable[Placed[T]], key_of: Callable[[T], Hashable], describe: Callable[[T], str]
) -> Iterator[T]:
    places: dict[Hashable, str] = {}
    for where, value in placed:
        key = key_of(value)
        if key in places:
            before = f"was there before, at {places[key]}"
            raise InputError(f"{where}: {describe(value)} {before}", "keep one of the two")
        places[key] = where
        yield value


@dataclass(frozen=True)
class StoriesByPrompt:
    """Stories by prompt: the same text under one prompt is one story.

    An id is the number of the prompt and that of the story below it, `12.3`; the item is the
    prompt's number. Stories without a prompt are items of their own.
    """

    _prompts: dict[tuple[str, str], dict[str, Story]] = field(default_factory=dict)

    def add(self, prompt: str, text: str) -> Story:
        """Give the story of that prompt and text, the one that is there already if there is."""
        key = prompt, "" if prompt else text
        stories = self._prompts.setdefault(key, {})
        if text not in stories:
            item = next(iter(stories.values())).item if stories else str(len(self._prompts))
            name = f"{item}.{len(stories) + 1}"
            stories[text] = Story(name, text, prompt=prompt or None, item=item)
        return stories[text]

    @property
    def stories(self) -> tuple[Story, ...]:
        """All stories, by prompt."""
        return tuple(story for stories in self._prompts.values() for story in stories.values())


def clean_text(text: str) -> str:
    r"""Turn `<newline>`, `<\newline>` and `<br>` into line ends; blanks at the ends go."""
    return _NEWLINE.sub("\n", text).strip()


def clean_prompt(prompt: str) -> str:
    """Drop the tag `[WP]` from the head of a prompt; other tags say something and stay."""
    return clean_text(_PROMPT.sub("", prompt))


def clean_sentences(text: str) -> str:
    """Drop the tag `</s>` behind every sentence."""
    return _SENTENCE_END.sub(" ", text).strip()
