"""Values of metrics: those that releases print, and those of other implementations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.machine import switch_on
from fabula.core.plain import read_json
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.datasets import datasets_below, load_dataset, printed_below
from fabula.models import path_of
from fabula.replication.checks._result import CheckResult, compare_values, skip
from fabula.scoring.catalogue import spec as canonical_spec
from fabula.scoring.evaluate import evaluate

_IMPLEMENTATIONS = "Other implementations, on the example stories"
_LAYER = 5
_WRITERS = ("human", "loop")
_SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_PRINTED = "Values printed by the releases"
_GOLDEN = "reference/golden.json"
_ROUGE_LABELS = {"1": 1, "2": 2, "3": 3, "4": 4, "l": "L", "w_1.2": "W", "s*": "S*", "su*": "SU*"}
_ROUGE_WORDS = {"recall": "recall", "precision": "precision", "f_score": "f"}
_ROVIST = "RoViST-NR (Wang et al., 2022), as published for human VIST stories"
_ROVIST_NR = "rovist_nr(compat=True)"
_ROVIST_FOLDER = "rovist_scores"


def check_bertscore(data: Path | None) -> Iterator[CheckResult]:
    """Compare precision, recall and F; this needs no data, but the package."""
    del data
    claim = f"bertscore equals the package bert-score, MiniLM's layer {_LAYER}"
    if find_spec("bert_score") is None:
        yield skip(_IMPLEMENTATIONS, claim, "needs the package bert-score")
        return
    # None of them is longer than the model's window, at which the package cuts.
    stories = [story for story in load_dataset("examples").stories if story.system in _WRITERS]
    table = evaluate(stories, f"bertscore(layer={_LAYER})")
    if missing := next((score for score in table if score.status is Status.MISSING_MODEL), None):
        yield skip(_IMPLEMENTATIONS, claim, missing.note)
        return
    theirs = _bert_score_values(stories, path_of("minilm"))
    values = list(zip([score.value for score in table], theirs, strict=True))
    claim = claim.replace("bert-score", f"bert-score {version('bert-score')}")
    yield compare_values(_IMPLEMENTATIONS, claim, values, tolerance=1e-4, share=1.0)


def _bert_score_values(stories: Sequence[Story], folder: Path) -> list[float]:
    """Precision, recall and F of every story, one after the other."""
    with _quiet_and_offline():
        scorer = import_module("bert_score").BERTScorer(
            model_type=str(folder), num_layers=_LAYER, device="cpu"
        )
        scores = scorer.score(
            [story.text for story in stories], [story.references[0] for story in stories]
        )
    return [float(value) for row in zip(*scores, strict=True) for value in row]


@contextmanager
def _quiet_and_offline() -> Iterator[None]:
    """Keep other packages from the network, and quiet."""
    with switch_on(*_SWITCHES), warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        yield


def check_golden(data: Path | None) -> Iterator[CheckResult]:
    """Compare BLEU, chrF and ROUGE with the printed values."""
    path = printed_below(data, _GOLDEN) if data else None
    if not path or not path.exists():
        why = f"needs {_GOLDEN} below --data"
        for claim in ("sentence BLEU", "chrF of a pair", "24 ROUGE values of a pair"):
            yield skip(_PRINTED, claim, why)
        return
    everything = read_json(path)
    golden = everything["summeval_tests"]
    text, reference = golden["CANDS"][0].lower(), golden["REFS"][0].lower()
    printed = golden["bleu_sentence(lower(CANDS[0]),lower(REFS[0]))"]
    yield _compare_value("sentence BLEU", _score_pair("bleu", text, reference), printed, 1e-9)
    chrf = golden["chrf"]
    ours = _score_pair("chrf", chrf["cands"][0], chrf["refs"][0])
    yield _compare_value("chrF of a pair", ours, 100 * chrf["first_pair"], 1e-9)
    yield _compare_rouge(golden["rouge(CAND_R,REF_R)"])
    yield _compare_cider(golden)
    yield _compare_rovist_nr(everything["rovist"]["nr_derived"])
    yield _compare_user(everything["storium"]["user_derived"], path.with_name("user_stopwords.txt"))


def _compare_cider(golden: dict[str, Any]) -> CheckResult:
    """CIDEr of three pairs as one batch; the tool prints the mean."""
    pairs = zip(golden["CANDS"], golden["REFS"], strict=True)
    stories = [Story(str(n), text, references=(r,)) for n, (text, r) in enumerate(pairs)]
    scores = evaluate(stories, "cider(tokenized=True)").scores
    mean = sum(score.value for score in scores) / len(scores)
    return _compare_value(
        "CIDEr of three pairs", mean, golden["cider_corpus(tokenize=False)"], 1e-9
    )


def _compare_rovist_nr(golden: dict[str, Any]) -> CheckResult:
    """RoViST-NR of the paper's printed stories, by the paper's overlap of sets."""
    cases = [case for case in golden.values() if isinstance(case, dict)]
    stories = [Story(str(n), case["story"]) for n, case in enumerate(cases)]
    scores = evaluate(stories, "rovist_nr").scores
    values = [(s.value, c["paper_set_jaccard"]) for s, c in zip(scores, cases, strict=True)]
    claim = "RoViST-NR of printed stories, overlap of sets"
    return compare_values(_PRINTED, claim, values, tolerance=1e-9, share=1.0)


def _compare_user(golden: dict[str, Any], stop_words: Path) -> CheckResult:
    """USER of the worked examples, with the platform's stop words."""
    claim = "USER of worked examples"
    if not stop_words.exists():
        return skip(_PRINTED, claim, f"needs {stop_words.name} beside {_GOLDEN}")
    values = []
    for case in ("Y1", "Y2"):
        story = Story(case, golden["X"], references=(golden[case],))
        scores = evaluate([story], f"user(stop_words={str(stop_words)!r})").scores
        printed = golden[f"{case}_result"]
        values += [(score.value, printed[score.aspect[0]]) for score in scores]
    return compare_values(_PRINTED, claim, values, tolerance=1e-12, share=1.0)


