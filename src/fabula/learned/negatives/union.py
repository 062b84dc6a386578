"""Negatives as UNION makes them (Guan and Huang, 2020): one to four corruptions of a good story.

A story is a list of sentences. The first, a prompt or the sentence that leads, is never altered.
Each corruption is a function; None says that a story does not admit of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fabula.learned.negatives.corpus import Corpus, Word, write_words
from fabula.text.antonyms import Antonyms
from fabula.text.inflect import match_case
from fabula.text.negate import negate as negate_sentence
from fabula.text.places import Span, find_words

Sentences = list[str]
Seed = int | str | random.Random

# How often each corruption is drawn, and how many of them a story gets: 1, 2, 3 or 4.
WEIGHTS = {"repeat": 0.1, "replace": 0.3, "shuffle": 0.4, "negate": 0.2}
COUNTS = (0.5, 0.2, 0.2, 0.1)
REPEAT_SENTENCES = 0.7  # else n-grams are repeated
REPLACE_SENTENCES = 0.5  # else words are replaced
WORD_SHARE = 0.15  # of the content words are replaced, at most
LONGEST_GRAM = 4

# Treebank texts part n't from its verb, which may have lost a letter.
_PARTED = re.compile(r"\b(\w+) n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}


@dataclass(frozen=True)
class Negative:
    """A story made bad.

    `changed` is False where the sentences came back as they were, which is no negative then.
    `impossible` names corruptions that were tried and did not fit the story.
    """

    sentences: tuple[str, ...]
    techniques: tuple[str, ...]
    changed: bool
    impossible: tuple[str, ...] = ()


def corrupt(
    sentences: Sequence[str], *, others: Corpus, seed: Seed, antonyms: Antonyms | None = None
) -> Negative:
    """Make a negative of a story whose first sentence stays as it is.

    A corruption that the story does not admit of is named in `impossible`, and another one stands
    in for it, if there is one.
    """
    rng = make_generator(seed)
    (count,) = rng.choices(range(1, len(COUNTS) + 1), COUNTS)
    changes: dict[str, Callable[[Sentences], Sentences | None]] = {
        "repeat": lambda story: repeat(story, seed=rng),
        "replace": lambda story: replace(story, others=others, seed=rng, antonyms=antonyms),
        "shuffle": lambda story: shuffle(story, seed=rng),
        "negate": lambda story: negate(story, seed=rng),
    }
    return change_story(sentences, changes, draw_order(rng, WEIGHTS), count)


def change_story(
    sentences: Sequence[str],
    changes: Mapping[str, Callable[[Sentences], Sentences | None]],
    order: Sequence[str],
    count: int,
) -> Negative:
    """Change a story in so many ways, those that can be first in their order."""
    story, techniques, impossible = list(sentences), list[str](), list[str]()
    for name in order:
        if len(techniques) == count:
            break
        if (changed := changes[name](story)) is None:
            impossible.append(name)
        else:
            story = changed
            techniques.append(name)
    is_changed = story != list(sentences)
    return Negative(tuple(story), tuple(techniques), is_changed, tuple(impossible))


def make_generator(seed: Seed) -> random.Random:
    """Make a generator of a number or a text (`f"{seed}:{story.id}"`); give back one given."""
    return seed if isinstance(seed, random.Random) else random.Random(seed)


def draw_order(rng: random.Random, weights: Mapping[str, float]) -> list[str]:
    """Draw all names of weight above 0 without replacement, each in proportion to its weight."""
    left = {name: weight for name, weight in weights.items() if weight > 0}
    order = []
    while left:
        (name,) = rng.choices(list(left), list(left.values()))
        order.append(name)
        del left[name]
    return order


def repeat(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Repeat a sentence, or words within sentences; None where neither can be done."""
    rng = make_generator(seed)
    ways = (
        lambda: repeat_sentences(sentences, seed=rng),
        lambda: repeat_grams(sentences, seed=rng),
    )
    return _take_either(ways, rng.random() < REPEAT_SENTENCES)


def replace(
    sentences: Sequence[str], *, others: Corpus, seed: Seed, antonyms: Antonyms | None = None
) -> Sentences | None:
    """Replace sentences by another story's, or words; None where neither can be done."""
    rng = make_generator(seed)
    ways = (
        lambda: replace_sentences(sentences, others=others, seed=rng),
        lambda: replace_words(sentences, others=others, seed=rng, antonyms=antonyms),
    )
    return _take_either(ways, rng.random() < REPLACE_SENTENCES)


def _take_either(
    ways: tuple[Callable[[], Sentences | None], Callable[[], Sentences | None]], first: bool
) -> Sentences | None:
    """Take one of two ways; where it leads nowhere, the other."""
    way, other = ways if first else ways[::-1]
    changed = way()
    return other() if changed is None else changed


