"""What `fabula review` says of its own reliability, measured on stories of a folder DATA.

    python benchmarks/review.py DATA                  # stories that are called other writing
    python benchmarks/review.py DATA --coherence 120  # whole stories beside the same ones shuffled
    python benchmarks/review.py DATA --repeated       # how much human stories say more than once
    python benchmarks/review.py DATA --steps 300      # how unlikely their steps are, by kind
    python benchmarks/review.py DATA --spoiled 120    # scores of writers, and what withholds them

The first and the third are quick. The second reads every story three times with all learned metrics
that have marks: whole, with its sentences, and with its words in a chance order.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from fabula import Story, evaluate
from fabula.datasets import load_dataset
from fabula.learned.comments.evidence import word_list
from fabula.learned.reader.domain import describe_other_writing
from fabula.learned.reader.inference import load_reader
from fabula.learned.rovist_c import RovistC
from fabula.learned.training.stories import data_folder
from fabula.scoring.review.marks import STEP_CHANCES, STEP_SHARES
from fabula.scoring.review.parts import find_kind
from fabula.scoring.review.steps import place_transitions
from fabula.text.odd_words import find_odd_words
from fabula.text.perturb import shuffle, shuffle_words, typos
from fabula.text.repetition import find_repetitions
from fabula.text.words import words

CORPORA = (
    "hanna", "mans", "union", "coherence", "storyer", "storyer_ratings", "writingprompts",
    "rocstories", "vist",
)  # fmt: skip
MOST = 2000  # stories of a corpus
MOST_WORDS = 500
COHERENCE = ("coherence", "coherence(weights='large')", "coherence(weights='both')")
METRICS = (*COHERENCE, "rovist_c", "criteria")
SPOILED, SPOILED_LEVELS = ("writers", *COHERENCE), (0.01, 0.025, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--coherence", type=int, metavar="STORIES")
    parser.add_argument("--repeated", action="store_true")
    parser.add_argument("--steps", type=int, metavar="STORIES")
    parser.add_argument("--spoiled", type=int, metavar="STORIES")
    options = parser.parse_args()
    if options.spoiled:
        show_spoiled(options.data, options.spoiled)
        return
    if options.repeated:
        show_repeated(texts_of("writingprompts", options.data))
        return
    if options.steps:
        long = [*texts_of("writingprompts", options.data), *texts_of("storyer", options.data)]
        short = [text for text in long if len(text.split()) <= 600]
        show_steps(short[:: max(1, len(short) // options.steps)][: options.steps])
        return
    if options.coherence:
        long = [s for s in texts_of("writingprompts", options.data) if len(s.split()) <= MOST_WORDS]
        show_coherence(f"up to {MOST_WORDS} words", long[: options.coherence])
        show_coherence("five sentences", texts_of("rocstories", options.data)[: options.coherence])
        return
    total = alarms = 0
    for name in CORPORA:
        texts = texts_of(name, options.data)
        called = sum(bool(describe_other_writing(text)) for text in texts)
        print(f"{name:18}{len(texts):>6,} stories, {called:>3} called other writing", end="")
        print(f" ({called / len(texts):.2%})")
        total, alarms = total + len(texts), alarms + called
    print(f"{'all':18}{total:>6,} stories, {alarms:>3} called other writing ({alarms / total:.2%})")


def texts_of(name: str, data: Path) -> list[str]:
    """Texts of a corpus, evenly thinned out where it has many."""
    stories = load_dataset(name, data_folder(name, data), partial=True).stories
    texts = [story.text for story in stories if story.text]
    return texts[:: -(-len(texts) // MOST)]


def show_coherence(kind: str, texts: list[str]) -> None:
    ways = {"whole": list(texts)}
    ways["sentences shuffled"] = [shuffle(text, seed=1) or text for text in texts]
    ways["words shuffled"] = [shuffle_words(text, seed=1) or text for text in texts]
    values = {way: score(own) for way, own in ways.items()}
    for metric in METRICS:
        whole, sentences, words = (values[way][metric] for way in ways)
        low, high = np.nanquantile(whole, (0.1, 0.9))
        higher = np.mean(whole > sentences)
        print(
            f"{metric:28}{kind:18}{len(texts):>4} whole {low:.2f} to {high:.2f}, "
            f"shuffled sentences {np.nanmedian(sentences):.2f}, words {np.nanmedian(words):.2f}; "
            f"whole is higher in {higher:.0%}"
        )


def show_spoiled(data: Path, count: int) -> None:
    """Print quantiles of writers' scores, of coherence and of odd words: whole and spoiled."""
    long = [
        text
        for name in ("writingprompts", "storyer")
        for text in thin_out(texts_of(name, data), count // 2)
    ]
    kinds = {"100 to 500 words": long, "five sentences": texts_of("rocstories", data)[: count // 2]}
    ways = {"whole": str, "words shuffled": shuffle_words, "mistyped": typos}
    lengths = load_reader("coherence").source.lengths
    for kind, texts in kinds.items():
        for way, change in ways.items():
            own = [change(text) or text for text in texts]
            table = evaluate([Story(str(n), text) for n, text in enumerate(own)], SPOILED)
            odd = [find_odd_words(text, lengths).share for text in own]
            print(f"{kind}, {way}, {len(own)} stories; {SPOILED_LEVELS}")
            for name in SPOILED:
                values = [s.value for s in table.of(name) if not s.aspect]
                print(f"  {name:28}{np.nanquantile(values, SPOILED_LEVELS).round(2)}")
            print(f"  {'odd words':28}{np.quantile(odd, SPOILED_LEVELS).round(3)}")


def thin_out(texts: list[str], count: int) -> list[str]:
    fitting = [text for text in texts if 100 <= len(text.split()) <= MOST_WORDS]
    return fitting[:: max(1, len(fitting) // count)][:count]


def show_repeated(texts: list[str]) -> None:
    """Print which share of the words stands in runs that come again, by the length of a story."""
    sizes = np.array([len(words(text)) for text in texts])
    stop = word_list("stop")
    shares = np.array(
        [sum(run.share for run in find_repetitions(text, stop_words=stop)) for text in texts]
    )
    for low, high in ((75, 300), (300, 100_000)):
        own = shares[(sizes >= low) & (sizes < high)]
        ends = " ".join(f"{end:.3f}" for end in np.quantile(own, (0.5, 0.95, 0.99, 0.995)))
        print(f"{low} words and more: {len(own)} stories, middle, 1 in 20, 100 and 200: {ends}")


def show_steps(texts: list[str]) -> None:
    """Print the quantiles of steps by whether their sentences hold speech."""
    metric = RovistC()
    by_kind: dict[tuple[bool, bool], list[float]] = {kind: [] for kind in STEP_CHANCES}
    for number, text in enumerate(texts):
        for step in place_transitions(Story(str(number), text), metric):
            by_kind[find_kind(text, step)].append(step.probability)
    for kind, chances in by_kind.items():
        if chances:
            ends = ", ".join(f"{end:.3f}" for end in np.quantile(chances, STEP_SHARES))
            print(f"speech in the first, second: {kind}, {len(chances)} steps: {ends}")


def score(texts: list[str]) -> dict[str, np.ndarray]:
    stories = [Story(str(number), text) for number, text in enumerate(texts)]
    table = evaluate(stories, METRICS, cache=True)
    return {
        metric: np.array([s.value for s in table.of(metric) if s.aspect in ("", "coherence")])
        for metric in METRICS
    }


if __name__ == "__main__":
    main()