def _score_pair(metric: str, text: str, reference: str) -> float:
    return evaluate([Story("golden", text, references=(reference,))], metric).scores[0].value


def _compare_value(claim: str, ours: float, theirs: float, tolerance: float) -> CheckResult:
    return compare_values(_PRINTED, claim, [(ours, theirs)], tolerance=tolerance, share=1.0)


def _compare_rouge(golden: dict[str, Any]) -> CheckResult:
    specs = {
        label: canonical_spec(f"rouge(n={n!r}, compat=True)") for label, n in _ROUGE_LABELS.items()
    }
    story = Story("golden", golden["cand"], references=(golden["ref"],))
    table = evaluate([story], list(specs.values()))
    ours = {(score.scorer, score.aspect): score.value for score in table}
    values = [
        (ours[spelled, aspect], golden[f"rouge_{label}_{word}"])
        for label, spelled in specs.items()
        for word, aspect in _ROUGE_WORDS.items()
    ]
    claim = "24 ROUGE values of a pair of several lines"
    return compare_values(_PRINTED, claim, values, tolerance=1e-9, share=1.0)


def check_oracles(data: Path | None) -> Iterator[CheckResult]:
    """Compare with sacrebleu and rouge-score."""
    stories = load_dataset("examples").stories
    yield _compare_package(
        "sacrebleu", "bleu", stories, _sacrebleu_scorer("BLEU", effective_order=True), 1e-12
    )
    yield _compare_package("sacrebleu", "chrf", stories, _sacrebleu_scorer("CHRF"), 1e-9)
    yield _compare_package(
        "sacrebleu", "chrf(word_order=2)", stories, _sacrebleu_scorer("CHRF", word_order=2), 1e-9
    )
    plain = [story for story in stories if _is_one_ascii_line(story)]
    for name, spec in (("rouge1", "rouge(n=1)"), ("rouge2", "rouge(n=2)"), ("rougeL", "rouge")):
        if find_spec("rouge_score") is None:
            claim = f"{spec} equals rouge-score's {name}"
            yield skip(_IMPLEMENTATIONS, claim, "needs the package rouge-score")
        else:
            yield _compare_package("rouge-score", spec, plain, _rouge_scorer(name), 1e-12)


def _compare_package(
    package: str,
    spec: str,
    stories: Any,
    other: Callable[[Story], tuple[float, ...]],
    tolerance: float,
) -> CheckResult:
    ours = [score.value for score in evaluate(stories, spec)]
    theirs = [value for story in stories for value in other(story)]
    claim = f"{spec} equals {package} {version(package)}"
    values = list(zip(ours, theirs, strict=True))
    return compare_values(_IMPLEMENTATIONS, claim, values, tolerance=tolerance, share=1.0)


def _sacrebleu_scorer(name: str, **settings: Any) -> Callable[[Story], tuple[float, ...]]:
    import sacrebleu

    scorer = getattr(sacrebleu, name)(**settings)
    return lambda story: (scorer.sentence_score(story.text, list(story.references)).score,)


def _rouge_scorer(name: str) -> Callable[[Story], tuple[float, ...]]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([name], use_stemmer=True)

    def values(story: Story) -> tuple[float, ...]:
        score = scorer.score(story.references[0], story.text)[name]
        return score.recall, score.precision, score.fmeasure

    return values


def _is_one_ascii_line(story: Story) -> bool:
    texts = (story.text, *story.references)
    return all(text.isascii() and "\n" not in text for text in texts)


def check_rovist(data: Path | None) -> Iterator[CheckResult]:
    """Compare the published values with ours."""
    folder = datasets_below(data) / _ROVIST_FOLDER if data else None
    if not folder or not folder.is_dir():
        yield skip(_ROVIST, _ROVIST_NR, f"needs {_ROVIST_FOLDER} below --data")
        return
    try:
        dataset = load_dataset("rovist", folder)
    except InputError as error:
        yield skip(_ROVIST, _ROVIST_NR, str(error))
        return
    published = {score.story: score.value for score in dataset.scores.of("RoViST-NR")}
    stories = [story for story in dataset.stories if story.id in published]
    scores = evaluate(stories, _ROVIST_NR).scores
    if any(score.status is Status.MISSING_MODEL for score in scores):
        yield skip(_ROVIST, _ROVIST_NR, scores[0].note)
        return
    values = [(s.value if s.ok else math.inf, published[s.story]) for s in scores]
    yield compare_values(_ROVIST, _ROVIST_NR, values, tolerance=1e-4, share=0.997)
