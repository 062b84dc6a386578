"""What a co-author with segments learns from: entries of games after all that was shown of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.datasets import storium
from fabula.datasets.story_games.game import read_game
from fabula.datasets.story_games.statistics import count_game_words
from fabula.learned.training.author_batches import StoryTokens
from fabula.learned.training.author_data import find_signs, try_tokeniser
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.models.networks.segmented import MarkCounts, find_marks, register_marks
from fabula.text.context.leaves import TEXT_MARKS, LaidOut, LeafSigns, lay_out
from fabula.text.context.packing import PACKINGS
from fabula.text.context.segments import find_entry_share, storium_context

if TYPE_CHECKING:
    from fabula.learned.training.author_segments import StoriumRecipe

PARTS = ("train", "validation", "test")
_ARRAYS = ("flat", "offsets", "begins", "kinds")
_SETTINGS = ("packing", "history", "window", "strongest", "compat")
_REMEDY = "delete it, or name another file with --prepared"


@dataclass(frozen=True)
class HeldEntries:
    """Whose losses are measured: the game and number of every entry, and whether all of it is
    shown."""

    games: tuple[str, ...]
    entries: tuple[str, ...]
    whole: tuple[bool, ...]


@dataclass(frozen=True)
class GamesData:
    """Entries to learn from, those held out by part, and what became of the others.

    `combinations` are what `kinds` of tokens count: the marks that a token belongs to.
    """

    train: StoryTokens
    held_out: Mapping[str, StoryTokens]
    held: Mapping[str, HeldEntries]
    combinations: tuple[tuple[str, ...], ...]
    counts: Mapping[str, int]
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the recipe, they follow from
    tokeniser: tuple[int, ...] = ()

    def settle(self, recipe: StoriumRecipe) -> StoriumRecipe:
        """Give the recipe with the settings that these data were made by."""
        settings = dict(self.settings)
        return replace(recipe, sources=tuple(settings.pop("sources", ())), **settings)

    def average_lengths(self) -> tuple[float, float]:
        """Give how many tokens of its game are shown before an entry, and how many the entry has,
        on average over all parts."""
        parts = [self.train, *self.held_out.values()]
        shown = np.concatenate([part.begins - part.offsets[:-1] for part in parts])
        own = np.concatenate([part.offsets[1:] - part.begins for part in parts])
        return float(shown.mean()), float(own.mean())

    def describe(self) -> dict[str, Any]:
        """Counts and digests, for the record."""
        held = {name: tokens.describe() for name, tokens in self.held_out.items()}
        return {"train": self.train.describe(), "held_out": held, "counts": self.counts}


def prepare_games(
    recipe: StoriumRecipe, given: Sequence[str] = (), *, prepared: Path | None = None
) -> GamesData:
    """Read exported games, or the file `prepared` that holds their tokens already."""
    from fabula.learned.training.author import open_model

    tokenizer = open_model(recipe.model).tokenizer
    register_marks(tokenizer)
    recipe = replace(recipe, sources=tuple(given) or recipe.sources)
    if prepared and prepared.exists():
        return load_games_data(prepared, recipe, tokenizer)
    if not recipe.sources:
        problem = "there are no games to learn from"
        raise SettingError(problem, "name exports with --data; fabula data games makes some")
    data = read_games_data(recipe, tokenizer)
    if prepared:
        save_games_data(data, prepared)
    return data


def read_games_data(recipe: StoriumRecipe, tokenizer: Any) -> GamesData:
    """Read games, part them 8 : 1 : 1, and lay every character's entry out after its context."""
    games = dict(_read_games(recipe.sources))
    parts = storium.split_words({name: count_game_words(read) for name, (_, read) in games.items()})
    layout = _Layout(recipe, tokenizer)
    counts = Counter({"games": len(games)})
    tokens, held = {}, {}
    for part in PARTS:
        rows = [
            (name, *row)
            for name in sorted(parts[part])
            for row in layout.lay_out_game(games[name][0], name, counts)
        ]
        tokens[part] = layout.gather([laid for _, _, laid in rows])
        whole = tuple(laid.is_whole for _, _, laid in rows)
        names, entries = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        held[part] = HeldEntries(names, entries, whole)
        counts[f"{part} entries"] = len(rows)
        counts["cut entries"] += whole.count(False)
    if not len(tokens["train"]):
        problem = "no entry of a character is left to learn from"
        raise InputError(problem, "give exports in which characters write entries")
    del held["train"]
    train = tokens.pop("train")
    combinations = tuple(layout.marks.combinations)
    settings = _data_settings(recipe)
    cut = try_tokeniser(tokenizer)
    return GamesData(train, tokens, held, combinations, dict(counts), settings, cut)


def _read_games(sources: Sequence[str]) -> Iterator[tuple[str, tuple[Mapping[str, Any], Any]]]:
    """Go through the games of all sources, by their ids, as they were exported and as read."""
    seen: dict[str, str] = {}
    for source in sources:
        for where, value in storium.read_exports(storium.find_games(source)):
            game = read_game(value, where)
            if game.id in seen:
                problem = f"{where}: game {game.id!r} again, after {seen[game.id]}"
                raise InputError(problem, "keep one")
            seen[game.id] = where
            assert isinstance(value, Mapping)
            yield game.id, (value, game)


