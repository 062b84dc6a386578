"""Speed of string metrics as ratios against other implementations, on the same pairs in one run.

    python benchmarks/strings.py

Pairs are made of the bundled example stories, joined and cut to 400 words. Every figure is the
best of several passes over all pairs; our caches of tokenised texts are emptied before each pass,
and so is the memory of stems for the figures called cold.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import CHRF

from fabula import Story, load_dataset
from fabula.metrics import _rouge_hits, _rouge_words
from fabula.scoring.catalogue import METRICS
from fabula.text import subsequence

WORDS = 400
PASSES = 7
KINDS = (1, 2, 3, 4, "L", "W", "S*", "SU*")


def main() -> None:
    stories = make_pairs()
    print(f"{len(stories)} pairs of {WORDS} words")
    rouge = METRICS.build("rouge")
    all_rouge = [METRICS.build(f"rouge(n={n!r})") for n in KINDS]
    all_compat = [METRICS.build(f"rouge(n={n!r}, compat=True)") for n in KINDS]
    chrf = METRICS.build("chrf")
    scorer, other_chrf = RougeScorer(["rougeL"], use_stemmer=True), CHRF()

    slow_l = best(lambda s: scorer.score(s.references[0], s.text), stories)
    slow_chrf = best(lambda s: other_chrf.sentence_score(s.text, list(s.references)), stories)
    fast_l = best(lambda s: rouge.score([s]), stories)
    cold_l = best(lambda s: rouge.score([s]), stories, cold=True)
    fast_chrf = best(lambda s: chrf.score([s]), stories)
    table("ROUGE-L", slow_l, fast_l, "rouge-score", 200)
    table("ROUGE-L, stems cold", slow_l, cold_l, "rouge-score", None)
    for label, metrics in (("24 ROUGE columns", all_rouge), ("the same, compat", all_compat)):
        for kernel in ("compiled", "by diagonals"):
            use(kernel)
            took = best(lambda s, m=metrics: [one.score([s]) for one in m], stories)
            bar = 8 if kernel == "compiled" else None
            table(f"{label}, {kernel}", slow_l, took, "rouge-score's ROUGE-L", bar)
    use("compiled")
    table("chrF", slow_chrf, fast_chrf, "sacrebleu", 8)
    show_equality(stories, scorer, other_chrf)


def make_pairs() -> list[Story]:
    """Pairs of 400 words: human stories beside references, from different places each."""
    stories = [story for story in load_dataset("examples").stories if story.system == "human"]
    texts = [story.text for story in stories]
    references = [story.references[0] for story in stories]
    return [
        Story(str(start), cut(texts, start), references=(cut(references, start),))
        for start in range(len(stories))
    ]


def cut(texts: list[str], start: int) -> str:
    return " ".join(" ".join(texts[start:] + texts[:start]).split()[:WORDS])


def best(act: Callable[[Story], object], stories: list[Story], cold: bool = False) -> float:
    """Seconds a pair, in the best pass."""
    passes = []
    for _ in range(PASSES):
        forget(cold)
        began = time.perf_counter()
        for story in stories:
            act(story)
        passes.append((time.perf_counter() - began) / len(stories))
    return min(passes)


def forget(stems: bool) -> None:
    _rouge_words.rouge_words.cache_clear()
    _rouge_words.perl_lines.cache_clear()
    _rouge_hits._shared_skips.cache_clear()
    if stems:
        _rouge_words._NLTK.clear()


def use(kernel: str) -> None:
    """Choose the kernel of the weighted subsequence."""
    subsequence._kernel.cache_clear()
    if kernel == "by diagonals":
        subsequence._kernel = keep(subsequence.fill_by_diagonals)
    else:
        subsequence._kernel = ORIGINAL
        subsequence._kernel()


def keep(kernel: Callable[..., object]) -> Callable[..., object]:
    def chosen() -> Callable[..., object]:
        return kernel

    chosen.cache_clear = lambda: None
    return chosen


ORIGINAL = subsequence._kernel


def table(what: str, slow: float, fast: float, other: str, bar: float | None) -> None:
    ratio = slow / fast
    verdict = "" if bar is None else f"  (bar {bar}×: {'met' if ratio >= bar else 'MISSED'})"
    print(f"{what:32} {fast * 1e6:8.0f} µs  {ratio:7.1f}× {other} ({slow * 1e6:,.0f} µs){verdict}")


def show_equality(stories: list[Story], scorer: RougeScorer, other: CHRF) -> None:
    """Say how far the values are apart, and that the two kernels agree to the last bit."""
    rouge, chrf = METRICS.build("rouge"), METRICS.build("chrf")
    rouge_gap = max(
        abs(rouge.score([s])[2].value - scorer.score(s.references[0], s.text)["rougeL"].fmeasure)
        for s in stories
        if s.text.isascii() and s.references[0].isascii()
    )
    chrf_gap = max(
        abs(chrf.score([s])[0].value - other.sentence_score(s.text, list(s.references)).score)
        for s in stories
    )
    weighted = [METRICS.build(f"rouge(n='W', compat={flag})") for flag in (False, True)]
    values = []
    for kernel in ("compiled", "by diagonals"):
        use(kernel)
        values.append([s.value for one in weighted for s in one.score(stories)])
    print(f"largest difference: ROUGE-L {rouge_gap:.1e}, chrF {chrf_gap:.1e}")
    print(f"with and without numba identical: {values[0] == values[1]}")


if __name__ == "__main__":
    main()
