"""What a co-author learns from: stories with their prompts as tokens, packed into rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.batches import pack
from fabula.learned.training.examples import digest_of
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.learned.training.stories import (
    PLACEHOLDER,
    Groups,
    data_folder,
    near_duplicate_groups,
    read_dataset,
)
from fabula.text.detokenise import respace
from fabula.text.posts import clean_post
from fabula.text.prompting import render_prompt

if TYPE_CHECKING:
    from fabula.learned.training.author import AuthorRecipe

Array = np.ndarray[Any, np.dtype[Any]]
_ARRAYS = ("flat", "offsets", "begins")
Piece = tuple[int, int, int]  # start and end in the flat array, and where its story's text begins

_ENCODED_AT_ONCE = 512
_REMEDY = "delete it, or name another file with --prepared"


@dataclass(frozen=True)
class StoryTokens:
    """Stories end to end: story i is `flat[offsets[i] : offsets[i + 1]]`, prompt before text.

    `begins[i]` is where in `flat` its text begins, after the prompt and the signs before it.
    """

    flat: Array
    offsets: Array
    begins: Array

    def __len__(self) -> int:
        return len(self.begins)

    def describe(self) -> dict[str, Any]:
        """Counts and a digest, for the record."""
        digest = hashlib.sha256()
        for array, kind in ((self.flat, "<i4"), (self.offsets, "<i8"), (self.begins, "<i8")):
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return {
            "stories": len(self),
            "with_prompt": int((self.begins - self.offsets[:-1] > 1).sum()),
            "tokens": len(self.flat),
            "sha256": digest.hexdigest(),
        }

    def pieces(self, window: int) -> list[Piece]:
        """Cut stories into pieces of at most `window` tokens.

        A piece begins with the last token of the one before it, so that every token but a story's
        first is foretold once.
        """
        pieces = []
        for (start, end), begin in zip(
            pairwise(self.offsets.tolist()), self.begins.tolist(), strict=True
        ):
            while end - start > 1:
                pieces.append((start, min(start + window, end), begin))
                start += window - 1
        return pieces


@dataclass(frozen=True)
class AuthorData:
    """Stories to learn from, stories held out by source, and what became of the others."""

    train: StoryTokens
    held_out: Mapping[str, StoryTokens]
    counts: Mapping[str, Mapping[str, int]]
    settings: Mapping[str, Any] = field(default_factory=dict)  # what they follow from

    def settle(self, recipe: AuthorRecipe) -> AuthorRecipe:
        """Give the recipe with the settings that these data were made by."""
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.settings.items()
        }
        return replace(recipe, **settings)

    def describe(self) -> dict[str, Any]:
        """Counts and digests, for the record."""
        held = {name: tokens.describe() for name, tokens in self.held_out.items()}
        return {"train": self.train.describe(), "held_out": held, "counts": self.counts}


@dataclass(frozen=True)
class AuthorBatch:
    """Rows of packed pieces, all arrays (B, T).

    `segments` number the pieces of a row, from 1; fillers have 0. `counts` says whether a token is
    learned from, that is foretold from those before it in its piece.
    """

    ids: Array
    positions: Array
    segments: Array
    counts: Array
    stories: Array  # number of the piece that a token is of, over the whole batch

    @property
    def size(self) -> int:
        """Tokens that are no filler."""
        return int((self.segments > 0).sum())

    def rows(self, start: int, stop: int) -> AuthorBatch:
        """Give some of the rows, as long as their longest."""
        longest = int((self.segments[start:stop] > 0).sum(axis=1).max())
        arrays = (self.ids, self.positions, self.segments, self.counts, self.stories)
        return AuthorBatch(*(array[start:stop, :longest] for array in arrays))


def pack_pieces(pieces: Sequence[Piece], window: int, *, open_rows: int) -> list[list[Piece]]:
    """Put pieces into rows of `window` tokens; with one open row of a piece each, they are."""
    if not open_rows:
        return [[piece] for piece in pieces]
    rows = pack([end - start for start, end, _ in pieces], window, open_rows=open_rows)
    return [[pieces[number] for number in row] for row in rows]


def fill_rows(
    rows: Sequence[Sequence[Piece]], tokens: StoryTokens, *, with_prompt: bool
) -> AuthorBatch:
    """Write the tokens of pieces into rows; `with_prompt`, prompts are learned from as well."""
    longest = max(sum(end - start for start, end, _ in row) for row in rows)
    ids, positions, segments, counts, stories = np.zeros((5, len(rows), longest), dtype=np.int64)
    number = 0
    for row, pieces in enumerate(rows):
        at = 0
        for segment, (start, end, begin) in enumerate(pieces, 1):
            place = slice(at, at + end - start)
            ids[row, place] = tokens.flat[start:end]
            positions[row, place] = np.arange(end - start)
            segments[row, place] = segment
            counts[row, place] = True if with_prompt else np.arange(start, end) >= begin
            counts[row, at] = False  # nothing stands before it
            stories[row, place] = number
            at, number = at + end - start, number + 1
    return AuthorBatch(ids, positions, segments, counts.astype(bool), stories)


def prepare_author(
    recipe: AuthorRecipe, given: Sequence[str] = (), *, prepared: Path | None = None
) -> AuthorData:
    """Read stories, or the file `prepared` that holds their tokens already.

    `given` are sources that stand in for the recipe's; a folder that holds data sets is where those
    are looked for.
    """
    from fabula.learned.training.author import open_model

    roots = [Path(name) for name in given if _holds_datasets(Path(name), recipe)]
    sources = tuple(name for name in given if Path(name) not in roots)
    if sources:
        # Data sets of people's ratings are left out for those who measure: one's own are not.
        recipe = replace(recipe, sources=sources, left_out=())
    if not recipe.sources:
        raise SettingError("there are no stories to learn from", "name some with --data")
    tokenizer = open_model(recipe.model).tokenizer
    if prepared and prepared.exists():
        return load_author_data(prepared, recipe)
    data = read_author_data(recipe, tokenizer, roots[0] if roots else None)
    if prepared:
        save_author_data(data, prepared)
    return data


def _holds_datasets(path: Path, recipe: AuthorRecipe) -> bool:
    return path.is_dir() and any(data_folder(name, path) for name in recipe.sources)


def read_author_data(recipe: AuthorRecipe, tokenizer: Any, data: Path | None = None) -> AuthorData:
    """Read the stories of a recipe's sources, hold some out, and cut all into tokens."""
    sources = {_name_source(name): _read_source(name, recipe, data) for name in recipe.sources}
    rated = [story.text for name in recipe.left_out for story in _read_stories(name, data)]
    learned, held, counts = split_stories(sources, rated, recipe)
    if not learned:
        raise InputError("no story is left to learn from", "check sources, cased and left_out")
    signs = find_signs(tokenizer)
    tokens = encode_stories(learned, tokenizer, signs, tag=recipe.tag)
    held_tokens = {
        name: encode_stories(stories, tokenizer, signs, tag=recipe.tag)
        for name, stories in held.items()
        if stories
    }
    settings = _data_settings(recipe)
    return AuthorData(tokens, held_tokens, counts, settings)


