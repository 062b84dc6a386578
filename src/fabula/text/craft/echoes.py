"""What is said again: a word soon after itself, and a sentence that says what one before said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from fabula.text.craft.prose import (
    Finding,
    NothingToCheck,
    Prose,
    Sentence,
    Span,
    list_words,
    put_number,
    stem_of,
    word_list,
)
from fabula.text.words import PlacedWord

# A word is heard again within so many words; right after itself it is meant.
_NEAR_WORDS = 25
_MEANT_WORDS = 3
_LEAST_LETTERS = 4
# A word that comes once in so many words all along is what the story is about.
_THEME_WORDS = 100
_THEME_TIMES = 3

# Sentences that share so many of their content words say the same.
_LEAST_CONTENT = 4
_SAME_SHARE = 0.75
_COMMON_SHARE = 0.5
_MOST_COMPARED = 50
_QUOTED_WORDS = 7


def find_echoes(prose: Prose) -> Finding:
    """Find content words that come again within 25 told words. Value: echoes per 100 told words.

    Words that are never written small are names; these, the commonest words and words that the
    whole story is about are no echoes, nor is what follows within three words: “on and on”.
    """
    told = prose.need_told()
    pairs = _pair_words(prose)
    value = 100 * len(pairs) / len(told)
    if not pairs:
        return Finding((value,))
    words_of = prose.words
    spots = sorted({(words_of[at].start, words_of[at].end) for pair in pairs for at in pair})
    close = sorted(pairs, key=lambda pair: pair[1] - pair[0])
    words = [words_of[second].word for _, second in close]
    first, second = close[0]
    said = (
        f"{put_number(len(set(words)))} words come again soon after themselves: {list_words(words)}"
        if len(set(words)) > 1
        else f"“{words[0]}” comes again after {put_number(second - first)} words"
    )
    begin, end = prose.sentence_at(words_of[first].start), prose.sentence_at(words_of[second].start)
    return Finding((value,), tuple(spots), (begin.start, end.end), said)


def _pair_words(prose: Prose) -> list[Span]:
    """Numbers of words and of those soon after that echo them; words between may be spoken."""
    told = {word.start for word in prose.told}
    small = {word.word for word in prose.words if not prose.text[word.start].isupper()}
    stems = [
        _heard_stem(word) if word.start in told and word.word in small else ""
        for word in prose.words
    ]
    counts = Counter(stems)
    most = max(_THEME_TIMES, len(told) / _THEME_WORDS)
    last: dict[str, int] = {}
    pairs = []
    for at, stem in enumerate(stems):
        if not stem or counts[stem] > most:
            continue
        if stem in last and _MEANT_WORDS < at - last[stem] <= _NEAR_WORDS:
            pairs.append((last[stem], at))
        last[stem] = at
    return pairs


def _heard_stem(word: PlacedWord) -> str:
    """Stem of a word whose coming again would be heard, else ""."""
    plain = word.word.removesuffix("'s")
    if len(plain) < _LEAST_LETTERS or "'" in plain:
        return ""
    return "" if plain in word_list("function") | word_list("unheard") else stem_of(plain)


def find_said_twice(prose: Prose) -> Finding:
    """Find sentences that say what an earlier one said. Value: their share of all sentences.

    One says what another said if they share four content words at least, three quarters of those of
    the shorter and half of all that they have together.
    """
    prose.need_words()
    contents = [_content(sentence) for sentence in prose.sentences]
    able = [number for number, content in enumerate(contents) if len(content) >= _LEAST_CONTENT]
    if len(able) < 2:
        raise NothingToCheck("fewer than two sentences hold enough to be said twice")
    pairs = _pair_sentences(contents, able)
    value = len(pairs) / len(prose.sentences)
    if not pairs:
        return Finding((value,))
    places = [_place(prose.sentences[number]) for pair in pairs for number in pair]
    number, again = max(pairs, key=lambda pair: len(contents[pair[0]] & contents[pair[1]]))
    first = prose.sentences[number].words
    begin = prose.text[first[0].start : first[min(len(first), _QUOTED_WORDS) - 1].end]
    dots = " …" if len(first) > _QUOTED_WORDS else ""
    said = f"this says again what “{begin}{dots}” said before"
    if len(pairs) > 1:
        said += f"; {put_number(len(pairs))} sentences in all say something again"
    return Finding((value,), tuple(sorted(set(places))), _place(prose.sentences[again]), said)


def _pair_sentences(contents: Sequence[frozenset[str]], able: Sequence[int]) -> list[Span]:
    """Pair each sentence with the first that said the same before it."""
    where: dict[str, list[int]] = defaultdict(list)
    pairs: list[Span] = []
    for number in able:
        shared = Counter(earlier for stem in contents[number] for earlier in where[stem])
        alike = [
            earlier
            for earlier, count in shared.items()
            if count >= _LEAST_CONTENT
            and count >= _SAME_SHARE * min(len(contents[earlier]), len(contents[number]))
            and count >= _COMMON_SHARE * len(contents[earlier] | contents[number])
        ]
        if alike:
            pairs.append((min(alike), number))
            # What was said before need not be found again: its first time stands for it.
            if contents[number] <= contents[min(alike)]:
                continue
        for stem in contents[number]:
            if len(where[stem]) < _MOST_COMPARED:
                where[stem].append(number)
    return pairs


def _content(sentence: Sentence) -> frozenset[str]:
    function = word_list("function")
    return frozenset(stem_of(word.word) for word in sentence.words if word.word not in function)


def _place(sentence: Sentence) -> Span:
    return sentence.start, sentence.end
