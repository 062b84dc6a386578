"""A made-up survey on six stories, small enough to correlate by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.datasets import load_dataset
from fabula.meta.study import Study, StudyFile
from fabula.reports.study_view import View
from fabula.scoring.study_scores import score_study

# Words: 2, 4, 6 and 8, 3, 5.
TEXTS = {
    ("q1", "A"): "red dog",
    ("q1", "B"): "red dog ran home",
    ("q1", "C"): "red dog ran home at noon",
    ("q2", "A"): "a cat sat on the big warm stone",
    ("q2", "B"): "a cat slept",
    ("q2", "C"): "a cat ate the fish",
}
REFERENCES = {
    "q1": ["red cat", "red dog", "blue bird"],
    "q2": ["a cat sat", "the fish", "a stone"],
}
# Grounding and coherence are what all four raters say; non-redundancy is 3 everywhere.
GROUNDING = {"q1": {"A": 1, "B": 2, "C": 3}, "q2": {"A": 5, "B": 2, "C": 4}}
COHERENCE = {"q1": {"A": 3, "B": 3, "C": 3}, "q2": {"A": 1, "B": 2, "C": 3}}
# Votes: none, one and three of four in q1; all four for A in q2.
CHOSEN = {"q1": "BCCC", "q2": "AAAA"}


def write_survey(folder: Path) -> Path:
    """Write survey and stories into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["rater,sequence,system,grounding,coherence,non_redundancy,best"]
    for rater in range(4):
        for sequence, system in TEXTS:
            best = int(CHOSEN[sequence][rater] == system)
            rated = f"{GROUNDING[sequence][system]},{COHERENCE[sequence][system]},3"
            lines.append(f"r{rater},{sequence},{system},{rated},{best}")
    (folder / "survey.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [
        {"sequence": sequence, "system": system, "text": text, "references": REFERENCES[sequence]}
        for (sequence, system), text in TEXTS.items()
    ]
    told = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "stories.jsonl").write_text(told, encoding="utf-8")
    return folder


def load_survey(folder: Path) -> Dataset:
    """Write the survey and read it."""
    return load_dataset("visual_survey", write_survey(folder))


def view_study(dataset: Dataset, metrics: dict[str, Any], **file: Any) -> View:
    """Run metrics over a data set as a study does, and show what came out."""
    declared = StudyFile("Survey", dataset.name, metrics=metrics, **file)
    scored = score_study(declared, dataset)
    study = Study(resamples=20)
    rated = bool(len(dataset.ratings))
    result = study.run(scored.dataset) if rated else study.lay_out(scored.dataset)
    return View(declared, result, None, scored.columns, scored.by_references)
