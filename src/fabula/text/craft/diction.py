"""Words that writers look twice at: filters, adverbs, passives, and the verbs beside speech."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabula.text.craft.prose import (
    Finding,
    NothingToCheck,
    Prose,
    Sentence,
    Span,
    list_words,
    put_number,
    put_times,
    word_list,
)
from fabula.text.words import PlacedWord, locate_words

# Between a person and what they perceive: “she could just hear”.
_MOST_BETWEEN = 2
_LEAST_ADVERB = 5
# A tag stands within so many words of the speech.
_TAG_WORDS = 4
_LEAST_TAGS = 5
_STOPS = re.compile(r"[.!?…;:\n]")


def find_filter_words(prose: Prose) -> Finding:
    """Find persons who see, hear, feel or notice. Value: such verbs per 100 told words."""
    told = prose.need_told()
    spots = [span for sentence in prose.sentences for span in _find_filters(sentence, prose.names)]
    return _report(prose, told, spots, "someone sees, hears or feels what there is {}")


def _find_filters(sentence: Sentence, names: Sequence[str]) -> list[Span]:
    """Places from the person to the verb."""
    words, spots = sentence.told, []
    for at, word in enumerate(words):
        if word.word not in word_list("perceivers") and word.word not in names:
            continue
        following = words[at + 1 : at + 2 + _MOST_BETWEEN]
        for verb in following:
            if verb.word in word_list("filter"):
                spots.append((word.start, verb.end))
            if verb.word not in word_list("between"):
                break
    return spots


def find_adverbs(prose: Prose) -> Finding:
    """Find adverbs on -ly. Value: their number per 100 told words."""
    told = prose.need_told()
    adverbs = [word for word in told if is_manner_adverb(word.word)]
    spots = [(word.start, word.end) for word in adverbs]
    return _report(prose, told, spots, "adverbs on -ly come {}")


def is_manner_adverb(word: str) -> bool:
    """Whether a word in small letters looks like an adverb on -ly."""
    long = len(word) >= _LEAST_ADVERB and word.endswith("ly")
    return long and word not in word_list("no_adverbs") and "'" not in word


def find_passives(prose: Prose) -> Finding:
    """Find verbs in the passive voice. Value: the share of told sentences that hold one.

    A passive is a form of be or get with a participle, and at most two small words or adverbs
    between; participles that tell a state, as in “she was tired”, do not count.
    """
    prose.need_told()
    sentences = [sentence for sentence in prose.sentences if sentence.told]
    holding = [spans for sentence in sentences if (spans := _find_passive(sentence))]
    value = len(holding) / len(sentences)
    spots = tuple(span for spans in holding for span in spans)
    if not spots:
        return Finding((value,))
    words = [prose.text[start:end] for start, end in spots]
    count = f"{put_number(len(holding))} of {put_number(len(sentences))} sentences"
    said = f"{count} that tell the story have a passive: {list_words(words)}"
    return Finding((value,), spots, _quote_densest(prose, spots), said)


def _find_passive(sentence: Sentence) -> list[Span]:
    words, spots = sentence.told, []
    for at, word in enumerate(words):
        if word.word not in word_list("be") and word.word not in word_list("get"):
            continue
        for after in words[at + 1 : at + 4]:
            if _is_participle(after.word):
                # “'s been taken”: the form next to the participle is the one to show.
                spots.append((word.start, after.end))
                break
            if after.word not in word_list("soft") and not is_manner_adverb(after.word):
                break
    return [span for span in spots if not any(span[0] < other[0] < span[1] for other in spots)]


def _is_participle(word: str) -> bool:
    if word in word_list("states"):
        return False
    return word in word_list("participles") or bool(re.fullmatch(r"[a-z]{2,}ed", word))


def find_tag_verbs(prose: Prose) -> Finding:
    """Find who-said-it beside speech, where the verb is another than “said” or “asked”.

    Values: the share of tags with another verb, and the share with an adverb on -ly. A tag is a
    verb of speaking with its subject, right before or right after what is spoken.
    """
    tags, values = _measure_tags(prose)
    other = [tag for tag in tags if tag.verb not in word_list("plain_tags")]
    verbs = [verb for verb, _ in Counter(tag.verb for tag in other).most_common()]
    count = f"{put_number(len(other))} of {put_number(len(tags))} tags"
    said = f"{count} say more than “said”: {list_words(verbs)}"
    return _report_tags(prose, other, values, said)


def find_tag_adverbs(prose: Prose) -> Finding:
    """Find tags with an adverb on -ly; the same values, other places."""
    tags, values = _measure_tags(prose)
    described = [tag for tag in tags if tag.adverb]
    adverbs = list_words([tag.adverb for tag in described])
    count = f"{put_number(len(described))} of {put_number(len(tags))} tags"
    return _report_tags(prose, described, values, f"{count} say how it was said: {adverbs}")


@dataclass(frozen=True)
class _Tag:
    """Verb and adverb of a tag, their place, and where its speech begins."""

    verb: str
    adverb: str
    place: Span
    speech: int = 0


def _measure_tags(prose: Prose) -> tuple[list[_Tag], tuple[float, float]]:
    prose.need_words()
    found = [tag for at in range(len(prose.speech)) if (tag := _find_tag(prose, at))]
    # One tag may stand after a speech and before the next.
    tags = list({tag.place: tag for tag in reversed(found)}.values())[::-1]
    if len(tags) < _LEAST_TAGS:
        raise NothingToCheck(f"fewer than {_LEAST_TAGS} speeches say who speaks")
    other = sum(tag.verb not in word_list("plain_tags") for tag in tags)
    return tags, (other / len(tags), sum(bool(tag.adverb) for tag in tags) / len(tags))


def _report_tags(
    prose: Prose, tags: Sequence[_Tag], values: tuple[float, ...], said: str
) -> Finding:
    if not tags:
        return Finding(values)
    first = tags[0]
    # Marks end a sentence within a speech: what is quoted begins with the one before the tag.
    spoken = [one for one in prose.sentences if one.start <= first.place[0]][-2:]
    start = max(spoken[0].start, min(first.speech, spoken[-1].start))
    end = prose.sentence_at(first.place[0]).end
    return Finding(values, tuple(tag.place for tag in tags), (start, end), said)


def _find_tag(prose: Prose, at: int) -> _Tag | None:
    """Verb, place and adverb of the tag after a speech, else of the one before it."""
    start, end = prose.speech[at]
    until = prose.speech[at + 1][0] if at + 1 < len(prose.speech) else len(prose.text)
    after = prose.text[end : min(until, end + 200)]
    if (stop := _STOPS.search(after)) is not None:
        after = after[: stop.start()]
    if tag := _read_tag(prose, locate_words(prose.text, end, end + len(after))):
        return replace(tag, speech=start)
    since = max(prose.speech[at - 1][1] if at else 0, start - 200)
    clause = re.split(r"[.!?…;\n]", prose.text[since:start])[-1]
    words = locate_words(prose.text, start - len(clause), start)
    close = bool(words) and bool(re.fullmatch(r"\s*[,:]\s*", prose.text[words[-1].end : start]))
    tag = _read_tag(prose, words[-_TAG_WORDS:], last=True) if close else None
    return replace(tag, speech=start) if tag else None


def _read_tag(prose: Prose, words: Sequence[PlacedWord], *, last: bool = False) -> _Tag | None:
    """Find the verb of speaking among the words next to a speech, with a subject by its side."""
    near = words if last else words[:_TAG_WORDS]
    if near and near[0].word in word_list("clauses"):
        return None
    for at, word in enumerate(near):
        if word.word not in word_list("speaking") or word.word in word_list("gestures"):
            continue
        beside = [*near[max(0, at - 2) : at], *near[at + 1 : at + 3]]
        if any(_may_speak(prose, other) for other in beside):
            adverb = _find_adverb(
                prose, [*near[max(0, at - 1) : at], *words[at + 1 : at + 2]], word
            )
            end = max(word.end, adverb.end if adverb else 0)
            begin = min(word.start, adverb.start if adverb else word.start)
            return _Tag(word.word, adverb.word if adverb else "", (begin, end))
    return None


def _find_adverb(prose: Prose, words: Sequence[PlacedWord], verb: PlacedWord) -> PlacedWord | None:
    """Give the first adverb among words beside a verb that no comma parts from it."""
    for word in words:
        between = prose.text[min(word.end, verb.end) : max(word.start, verb.start)]
        if is_manner_adverb(word.word) and not set(between) & set(",;:—–"):
            return word
    return None


def _may_speak(prose: Prose, word: PlacedWord) -> bool:
    """Whether a word may stand for who speaks: a pronoun, a name, or a noun after an article."""
    if word.word in word_list("subjects") or word.word.removesuffix("'s") in prose.names:
        return True
    if prose.text[word.start].isupper():
        return True
    before = prose.text[max(0, word.start - 6) : word.start].lower().split()
    return bool(before) and before[-1] in ("the", "a", "an", "my", "his", "her", "their", "our")


def _report(prose: Prose, told: Sequence[PlacedWord], spots: Sequence[Span], what: str) -> Finding:
    """Give places counted per 100 told words, and the densest sentence to quote."""
    value = 100 * len(spots) / len(told)
    if not spots:
        return Finding((value,))
    common = Counter(prose.text[start:end].lower() for start, end in spots).most_common()
    said = f"{what.format(put_times(len(spots)))}: {list_words([word for word, _ in common])}"
    return Finding((value,), tuple(spots), _quote_densest(prose, spots), said)


def _quote_densest(prose: Prose, spots: Sequence[Span]) -> Span:
    """Give the sentence with most of the places, the first of several."""
    numbers = Counter(prose.sentence_at(start).number for start, _ in spots)
    number = max(numbers, key=lambda number: (numbers[number], -number))
    return prose.sentences[number].start, prose.sentences[number].end
