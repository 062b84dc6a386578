"""Speed of METEOR, CIDEr, coverage, density and USER as ratios, on the same texts in one run.

    python benchmarks/more_strings.py

METEOR is compared with NLTK's (which has other weights), CIDEr and coverage with a direct writing
of their rules, USER's blocks with difflib. Needs the asset wordnet.
"""

from __future__ import annotations

import difflib
import math
import random
from collections import Counter
from collections.abc import Sequence

import nltk
from nltk.translate.meteor_score import single_meteor_score
from pairs import WORDS, best, cut, make_pairs, make_run, show

from fabula import Story, load_dataset
from fabula.metrics import cider, meteor
from fabula.models import path_of
from fabula.scoring.catalogue import METRICS
from fabula.text.diff import matching_blocks
from fabula.text.fragments import FragmentSource
from fabula.text.words import bare_words, words


def main() -> None:
    stories = make_pairs()
    print(f"{len(stories)} pairs of {WORDS} words")
    show_meteor(make_run(), "METEOR, 4 systems a reference", 10)
    show_meteor(stories, "METEOR, a reference each", None)
    show_cider(stories)
    show_fragments(stories)
    show_user()


def show_meteor(stories: list[Story], what: str, bar: float | None) -> None:
    nltk.data.path.insert(0, str(path_of("wordnet")))
    ours = METRICS.build("meteor")

    def theirs(story: Story) -> float:
        texts = (story.references[0], story.text)
        return single_meteor_score(*(nltk.tokenize.wordpunct_tokenize(text) for text in texts))

    ours.score(stories[:1])
    slow = best(theirs, stories, passes=3)
    fast = best(lambda story: ours.score([story]), stories, forget)
    show(what, slow, fast, "NLTK", bar)


def forget() -> None:
    meteor._matcher.cache_clear()
    meteor._tokens.cache_clear()
    cider._counts.cache_clear()


def show_cider(stories: list[Story]) -> None:
    """Whole batches: what is gathered counts too."""
    ours = METRICS.build("cider")
    slow = best(direct_cider, [stories], passes=5) / len(stories)
    fast = best(ours.score, [stories], forget) / len(stories)
    gaps = [
        abs(score.value - value)
        for score, value in zip(ours.score(stories), direct_cider(stories), strict=True)
    ]
    show("CIDEr", slow, fast, "a direct writing", 3)
    print(f"  largest difference {max(gaps):.1e}")


def direct_cider(stories: Sequence[Story]) -> list[float]:
    pairs = [[grams(bare_words(t)) for t in (s.text, s.references[0])] for s in stories]
    documents: Counter[tuple[str, ...]] = Counter()
    for _, reference in pairs:
        documents.update({gram for order in reference for gram in order})
    total = math.log(len(stories))

    def weighted(counts: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
        return {g: n * (total - math.log(max(1.0, documents[g]))) for g, n in counts.items()}

    return [direct_similarity(text, reference, weighted) for text, reference in pairs]


def direct_similarity(text, reference, weighted) -> float:
    apart = sum(text[1].values()) - sum(reference[1].values())
    found = 0.0
    for left, right in zip(map(weighted, text), map(weighted, reference), strict=True):
        norms = math.prod(math.sqrt(sum(v * v for v in side.values())) for side in (left, right))
        shared = sum(min(v, right[g]) * right[g] for g, v in left.items() if g in right)
        found += shared / norms if norms else 0.0
    return 10 * math.exp(-(apart**2) / 72) * found / 4


def grams(tokens: list[str]) -> list[Counter[tuple[str, ...]]]:
    return [Counter(zip(*(tokens[i:] for i in range(n)), strict=False)) for n in range(1, 5)]


def show_fragments(stories: list[Story]) -> None:
    """Coverage and density of one text in another of the same length."""
    pairs = [(words(story.text), words(story.references[0])) for story in stories]
    assert all(FragmentSource(b).fragments(a) == direct_fragments(a, b) for a, b in pairs)
    slow = best(lambda pair: direct_fragments(*pair), pairs)
    fast = best(lambda pair: FragmentSource(pair[1]).fragments(pair[0]), pairs)
    show("coverage, density", slow, fast, "a direct writing", 50)


def direct_fragments(text: list[str], source: list[str]) -> list[int]:
    found, i = [], 0
    while i < len(text):
        longest, j = 0, 0
        while j < len(source):
            if text[i] != source[j]:
                j += 1
                continue
            start, k = j, i
            while k < len(text) and j < len(source) and text[k] == source[j]:
                k, j = k + 1, j + 1
            longest = max(longest, j - start)
        if longest:
            found.append(longest)
        i += max(1, longest)
    return found


def show_user() -> None:
    """Blocks of a text of 5,000 words and the same with a tenth of its words edited."""
    stories = load_dataset("examples").stories
    texts = [text for story in stories for text in (story.text, *story.references)]
    text = bare_words(cut(texts, 0, 5_000))
    pairs = [(text, edited(text, seed)) for seed in range(3)]
    for autojunk in (True, False):
        slow = best(lambda pair, a=autojunk: direct_blocks(*pair, a), pairs, passes=3)
        fast = best(lambda pair, a=autojunk: matching_blocks(*pair, autojunk=a), pairs)
        same = all(
            [tuple(block) for block in matching_blocks(*pair, autojunk=autojunk)]
            == direct_blocks(*pair, autojunk)
            for pair in pairs
        )
        show(f"USER, autojunk={autojunk}", slow, fast, "difflib", 10)
        print(f"  {len(text):,} words, blocks identical: {same}")


def direct_blocks(left: list[str], right: list[str], autojunk: bool) -> list[tuple[int, ...]]:
    matcher = difflib.SequenceMatcher(None, left, right, autojunk)
    return [tuple(block) for block in matcher.get_matching_blocks()[:-1]]


def edited(text: list[str], seed: int) -> list[str]:
    """Drop, replace or insert a word at a tenth of all places."""
    chance = random.Random(seed)
    found: list[str] = []
    for word in text:
        edit = chance.random()
        if edit >= 1 / 30:
            found.append(chance.choice(text) if edit < 2 / 30 else word)
        if 2 / 30 <= edit < 3 / 30:
            found.append(chance.choice(text))
    return found


if __name__ == "__main__":
    main()