def repeat_sentences(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Overwrite 1 + ⌊n/2⌋ sentences with the one that comes first among them."""
    rng = make_generator(seed)
    story, wanted = list(sentences), 1 + len(sentences) // 2
    if wanted > len(story) - 1:
        return None
    places = sorted(rng.sample(range(1, len(story)), wanted))
    for place in places:
        story[place] = sentences[places[0]]
    return _if_changed(story, sentences)


def repeat_grams(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Say one to four words twice in a row, in ⌊n/2⌋ rounds."""
    rng = make_generator(seed)
    story = list(sentences)
    able = [place for place in range(1, len(story)) if find_words(story[place])]
    for _ in range(len(story) // 2 if able else 0):
        place = rng.choice(able)
        story[place] = _say_twice(story[place], rng.randint(1, LONGEST_GRAM), rng)
    return _if_changed(story, sentences)


def replace_sentences(sentences: Sequence[str], *, others: Corpus, seed: Seed) -> Sentences | None:
    """Put sentences of one other story in the place of one to n - 1 sentences."""
    rng = make_generator(seed)
    story = list(sentences)
    other = others.another(sentences, rng) if len(story) > 1 else None
    if other is None:
        return None
    wanted = min(rng.randint(1, len(story) - 1), len(other))
    places = rng.sample(range(1, len(story)), wanted)
    for place, sentence in zip(places, rng.sample(other, wanted), strict=True):
        story[place] = sentence
    return story


def replace_words(
    sentences: Sequence[str], *, others: Corpus, seed: Seed, antonyms: Antonyms | None = None
) -> Sentences | None:
    """Replace up to a share of the content words by antonyms, or by others of the same tag.

    An antonym takes the word's form and case, and an article before it is mended.
    """
    rng = make_generator(seed)
    able = [
        (n, word) for n in range(1, len(sentences)) for word in others.content_words(sentences[n])
    ]
    wanted = rng.randint(1, max(1, int(WORD_SHARE * len(able))))
    changes: dict[int, dict[Span, str]] = {}
    for n, word in rng.sample(able, len(able)):
        if other := _other_word(word, others, rng, antonyms):
            changes.setdefault(n, {})[word.span] = other
        if sum(map(len, changes.values())) == wanted:
            break
    story = [
        write_words(sentence, changes[n]) if n in changes else sentence
        for n, sentence in enumerate(sentences)
    ]
    return _if_changed(story, sentences)


def shuffle(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Put two to n - 1 sentences into another order."""
    rng = make_generator(seed)
    story, count = list(sentences), len(sentences) - 1
    if len(set(story[1:])) < 2:
        return None
    places = rng.sample(range(1, count + 1), rng.randint(2, count))
    if len({story[place] for place in places}) < 2:
        places = list(range(1, count + 1))
    while story == list(sentences):
        for place, other in zip(places, rng.sample(places, len(places)), strict=True):
            story[place] = sentences[other]
    return story


def negate(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Turn one to n - 1 sentences into their contrary, of those that can be turned."""
    rng = make_generator(seed)
    story = list(sentences)
    places = rng.sample(range(1, len(story)), max(0, len(story) - 1))
    wanted = rng.randint(1, len(places)) if places else 0
    for place in places:
        turned = find_contrary(story[place])
        wanted -= turned is not None
        story[place] = turned or story[place]
        if not wanted:
            break
    return _if_changed(story, sentences)


def find_contrary(sentence: str) -> str | None:
    """Add a negation or take one away by the rules of `fabula.text.negate`; None if none fits.

    Texts whose n't is parted from its verb, as the corpora of the papers are, will do as well.
    """
    if _PARTED.search(sentence):
        return _PARTED.sub(_affirm, sentence, count=1)
    return negate_sentence(sentence, share=1e-9)


def _affirm(parted: re.Match[str]) -> str:
    verb = parted[1]
    return match_case(verb, _SHORTENED.get(verb.lower(), verb.lower()))


def _if_changed(story: Sentences, before: Sequence[str]) -> Sentences | None:
    return None if story == list(before) else story


def _say_twice(sentence: str, length: int, rng: random.Random) -> str:
    """Say words twice; the first word, which has a capital, only where there is no other."""
    spans = find_words(sentence)
    free = spans[1:] or spans
    length = min(length, len(free))
    start = rng.randrange(len(free) - length + 1)
    begin, end = free[start][0], free[start + length - 1][1]
    return f"{sentence[:end]} {sentence[begin:end]}{sentence[end:]}"


def _other_word(
    word: Word, others: Corpus, rng: random.Random, antonyms: Antonyms | None
) -> str | None:
    if antonyms and word.tag != "NNP" and (contraries := antonyms.of(word.written)):
        return rng.choice(contraries)
    return others.word_like(word, rng)