class _Layout:
    """Lays entries out as a recipe says, and numbers the combinations of marks that come."""

    def __init__(self, recipe: StoriumRecipe, tokenizer: Any) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer
        self.marks = MarkCounts([TEXT_MARKS])
        self.end = find_signs(tokenizer).end
        self.signs = make_leaf_signs(tokenizer, compat=recipe.compat)
        self.encode, self.decode = open_codec(tokenizer)

    def lay_out_game(
        self, game: Mapping[str, Any], name: str, counts: Counter[str]
    ) -> Iterator[tuple[str, LaidOut]]:
        """Lay out every entry of a game that a character wrote, by its number."""
        for scene in game["scenes"]:
            for entry in scene["entries"]:
                if not str(entry.get("description") or "").strip():
                    counts["entries without text"] += 1
                elif entry["role"] == "narrator":
                    counts["narrator's entries"] += 1  # context alone, never learned
                else:
                    yield str(entry["seq_id"]), self.lay_out(game, entry, name)

    def lay_out(self, game: Mapping[str, Any], entry: Mapping[str, Any], name: str) -> LaidOut:
        """Show an entry after what is shown of its game; there is room for the end."""
        recipe = self.recipe
        context = storium_context(
            game, entry, story=name, history=recipe.history, compat=recipe.compat,
            strongest=recipe.strongest,
        )  # fmt: skip
        return lay_out(
            context, self.signs, self.encode, self.decode, recipe.window - len(self.end),
            packing=PACKINGS[recipe.packing], compat=recipe.compat, keep="start",
            entry=find_entry_share(recipe.strongest),
        )  # fmt: skip

    def gather(self, rows: Sequence[LaidOut]) -> StoryTokens:
        """Put leaves end to end; an entry that is whole ends with the sign for it."""
        lengths, begins, flat, kinds = [0], [], list[int](), list[int]()
        for laid in rows:
            for leaf in laid.leaves:
                flat += leaf.ids
                kinds += [self.marks.number(leaf.marks)] * len(leaf.ids)
            begins.append(len(flat) - laid.seen[-1].tokens)
            if laid.is_whole:
                flat += self.end
                kinds += [0] * len(self.end)
            lengths.append(len(flat))
        arrays = (np.array(flat, np.int32), np.array(lengths, np.int64), np.array(begins, np.int64))
        return StoryTokens(*arrays, np.array(kinds, np.int32))


def make_leaf_signs(tokenizer: Any, *, compat: bool) -> LeafSigns:
    """Find the tokens that leaves begin with; `compat`: those are unknown ones."""
    missing, separator, *_ = find_marks(tokenizer, compat=compat)
    return LeafSigns(find_signs(tokenizer).begin, separator, missing)


def open_codec(
    tokenizer: Any,
) -> tuple[Callable[[str], Sequence[int]], Callable[[Sequence[int]], str]]:
    """Give what makes tokens of texts, which come again and again in a game, and texts of them."""
    from fabula.models.reading.tokens import tokenise

    @lru_cache(maxsize=20_000)
    def encode(text: str) -> tuple[int, ...]:
        return tokenise(tokenizer, [text])[0].ids

    def decode(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    return encode, decode


def _data_settings(recipe: StoriumRecipe) -> dict[str, Any]:
    settings = {name: getattr(recipe, name) for name in _SETTINGS}
    # Files are called by their names alone: where they lie is nobody else's concern.
    return settings | {"sources": [Path(name).name for name in recipe.sources]}


def save_games_data(data: GamesData, path: Path) -> None:
    """Write tokens into one file, as few bytes as they take."""
    parts = {"train": data.train, **data.held_out}
    arrays = {
        f"{part}|{kind}": _shrink(getattr(tokens, kind))
        for part, tokens in parts.items()
        for kind in _ARRAYS
    }
    for part, held in data.held.items():
        arrays |= {f"{part}|games": np.array(held.games), f"{part}|entries": np.array(held.entries)}
        arrays[f"{part}|whole"] = np.array(held.whole, dtype=bool)
    about = {"counts": data.counts, "settings": data.settings, "tokeniser": data.tokeniser}
    about |= {"combinations": data.combinations}
    write_arrays(path, {"about": np.array(json.dumps(about)), **arrays})


def _shrink(array: Any) -> Any:
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def load_games_data(path: Path, recipe: StoriumRecipe, tokenizer: Any) -> GamesData:
    """Read tokens that `save_games_data` wrote, of the same recipe and the same tokeniser."""
    stored = read_arrays(path, "games as tokens", _REMEDY)
    try:
        about = json.loads(str(stored["about"]))
        parts = {
            part: StoryTokens(*(stored[f"{part}|{kind}"].astype(np.int64) for kind in _ARRAYS))
            for part in PARTS
        }
        held = {
            part: HeldEntries(
                tuple(map(str, stored[f"{part}|games"])),
                tuple(map(str, stored[f"{part}|entries"])),
                tuple(map(bool, stored[f"{part}|whole"])),
            )
            for part in PARTS[1:]
        }
        combinations = tuple(tuple(marks) for marks in about["combinations"])
        settings, cut = about["settings"], tuple(about["tokeniser"])
        train = parts.pop("train")
        data = GamesData(train, parts, held, combinations, about["counts"], settings, cut)
        other = _find_differences(data, recipe, tokenizer)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no games as tokens ({error})", _REMEDY) from None
    if other:
        raise InputError(f"{path} is of another recipe ({', '.join(other)})", _REMEDY)
    return data


def _find_differences(data: GamesData, recipe: StoriumRecipe, tokenizer: Any) -> list[str]:
    """Name the settings that a file was made by and a recipe has otherwise; without sources of its
    own a recipe takes those of the file."""
    wanted = _data_settings(recipe)
    if not recipe.sources:
        del wanted["sources"]
    other = sorted(name for name in wanted if data.settings[name] != wanted[name])
    return other + (["tokeniser"] if data.tokeniser != try_tokeniser(tokenizer) else [])
