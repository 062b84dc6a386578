"""Values that the originating releases print for texts of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.core.story import Story
from fabula.scoring.catalogue import spec
from fabula.scoring.checks._finding import Finding, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "Values printed by SummEval, the library HANNA used"
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
    golden = json.loads(path.read_text(encoding="utf-8"))["summeval_tests"]
    text, reference = golden["CANDS"][0].lower(), golden["REFS"][0].lower()
    printed = golden["bleu_sentence(lower(CANDS[0]),lower(REFS[0]))"]
    yield _one("sentence BLEU", _value("bleu", text, reference), printed, 1e-9)
    chrf = golden["chrf"]
    ours = _value("chrf", chrf["cands"][0], chrf["refs"][0])
    yield _one("chrF of a pair", ours, 100 * chrf["first_pair"], 1e-9)
    yield _rouge(golden["rouge(CAND_R,REF_R)"])


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