def _data_settings(recipe: AuthorRecipe) -> dict[str, Any]:
    names = ("sources", "left_out", "tag", "cleaned", "cased", "split_seed", "held_out")
    settings = {name: getattr(recipe, name) for name in (*names, "most_held")}
    for name in ("sources", "left_out"):
        settings[name] = tuple(map(_name_source, settings[name]))
    return settings


def _name_source(name: str) -> str:
    """Call a file by its name alone: where it lies is nobody else's concern."""
    return Path(name).name if Path(name).exists() else name


def _read_source(name: str, recipe: AuthorRecipe, data: Path | None) -> list[Story]:
    """Read the stories of a source that are to be learned from, cleaned if the recipe says so."""
    stories = [story for story in _read_stories(name, data) if story.text.strip()]
    if recipe.cased:
        stories = [story for story in stories if _is_cased(story.text)]
    return [_clean(story) for story in stories] if recipe.cleaned else stories


def _read_stories(name: str, data: Path | None) -> Sequence[Story]:
    """Read a file or folder of stories, else a data set by its name."""
    if not Path(name).exists():
        return read_dataset(name, data).stories
    from fabula.datasets.tables.stories import load_stories

    return load_stories(name)


def _clean(story: Story) -> Story:
    prompt = respace(story.prompt) if story.prompt else None
    return replace(story, text=clean_post(respace(story.text)).text, prompt=prompt)


def split_stories(
    sources: Mapping[str, Sequence[Story]], rated: Sequence[str], recipe: AuthorRecipe
) -> tuple[list[Story], dict[str, list[Story]], dict[str, dict[str, int]]]:
    """Part stories into those to learn from and those held out by source; count all fates.

    Near duplicates, and stories on one prompt, stand on one side as a whole; what resembles a
    story of the data sets left out is on neither. Of near duplicates one is kept.
    """
    owners = [name for name, stories in sources.items() for _ in stories]
    stories = [story for group in sources.values() for story in group]
    twins = near_duplicate_groups([*(story.text for story in stories), *rated])
    barred = set(twins[len(stories) :])
    kin = _join_prompts(stories, twins)
    free = [number for number in range(len(stories)) if twins[number] not in barred]
    held_groups = _draw_held(stories, owners, {number: kin[number] for number in free}, recipe)
    learned: list[Story] = []
    held: dict[str, list[Story]] = {name: [] for name in sources}
    counts = {name: Counter[str]() for name in sources}
    seen: set[int] = set()
    for number, (story, owner) in enumerate(zip(stories, owners, strict=True)):
        if twins[number] in barred:
            fate = "left out"
        elif twins[number] in seen:
            fate = "near duplicate"
        elif kin[number] in held_groups:
            fate = "held out"
            held[owner].append(story)
        else:
            fate = "learned from"
            learned.append(story)
        if fate in ("held out", "learned from"):
            seen.add(twins[number])
        counts[owner][fate] += 1
    return learned, held, {name: dict(fates) for name, fates in counts.items()}


