"""Speed of BLEU's neighbours as ratios against other implementations, on the same pairs.

    python benchmarks/strings.py

Pairs are made of the bundled example stories, joined and cut to 400 words. Every figure is the
best of several passes over all pairs; our caches of tokenised texts are emptied before each pass,
and so is the memory of stems for the figures called cold.
"""

from __future__ import annotations

from collections.abc import Callable

from pairs import WORDS, best, make_pairs, show
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import CHRF

from fabula import Story
from fabula.metrics import _rouge_counts
from fabula.scoring.catalogue import METRICS
from fabula.text import subsequence

KINDS = (1, 2, 3, 4, "L", "W", "S*", "SU*")
ORIGINAL = subsequence._kernel


def main() -> None:
    stories = make_pairs()
    print(f"{len(stories)} pairs of {WORDS} words")
    scorer, other_chrf = RougeScorer(["rougeL"], use_stemmer=True), CHRF()
    slow_l = best(lambda s: scorer.score(s.references[0], s.text), stories)
    slow_chrf = best(lambda s: other_chrf.sentence_score(s.text, list(s.references)), stories)
    rouge, chrf = METRICS.build("rouge"), METRICS.build("chrf")
    fast_l = best(lambda s: rouge.score([s]), stories, forget)
    cold_l = best(lambda s: rouge.score([s]), stories, forget_stems)
    show("ROUGE-L", slow_l, fast_l, "rouge-score", 200)
    show("ROUGE-L, stems cold", slow_l, cold_l, "rouge-score", None)
    show_columns(stories, slow_l)
    show("chrF", slow_chrf, best(lambda s: chrf.score([s]), stories), "sacrebleu", 8)
    show_equality(stories, scorer, other_chrf)


def show_columns(stories: list[Story], slow_l: float) -> None:
    """All 24 columns of ROUGE against ROUGE-L alone, with and without numba."""
    for label, compat in (("24 ROUGE columns", False), ("the same, compat", True)):
        metrics = [METRICS.build(f"rouge(n={n!r}, compat={compat})") for n in KINDS]
        for kernel in ("compiled", "without numba"):
            use(kernel)
            took = best(lambda s, m=metrics: [one.score([s]) for one in m], stories, forget)
            bar = 8 if kernel == "compiled" else None
            show(f"{label}, {kernel}", slow_l, took, "rouge-score's ROUGE-L", bar)
    use("compiled")


def forget() -> None:
    _rouge_counts.rouge_words.cache_clear()
    _rouge_counts.perl_lines.cache_clear()
    _rouge_counts._shared_skips.cache_clear()


def forget_stems() -> None:
    forget()
    _rouge_counts._NLTK.clear()


def use(kernel: str) -> None:
    """Choose the kernel of the weighted subsequence."""
    plain: Callable[[], object] = lambda: subsequence.fill_plainly  # noqa: E731
    subsequence._kernel = ORIGINAL if kernel == "compiled" else plain


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
    for kernel in ("compiled", "without numba"):
        use(kernel)
        values.append([s.value for one in weighted for s in one.score(stories)])
    print(f"largest difference: ROUGE-L {rouge_gap:.1e}, chrF {chrf_gap:.1e}")
    print(f"with and without numba identical: {values[0] == values[1]}")


if __name__ == "__main__":
    main()
