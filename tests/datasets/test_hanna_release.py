"""HANNA's own files, where they lie beside the repository."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.datasets import load_dataset
from fabula.datasets.hanna import METRICS, HannaColumn, parse_column
from fabula.datasets.releases.verify import verify_dataset
from fakes.factories import find_slowness


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "hanna"


@pytest.fixture(scope="module")
def hanna(folder: Path) -> Dataset:
    return load_dataset("hanna", folder)


def test_the_72_columns_are_of_the_families_the_release_says() -> None:
    # Ξ§ 28, Ξε 16, ΞΔ 10, ¤§ 10, ¤ε 2, ¤Δ 6 by the glyphs of the published header.
    kinds = Counter((card.family, card.uses == ("reference",)) for card in METRICS.values())
    assert kinds == {
        ("string", True): 28,
        ("embedding", True): 16,
        ("model", True): 10,
        ("string", False): 10,
        ("embedding", False): 2,
        ("model", False): 6,
    }
    directions = Counter(card.direction for card in METRICS.values())
    assert directions == {"higher": 53, "lower": 15, "descriptive": 4}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("Relevance", HannaColumn("mean", "human:mean", "relevance")),
        ("ROUGE-1 Recall Ξ§", HannaColumn("score", "ROUGE-1 Recall")),
        ("Text length ¤§", HannaColumn("score", "Text length")),
        ("Human 3 CX", HannaColumn("rating", "human:3", "complexity")),
        ("Llama-13B EG 4", HannaColumn("score", "judge:Llama-13B/4", "engagement")),
        ("Human Avg 1 RE", None),
        ("Llama-13B AVG 4", None),
    ],
)
def test_a_header_says_whose_opinion_it_is(name: str, column: HannaColumn | None) -> None:
    assert parse_column(name, "here") == column


def test_a_folder_without_the_files_is_an_error_that_names_them(tmp_path: Path) -> None:
    for path in (None, tmp_path):
        with pytest.raises(InputError, match=r"hanna_stories_annotations\.csv or .* is not there"):
            load_dataset("hanna", path)


def test_an_incomplete_release_is_refused(hanna: Dataset, folder: Path, tmp_path: Path) -> None:
    import gzip

    with gzip.open(folder / "hanna_stories.jsonl.gz") as file:
        some = file.read().splitlines(keepends=True)[:96]
    (tmp_path / "hanna_stories.jsonl").write_bytes(b"".join(some))
    with pytest.raises(InputError, match="96 stories where the release has 1,056"):
        load_dataset("hanna", tmp_path)
    assert load_dataset("hanna", tmp_path, partial=True).stories == hanna.stories[:96]


def test_the_whole_release_is_read_in_little_time(folder: Path) -> None:
    started = time.perf_counter()
    found = load_dataset("hanna", folder)
    assert time.perf_counter() - started < 10 * find_slowness()  # 0.8 s alone on two slow cores
    assert len(found.stories) == 1056


def test_the_release_holds_what_its_card_says(hanna: Dataset) -> None:
    scorers = Counter(card.family for card in hanna.scorers.values())
    assert scorers == {"string": 38, "embedding": 18, "model": 16, "judge": 20}
    assert set(METRICS) == {name for name in hanna.scorers if not name.startswith("judge:")}
    assert (len(hanna.ratings), len(hanna.scores)) == (1056 * 3 * 6, 1056 * (72 + 5 * 4 * 6))
    assert all(score.ok for score in hanna.scores)
    assert not hanna.card.raters_known
    judged = [s.value for s in hanna.scores if s.scorer.startswith("judge:")]
    assert (sum(not 1 <= value <= 5 for value in judged), min(judged), max(judged)) == (1051, -1, 5)


def test_published_means_come_out(hanna: Dataset) -> None:
    machine = {story.id for story in hanna.stories if story.system != "Human"}
    values = {
        name: [s.value for s in hanna.scores.of(name) if s.story in machine]
        for name in ("BLEU", "Text length", "DepthScore")
    }
    # Means over the 960 machine stories, as the table of the 72 columns gives them.
    assert mean(values["BLEU"]) == pytest.approx(0.7284, abs=5e-5)
    assert mean(values["Text length"]) == pytest.approx(279.1, abs=0.05)
    assert mean(values["DepthScore"]) == pytest.approx(0.1185, abs=5e-5)


def test_the_ratings_of_both_files_are_the_same(hanna: Dataset, folder: Path) -> None:
    alone = load_dataset("hanna", folder / "hanna_metric_scores_llm.csv.gz")
    kept = {(s.story, s.scorer, s.aspect): s.value for s in hanna.ratings}
    assert {(s.story, s.scorer, s.aspect): s.value for s in alone.ratings} == kept
    assert [(s.id, s.system, s.item) for s in alone.stories] == [
        (s.id, s.system, s.item) for s in hanna.stories
    ]


def test_the_files_are_those_the_card_knows(folder: Path) -> None:
    for name in ("hanna", "hanna_llm"):
        verdicts = {check.what: check.verdict for check in verify_dataset(name, folder)}
        assert set(verdicts.values()) <= {"ok", "absent"}
        assert "ok" in verdicts.values()


def test_the_human_ratings_have_their_known_means(hanna: Dataset) -> None:
    human = {story.id for story in hanna.stories if story.system == "Human"}
    found = {
        aspect: mean(s.value for s in hanna.ratings if s.aspect == aspect and s.story in human)
        for aspect in ("relevance", "coherence", "complexity")
    }
    # Means of the criterion columns of the metric file, taken with pandas 3.
    assert found == pytest.approx(
        {"relevance": 4.170139, "coherence": 4.427083, "complexity": 3.729167}, abs=1e-6
    )
