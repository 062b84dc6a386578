"""What a co-author learns from: stories with their prompts, some held out, cut into tokens."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets import DATASETS, is_added
from fabula.datasets.tables.stories import StoryLayout, load_stories
from fabula.learned.training.author_batches import StoryTokens
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
from fabula.text.plots import extract_plot, render_plot
from fabula.text.posts import clean_post
from fabula.text.prompting import render_prompt

if TYPE_CHECKING:
    from fabula.learned.training.author import AuthorRecipe

_ARRAYS = ("flat", "offsets", "begins")

_ENCODED_AT_ONCE = 512
_PROBE = "Zoë, 27, quietly boxed 14 “jumpy” wolves\n\nand a d'Artagnan."
_REMEDY = "delete it, or name another file with --prepared"


@dataclass(frozen=True)
class AuthorData:
    """Stories to learn from, stories held out by source, and what became of the others."""

    train: StoryTokens
    held_out: Mapping[str, StoryTokens]
    counts: Mapping[str, Mapping[str, int]]
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the recipe, they follow from
    tokeniser: tuple[int, ...] = ()  # how it cuts a known text

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


def prepare_author(
    recipe: AuthorRecipe,
    given: Sequence[str] = (),
    *,
    columns: Mapping[str, str] | None = None,
    prepared: Path | None = None,
) -> AuthorData:
    """Read stories, or the file `prepared` that holds their tokens already.

    `given` are sources that stand in for the recipe's; a folder that holds data sets is where those
    are looked for. `columns` name the parts of stories in files (`{"text": "story"}`).
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
        return load_author_data(prepared, recipe, tokenizer)
    root = roots[0] if roots else None
    data = read_author_data(recipe, tokenizer, root, columns=columns)
    if prepared:
        save_author_data(data, prepared)
    return data


def _holds_datasets(path: Path, recipe: AuthorRecipe) -> bool:
    return path.is_dir() and any(data_folder(name, path) for name in recipe.sources)


