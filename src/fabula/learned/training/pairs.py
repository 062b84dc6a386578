"""Pairs of stories on one prompt, one liked and one not: what preference is learned from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.examples import digest_of
from fabula.learned.training.posts import Post
from fabula.learned.training.stories import Groups
from fabula.text.posts import clean_post, normalise_post
from fabula.text.words import words as words_of


@dataclass(frozen=True)
class Pair:
    """Two stories of one item, of which the first was liked better by the rater."""

    better: Story
    worse: Story
    rater: str = "upvotes"

    def __post_init__(self) -> None:
        """Refuse stories of two items, or of none."""
        if self.better.item is None or self.better.item != self.worse.item:
            names = f"{self.better.id!r} and {self.worse.id!r}"
            raise InputError(f"stories {names} do not share an item", "pair stories of one prompt")

    @property
    def item(self) -> str:
        """The item that both stories answer."""
        return str(self.better.item)


@dataclass(frozen=True)
class Sides:
    """Cleaned stories by prompt, liked and disliked, and how many posts were left out and why."""

    liked: Mapping[str, tuple[Story, ...]]
    disliked: Mapping[str, tuple[Story, ...]]
    left_out: Mapping[str, int]
    high: float = 50
    low: float = 0

    def describe_left_out(self) -> str:
        """Say how many posts were left out for each reason."""
        return ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())


def pairs_of(dataset: Dataset) -> list[Pair]:
    """Give the preferences of a data set as pairs of cleaned stories."""
    stories = {story.id: story for story in dataset.stories}
    chosen = {
        name for preference in dataset.preferences for name in (preference.better, preference.worse)
    }
    if unknown := chosen - stories.keys():
        raise InputError(f"{dataset.name}: no story {min(unknown)!r}, but a preference of it")
    cleaned = {
        name: replace(stories[name], text=clean_post(stories[name].text).text) for name in chosen
    }
    return [
        Pair(cleaned[preference.better], cleaned[preference.worse], preference.rater)
        for preference in dataset.preferences
    ]


def build_pairs(
    posts: Iterable[Post],
    *,
    high: float = 50,
    low: float = 0,
    words: tuple[int, int] = (200, 800),
    cleaned: bool = True,
    seed: int,
    per_prompt: int | None = None,
) -> list[Pair]:
    """Pair every post of at least `high` votes with every one of at most `low` on its prompt.

    The arguments are those of `part_posts` and of `pair_sides`.
    """
    sides = part_posts(posts, high=high, low=low, words=words, cleaned=cleaned)
    return pair_sides(sides, seed=seed, per_prompt=per_prompt)


def pair_sides(sides: Sides, *, seed: int, per_prompt: int | None = None) -> list[Pair]:
    """Pair every liked story with every disliked one on its prompt.

    Of more than `per_prompt` pairs of a prompt, so many are drawn: the same ones whatever other
    posts are there.
    """
    if per_prompt is not None and per_prompt < 1:
        raise SettingError(f"per_prompt is {per_prompt}", "give 1 or more, or None for all pairs")
    pairs: list[Pair] = []
    for prompt in sorted(sides.liked.keys() & sides.disliked.keys()):
        candidates = list(product(sides.liked[prompt], sides.disliked[prompt]))
        if per_prompt is not None and len(candidates) > per_prompt:
            candidates = random.Random(f"{seed} {prompt}").sample(candidates, per_prompt)
        pairs += [Pair(better, worse) for better, worse in candidates]
    if not pairs:
        raise InputError(
            f"no prompt has both a post of {sides.high:g} votes or more and one of {sides.low:g} "
            f"or fewer (left out: {sides.describe_left_out() or 'none'})",
            "change high, low or words, or add posts",
        )
    return pairs


def part_posts(
    posts: Iterable[Post],
    *,
    high: float = 50,
    low: float = 0,
    words: tuple[int, int] = (200, 800),
    cleaned: bool = True,
) -> Sides:
    """Part posts into liked and disliked; words are counted after cleaning.

    Unless they are `cleaned`, posts keep their signatures, links and notes, as StoryER's do. Of
    posts with the same text on one prompt, that with the most votes stays.
    """
    if low >= high or words[0] > words[1]:
        given = f"high={high:g}, low={low:g}, words={words}"
        raise SettingError(f"{given} leave nothing to pair", "low below high, fewest words first")
    both: tuple[dict[str, list[Story]], ...] = ({}, {})
    left_out: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for post in sorted(_check_unique(posts), key=lambda post: (-post.votes, post.id)):
        reason = "between the votes" if low < post.votes < high else ""
        text = (
            "" if reason else clean_post(post.text).text if cleaned else normalise_post(post.text)
        )
        story = Story(post.id, text, prompt=post.wording or None, item=post.prompt)
        reason = reason or _find_length_fault(story, words)
        if not reason and (post.prompt, story.text) in seen:
            reason = "with the text of another"
        if reason:
            left_out[reason] += 1
            continue
        seen.add((post.prompt, story.text))
        both[post.votes < high].setdefault(post.prompt, []).append(story)
    liked, disliked = (
        {prompt: tuple(sorted(side[prompt], key=lambda story: story.id)) for prompt in sorted(side)}
        for side in both
    )
    return Sides(liked, disliked, left_out, high, low)


def split_by_prompt(
    pairs: Sequence[Pair], shares: Sequence[float] = (0.8, 0.1, 0.1), *, seed: int
) -> tuple[list[Pair], ...]:
    """Part pairs into sets that share no prompt, each with its share of the prompts.

    Prompts to which the same text was posted stand in one set.
    """
    if not shares or min(shares) <= 0:
        raise SettingError(f"shares {tuple(shares)} are not all positive", "write (0.8, 0.1, 0.1)")
    kin = _join_prompts(pairs)
    groups = sorted(set(kin.values()), key=lambda prompt: digest_of(prompt, seed))
    if len(groups) < len(shares):
        raise InputError(f"{len(groups)} prompts cannot fill {len(shares)} sets", "ask for fewer")
    part: dict[str, int] = {}
    for place, end in enumerate(_find_ends(len(groups), shares)):
        part |= dict.fromkeys(groups[len(part) : end], place)
    parts: tuple[list[Pair], ...] = tuple([] for _ in shares)
    for pair in pairs:
        parts[part[kin[pair.item]]].append(pair)
    return parts


def _check_unique(posts: Iterable[Post]) -> list[Post]:
    by_id: dict[str, Post] = {}
    for post in posts:
        if post.id in by_id:
            raise InputError(f"two posts share the id {post.id!r}", "keep one of the two")
        by_id[post.id] = post
    return list(by_id.values())


def _find_length_fault(story: Story, words: tuple[int, int]) -> str:
    """Why a story is left out by its length, if it is."""
    count = len(words_of(story.text))
    return "too short" if count < words[0] else "too long" if count > words[1] else ""


def _join_prompts(pairs: Sequence[Pair]) -> dict[str, str]:
    """Give each prompt the first of the prompts that share texts with it."""
    prompts = sorted({pair.item for pair in pairs})
    place = {prompt: at for at, prompt in enumerate(prompts)}
    groups, first = Groups(len(prompts)), dict[str, int]()
    for pair in pairs:
        for story in (pair.better, pair.worse):
            groups.join(place[pair.item], first.setdefault(story.text, place[pair.item]))
    return {prompt: prompts[top] for prompt, top in zip(prompts, groups.numbers(), strict=True)}


def _find_ends(count: int, shares: Sequence[float]) -> list[int]:
    """Where each set ends; none is empty."""
    ends: list[int] = []
    for place, share in enumerate(accumulate(shares)):
        least = ends[-1] + 1 if ends else 1
        most = count - (len(shares) - 1 - place)
        ends.append(min(max(round(count * share / sum(shares)), least), most))
    return ends