def _join_prompts(stories: Sequence[Story], twins: Sequence[int]) -> list[int]:
    """Number groups of stories that are near duplicates or were written on one prompt."""
    groups, first = Groups(len(stories)), dict[str, int]()
    for number, story in enumerate(stories):
        groups.join(number, twins[number])
        if story.prompt:
            groups.join(number, first.setdefault(story.prompt.strip().lower(), number))
    return groups.numbers()


def _draw_held(
    stories: Sequence[Story],
    owners: Sequence[str],
    kin: Mapping[int, int],
    recipe: AuthorRecipe,
) -> set[int]:
    """Draw whole groups, by a digest of their texts, until enough of every source are held out."""
    members: dict[int, list[int]] = {}
    for number, group in kin.items():
        members.setdefault(group, []).append(number)
    total, held = Counter(owners[number] for number in kin), Counter[str]()
    wanted = {
        name: min(round(recipe.held_out * count), recipe.most_held) for name, count in total.items()
    }
    # By digest, so that the same stories are drawn whatever other sources are there.
    place = {
        group: min(digest_of(stories[number].text, recipe.split_seed) for number in numbers)
        for group, numbers in members.items()
    }
    drawn: set[int] = set()
    for group in sorted(members, key=place.__getitem__):
        owned = Counter(owners[number] for number in members[group])
        if all(held[name] + count <= wanted[name] for name, count in owned.items()):
            drawn.add(group)
            held += owned
    return drawn


def _is_cased(text: str) -> bool:
    return text != text.lower() and PLACEHOLDER.search(text) is None


@dataclass(frozen=True)
class Signs:
    """Tokens before and after every story; a model without such signs has none."""

    begin: tuple[int, ...]
    end: tuple[int, ...]


def find_signs(tokenizer: Any) -> Signs:
    """Find what a text begins and ends with, as likelihoods are taken: see `networks/causal.py`."""
    from fabula.models.reading.tokens import find_beginning

    end = tokenizer.eos_token_id
    return Signs(find_beginning(tokenizer), () if end is None else (end,))


def encode_stories(
    stories: Sequence[Story], tokenizer: Any, signs: Signs, *, tag: str
) -> StoryTokens:
    """Cut prompts and stories into tokens, apart from one another."""
    lengths, begins, parts = [0], [], []
    for start in range(0, len(stories), _ENCODED_AT_ONCE):
        chunk = stories[start : start + _ENCODED_AT_ONCE]
        prompts = _encode(tokenizer, [render_prompt([("", s.prompt or "")], tag) for s in chunk])
        texts = _encode(tokenizer, [story.text for story in chunk])
        for prompt, text in zip(prompts, texts, strict=True):
            begins.append(lengths[-1] + len(signs.begin) + len(prompt))
            ids = [*signs.begin, *prompt, *text, *signs.end]
            lengths.append(lengths[-1] + len(ids))
            parts.append(np.array(ids, dtype=np.int32))
    flat = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
    return StoryTokens(flat, np.array(lengths, np.int64), np.array(begins, np.int64))


def _encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    from fabula.models.reading.tokens import tokenise

    return [list(text.ids) for text in tokenise(tokenizer, texts)]


def save_author_data(data: AuthorData, path: Path) -> None:
    """Write tokens into one file."""
    parts = {"train": data.train} | {f"held/{name}": part for name, part in data.held_out.items()}
    arrays = {
        f"{part}|{kind}": getattr(tokens, kind)
        for part, tokens in parts.items()
        for kind in _ARRAYS
    }
    about = json.dumps({"counts": data.counts, "settings": data.settings})
    write_arrays(path, {"about": np.array(about), **arrays})


def load_author_data(path: Path, recipe: AuthorRecipe) -> AuthorData:
    """Read tokens that `save_author_data` wrote, of the same recipe."""
    stored = read_arrays(path, "stories as tokens", _REMEDY)
    try:
        about = json.loads(str(stored["about"]))
        names = dict.fromkeys(key.partition("|")[0] for key in stored if "|" in key)
        parts = {
            name: StoryTokens(*(stored[f"{name}|{kind}"] for kind in _ARRAYS)) for name in names
        }
        train = parts.pop("train")
        held = {name.removeprefix("held/"): tokens for name, tokens in parts.items()}
        data = AuthorData(train, held, about["counts"], about["settings"])
        wanted = json.loads(json.dumps(_data_settings(recipe)))
        other = [name for name in wanted if data.settings[name] != wanted[name]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no stories as tokens ({error})", _REMEDY) from None
    if other:
        raise InputError(f"{path} is of another recipe ({', '.join(sorted(other))})", _REMEDY)
    return data
