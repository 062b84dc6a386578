"""UNION's four corruptions, one function each; None says that a story does not admit of one.

A story is a list of sentences. The first, a prompt or the sentence that leads, is never altered.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fabula.learned.negatives.contrary import contrary, union_contrary
from fabula.learned.negatives.corpus import TRIES, Corpus, Word
from fabula.learned.negatives.draw import Seed, generator
from fabula.learned.negatives.edits import write_words
from fabula.text.antonyms import Antonyms
from fabula.text.places import Span, find_words

Sentences = list[str]


def repeat_sentences(sentences: Sequence[str], *, seed: Seed) -> Sentences | None:
    """Overwrite 1 + ⌊n/2⌋ sentences with the one that comes first among them."""
    rng = generator(seed)
    found, wanted = list(sentences), 1 + len(sentences) // 2
    if wanted > len(found) - 1:
        return None
    places = sorted(rng.sample(range(1, len(found)), wanted))
    for place in places:
        found[place] = sentences[places[0]]
    return _if_changed(found, sentences)


def repeat_grams(
    sentences: Sequence[str], *, seed: Seed, longest: int = 4, compat: bool = False
) -> Sentences | None:
    """Say one to `longest` words twice in a row, in ⌊n/2⌋ rounds.

    With compat a round does nothing unless the words drawn would run over the sentence's end;
    then those before the place drawn are said twice. This is so in few rounds.
    """
    rng = generator(seed)
    found = list(sentences)
    able = [place for place in range(1, len(found)) if compat or find_words(found[place])]
    for _ in range(len(found) // 2 if able else 0):
        place = rng.choice(able)
        change = _overrun if compat else _gram_twice
        found[place] = change(found[place], rng.randint(1, longest), rng)
    return _if_changed(found, sentences)


def replace_sentences(sentences: Sequence[str], *, others: Corpus, seed: Seed) -> Sentences | None:
    """Put sentences of one other story in the place of one to n - 1 sentences."""
    rng = generator(seed)
    found = list(sentences)
    other = others.another(sentences, rng) if len(found) > 1 else None
    if other is None:
        return None
    wanted = min(rng.randint(1, len(found) - 1), len(other))
    places = rng.sample(range(1, len(found)), wanted)
    for place, sentence in zip(places, rng.sample(other, wanted), strict=True):
        found[place] = sentence
    return found


def replace_words(
    sentences: Sequence[str],
    *,
    others: Corpus,
    seed: Seed,
    antonyms: Antonyms | None = None,
    share: float = 0.15,
    compat: bool = False,
) -> Sentences | None:
    """Replace up to a share of the content words by antonyms, or by others of the same tag.

    An antonym takes the word's form and case, and an article before it is mended; with compat
    none of this is done, and a word that finds no other is not made up for.
    """
    rng = generator(seed)
    able = [
        (n, word) for n in range(1, len(sentences)) for word in others.content_words(sentences[n])
    ]
    wanted = rng.randint(1, max(1, int(share * len(able))))
    changes: dict[int, dict[Span, str]] = {}
    for n, word in rng.sample(able, len(able))[: wanted if compat else None]:
        if other := _other_word(word, others, rng, antonyms=antonyms, compat=compat):
            changes.setdefault(n, {})[word.span] = other
        if sum(map(len, changes.values())) == wanted:
            break
    found = [
        write_words(sentence, changes[n], mend=not compat) if n in changes else sentence
        for n, sentence in enumerate(sentences)
    ]
    return _if_changed(found, sentences)


def shuffle(sentences: Sequence[str], *, seed: Seed, compat: bool = False) -> Sentences | None:
    """Put two to n - 1 sentences into another order.

    With compat ten tries are made, and sentences that are alike may come back as they were.
    """
    rng = generator(seed)
    found, count = list(sentences), len(sentences) - 1
    if len(set(found[1:])) < 2:
        return None
    places = rng.sample(range(1, count + 1), rng.randint(2, count))
    if not compat and len({found[place] for place in places}) < 2:
        places = list(range(1, count + 1))
    tries = 0
    while found == list(sentences) and not (compat and tries == TRIES):
        for place, other in zip(places, rng.sample(places, len(places)), strict=True):
            found[place] = sentences[other]
        tries += 1
    return _if_changed(found, sentences)


def negate(sentences: Sequence[str], *, seed: Seed, compat: bool = False) -> Sentences | None:
    """Turn one to n - 1 sentences into their contrary, of those that can be turned.

    With compat UNION's own rules are followed, and a sentence that cannot be turned stays.
    """
    rng = generator(seed)
    found = list(sentences)
    places = rng.sample(range(1, len(found)), max(0, len(found) - 1))
    wanted = rng.randint(1, len(places)) if places else 0
    for place in places[:wanted] if compat else places:
        turned = union_contrary(found[place], rng) if compat else contrary(found[place])
        wanted -= turned is not None
        found[place] = turned or found[place]
        if not wanted:
            break
    return _if_changed(found, sentences)


def _if_changed(found: Sentences, before: Sequence[str]) -> Sentences | None:
    return None if found == list(before) else found


def _gram_twice(sentence: str, length: int, rng: random.Random) -> str:
    """Say words twice; the first word, which has a capital, only where there is no other."""
    spans = find_words(sentence)
    free = spans[1:] or spans
    length = min(length, len(free))
    start = rng.randrange(len(free) - length + 1)
    begin, end = free[start][0], free[start + length - 1][1]
    return f"{sentence[:end]} {sentence[begin:end]}{sentence[end:]}"


def _overrun(sentence: str, length: int, rng: random.Random) -> str:
    tokens = sentence.split()
    start = rng.randrange(len(tokens)) if tokens else 0
    if start + length <= len(tokens):
        return sentence
    said = tokens[max(0, start - length) : start]
    return " ".join([*tokens[:start], *said, *tokens[start:]])


def _other_word(
    word: Word, others: Corpus, rng: random.Random, *, antonyms: Antonyms | None, compat: bool
) -> str | None:
    if antonyms and (compat or word.tag != "NNP"):
        found = antonyms.of_plain(word.known) if compat else antonyms.of(word.written)
        if found:
            return rng.choice(found)
    return others.word_like(word, rng)