def read_author_data(
    recipe: AuthorRecipe,
    tokenizer: Any,
    data: Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> AuthorData:
    """Read the stories of a recipe's sources, hold some out, and cut all into tokens."""
    layout = StoryLayout(columns=columns or {})
    sources = {
        _name_source(name): _choose_stories(_read_stories(name, data, layout), recipe)
        for name in recipe.sources
    }
    sides = {_name_source(name): _find_side(name, data, recipe) for name in recipe.sources}
    rated = [
        story.text for name in recipe.left_out for story in _read_stories(name, data, StoryLayout())
    ]
    learned, held, counts = split_stories(sources, rated, recipe, sides)
    if not learned:
        raise InputError("no story is left to learn from", "check sources, cased and left_out")

    def encode(stories: Sequence[Story]) -> StoryTokens:
        signs = find_signs(tokenizer)
        return encode_stories(stories, tokenizer, signs, tag=recipe.tag, plan=recipe.plan)

    tokens, held_tokens = encode(learned), {name: encode(held[name]) for name in held if held[name]}
    settings = _data_settings(recipe)
    return AuthorData(tokens, held_tokens, counts, settings, try_tokeniser(tokenizer))


def _data_settings(recipe: AuthorRecipe) -> dict[str, Any]:
    names = ("sources", "left_out", "tag", "cleaned", "cased", "split_seed", "held_out")
    settings = {name: getattr(recipe, name) for name in (*names, "most_held")}
    # Told where they are not as usual: files made ready before know nothing of them.
    settings |= {"on": recipe.on} if recipe.on != "all" else {}
    settings |= {"plan": True} if recipe.plan else {}
    for name in ("sources", "left_out"):
        settings[name] = tuple(map(_name_source, settings[name]))
    return settings


def try_tokeniser(tokenizer: Any) -> tuple[int, ...]:
    """Give the size of a vocabulary and how it cuts a known text: another one does otherwise."""
    (ids,) = _encode(tokenizer, [_PROBE])
    return (len(tokenizer), *ids)


def _is_dataset(name: str) -> bool:
    """Whether it is a data set's name; a folder that is called so is ./name, as everywhere."""
    return (name in DATASETS and name != "table") or is_added(name)


def _name_source(name: str) -> str:
    """Call a file by its name alone: where it lies is nobody else's concern."""
    return name if _is_dataset(name) else Path(name).name


def _choose_stories(stories: Sequence[Story], recipe: AuthorRecipe) -> list[Story]:
    """Give the stories that are to be learned from, cleaned if the recipe says so."""
    chosen = [story for story in stories if story.text.strip()]
    if recipe.cased:
        chosen = [story for story in chosen if _is_cased(story.text)]
    return [_clean(story) for story in chosen] if recipe.cleaned else chosen


def _read_stories(name: str, data: Path | None, layout: StoryLayout) -> Sequence[Story]:
    """Read a data set by its name, else a file or folder of stories."""
    if _is_dataset(name):
        return read_dataset(name, data).stories
    return load_stories(name, layout=layout)


def _find_side(name: str, data: Path | None, recipe: AuthorRecipe) -> frozenset[str] | None:
    """Give the ids of the stories of pairs that readers liked better, or less; None is all.

    A story that was both, in different pairs, is on neither side.
    """
    if recipe.on == "all":
        return None
    preferences = read_dataset(name, data).preferences if _is_dataset(name) else ()
    if not preferences:
        raise SettingError(
            f"on = {recipe.on!r}: {_name_source(name)} has no pairs of which one is liked better",
            "take a data set with preferences, such as storyer",
        )
    liked = frozenset(each.better for each in preferences)
    disliked = frozenset(each.worse for each in preferences)
    return liked - disliked if recipe.on == "liked" else disliked - liked


def _clean(story: Story) -> Story:
    prompt = respace(story.prompt) if story.prompt else None
    return replace(story, text=clean_post(respace(story.text)).text, prompt=prompt)


def split_stories(
    sources: Mapping[str, Sequence[Story]],
    rated: Sequence[str],
    recipe: AuthorRecipe,
    sides: Mapping[str, Collection[str] | None] = MappingProxyType({}),
) -> tuple[list[Story], dict[str, list[Story]], dict[str, dict[str, int]]]:
    """Part stories into those to learn from and those held out by source; count all fates.

    Near duplicates, and stories on one prompt, stand on one side as a whole; what resembles a
    story of the data sets left out is on neither. Of near duplicates one is kept. Of a source with
    a side in `sides` the same prompts are held out, whichever side it is.
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
        if (side := sides.get(owner)) is not None and story.id not in side:
            fate = "of the other side"
        elif twins[number] in barred:
            fate = "left out"
        elif twins[number] in seen:
            fate = "near duplicate"
        elif kin[number] in held_groups:
            fate = "held out"
            held[owner].append(story)
        else:
            fate = "learned from"
            learned.append(story)
        seen.update({twins[number]} if fate in ("held out", "learned from") else ())
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
    stories: Sequence[Story], tokenizer: Any, signs: Signs, *, tag: str, plan: bool = False
) -> StoryTokens:
    """Cut prompts, plots (for those who learn to `plan`) and stories into tokens, each apart."""
    lengths, begins, parts = [0], [], []
    for start in range(0, len(stories), _ENCODED_AT_ONCE):
        chunk = stories[start : start + _ENCODED_AT_ONCE]
        prompts = _encode(tokenizer, [render_prompt([("", s.prompt or "")], tag) for s in chunk])
        texts = _encode(tokenizer, [story.text for story in chunk])
        lines = [render_plot(extract_plot(story.text)) if plan else "" for story in chunk]
        for prompt, line, text in zip(prompts, _encode(tokenizer, lines), texts, strict=True):
            begins.append(lengths[-1] + len(signs.begin) + len(prompt))
            ids = [*signs.begin, *prompt, *line, *text, *signs.end]
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
    about = json.dumps(
        {"counts": data.counts, "settings": data.settings, "tokeniser": data.tokeniser}
    )
    write_arrays(path, {"about": np.array(about), **arrays})


def load_author_data(path: Path, recipe: AuthorRecipe, tokenizer: Any) -> AuthorData:
    """Read tokens that `save_author_data` wrote, of the same recipe and the same tokeniser."""
    stored = read_arrays(path, "stories as tokens", _REMEDY)
    try:
        about = json.loads(str(stored["about"]))
        names = dict.fromkeys(key.partition("|")[0] for key in stored if "|" in key)
        parts = {
            name: StoryTokens(*(stored[f"{name}|{kind}"] for kind in _ARRAYS)) for name in names
        }
        train = parts.pop("train")
        held = {name.removeprefix("held/"): tokens for name, tokens in parts.items()}
        cut = tuple(about["tokeniser"])
        data = AuthorData(train, held, about["counts"], about["settings"], cut)
        wanted = json.loads(json.dumps(_data_settings(recipe)))
        both = data.settings.keys() | wanted.keys()
        other = [name for name in both if data.settings.get(name) != wanted.get(name)]
        other += ["tokeniser"] if cut != try_tokeniser(tokenizer) else []
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no stories as tokens ({error})", _REMEDY) from None
    if other:
        raise InputError(f"{path} is of another recipe ({', '.join(sorted(other))})", _REMEDY)
    return data
