"""Values that the originating releases print for texts of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.core.story import Story
from fabula.replication.checks._finding import Finding, equality, unchecked
from fabula.scoring.catalogue import spec
from fabula.scoring.evaluate import evaluate

_PART = "Values printed by the releases"
_FILE = "reference/golden.json"
_ROUGE = {"1": 1, "2": 2, "3": 3, "4": 4, "l": "L", "w_1.2": "W", "s*": "S*", "su*": "SU*"}
_WORDS = {"recall": "recall", "precision": "precision", "f_score": "f"}


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare BLEU, chrF and ROUGE with the printed values."""
    path = data / _FILE if data else None
    if not path or not path.exists():
        why = f"needs {_FILE} below --data"
        for claim in ("sentence BLEU", "chrF of a pair", "24 ROUGE values of a pair"):
            yield unchecked(_PART, claim, why)
        return
    everything = json.loads(path.read_text(encoding="utf-8"))
    golden = everything["summeval_tests"]
    text, reference = golden["CANDS"][0].lower(), golden["REFS"][0].lower()
    printed = golden["bleu_sentence(lower(CANDS[0]),lower(REFS[0]))"]
    yield _one("sentence BLEU", _value("bleu", text, reference), printed, 1e-9)
    chrf = golden["chrf"]
    ours = _value("chrf", chrf["cands"][0], chrf["refs"][0])
    yield _one("chrF of a pair", ours, 100 * chrf["first_pair"], 1e-9)
    yield _rouge(golden["rouge(CAND_R,REF_R)"])
    yield _cider(golden)
    yield _redundancy(everything["rovist"]["nr_derived"])
    yield _kept(everything["storium"]["user_derived"], path.with_name("user_stopwords.txt"))


def _cider(golden: dict[str, Any]) -> Finding:
    """CIDEr of three pairs as one batch; the tool prints the mean."""
    pairs = zip(golden["CANDS"], golden["REFS"], strict=True)
    stories = [Story(str(n), text, references=(r,)) for n, (text, r) in enumerate(pairs)]
    scores = evaluate(stories, "cider(tokenized=True)").scores
    mean = sum(score.value for score in scores) / len(scores)
    return _one("CIDEr of three pairs", mean, golden["cider_corpus(tokenize=False)"], 1e-9)


def _redundancy(golden: dict[str, Any]) -> Finding:
    """RoViST-NR of the paper's printed stories, by the paper's overlap of sets."""
    cases = [case for case in golden.values() if isinstance(case, dict)]
    stories = [Story(str(n), case["story"]) for n, case in enumerate(cases)]
    scores = evaluate(stories, "rovist_nr").scores
    values = [(s.value, c["paper_set_jaccard"]) for s, c in zip(scores, cases, strict=True)]
    claim = "RoViST-NR of printed stories, overlap of sets"
    return equality(_PART, claim, values, tolerance=1e-9, share=1.0)


def _kept(golden: dict[str, Any], stop_words: Path) -> Finding:
    """USER of the worked examples, with the platform's stop words."""
    claim = "USER of worked examples"
    if not stop_words.exists():
        return unchecked(_PART, claim, f"needs {stop_words.name} beside {_FILE}")
    values = []
    for case in ("Y1", "Y2"):
        story = Story(case, golden["X"], references=(golden[case],))
        scores = evaluate([story], f"user(stop_words={str(stop_words)!r})").scores
        printed = golden[f"{case}_result"]
        values += [(score.value, printed[score.aspect[0]]) for score in scores]
    return equality(_PART, claim, values, tolerance=1e-12, share=1.0)


def _value(metric: str, text: str, reference: str) -> float:
    return evaluate([Story("golden", text, references=(reference,))], metric).scores[0].value


def _one(claim: str, ours: float, theirs: float, tolerance: float) -> Finding:
    return equality(_PART, claim, [(ours, theirs)], tolerance=tolerance, share=1.0)


def _rouge(golden: dict[str, Any]) -> Finding:
    specs = {label: spec(f"rouge(n={n!r}, compat=True)") for label, n in _ROUGE.items()}
    story = Story("golden", golden["cand"], references=(golden["ref"],))
    table = evaluate([story], list(specs.values()))
    ours = {(score.scorer, score.aspect): score.value for score in table}
    values = [
        (ours[spelled, aspect], golden[f"rouge_{label}_{word}"])
        for label, spelled in specs.items()
        for word, aspect in _WORDS.items()
    ]
    claim = "24 ROUGE values of a pair of several lines"
    return equality(_PART, claim, values, tolerance=1e-9, share=1.0)
