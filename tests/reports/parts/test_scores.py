"""Parts about metrics that a study ran, on a survey that is correlated by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from fabula.core.dataset import Dataset
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets import load_dataset
from fabula.learned.rovist_c import RovistC, Transition
from fabula.reports.parts import find_part
from fabula.reports.study import make_sections
from fabula.reports.study_blocks import FigureBlock, TableBlock, Words, blocks_of
from fabula.reports.study_view import View
from fabula.scoring.study_scores import StudyColumn
from fakes.visual_survey import load_survey, view_study

ROUGE = "rouge(n=1, stem=False)"


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return load_survey(tmp_path_factory.mktemp("survey"))


def tables(view: View, part: str) -> dict[str, TableBlock]:
    section = find_part(part)(view)
    return {one.name: one for one in blocks_of([section]) if isinstance(one, TableBlock)}


def rows(table: TableBlock) -> list[dict[str, Any]]:
    return [
        dict(zip(table.columns, (cell.value for cell in row), strict=True))
        for row in table.table.cells
    ]


def test_a_metric_is_correlated_with_every_aspect_over_all_stories(survey: Dataset) -> None:
    view = view_study(survey, {"Length": "words"})
    (row,) = rows(tables(view, "by_aspect")["by_aspect"])
    # Words 2, 4, 6, 8, 3, 5 beside grounding 1, 2, 3, 5, 2, 4. Ranks 1, 3, 5, 6, 2, 4 and
    # 1, 2.5, 4, 6, 2.5, 5: ρ = 16 / √(17.5 · 17).
    assert row["grounding ρ"] == pytest.approx(16 / math.sqrt(17.5 * 17))
    # Σxy − ΣxΣy/n = 94 − 28 · 17 / 6; Σx² − … = 154 − 28² / 6; Σy² − … = 59 − 17² / 6.
    assert row["grounding r"] == pytest.approx(
        (94 - 28 * 17 / 6) / math.sqrt((154 - 28**2 / 6) * (59 - 17**2 / 6))
    )
    # Of 15 pairs 13 agree, one does not (6, 3 and 5, 4), one is tied in the ratings.
    assert row["grounding τ"] == pytest.approx(12 / math.sqrt(15 * 14))
    # Nobody's non-redundancy differs from another: that is undefined, and not zero.
    assert row["non_redundancy ρ"] is None


def test_parts_of_a_metric_have_one_row_and_a_gap_where_one_is_missing(survey: Dataset) -> None:
    ours = {"Ours": {"grounding": "words", "coherence": "coverage"}, "Other": "unique_words"}
    ours_row, other_row = rows(tables(view_study(survey, ours), "by_aspect")["by_aspect"])
    assert ours_row["metric"] == "Ours" and other_row["metric"] == "Other"
    assert ours_row["grounding ρ"] == pytest.approx(16 / math.sqrt(17.5 * 17))
    assert ours_row["coherence ρ"] is None and other_row["coherence ρ"] is not None


def test_ratings_are_correlated_with_ranks_by_vote_sequence_by_sequence(survey: Dataset) -> None:
    found = {
        (row["aspect"], row["coefficient"]): row
        for row in rows(tables(view_study(survey, {"W": "words"}), "votes")["votes"])
    }
    # q1: votes 0, ¼, ¾, so ranks 1, 2, 3 beside grounding 1, 2, 3: all are 1 (r with the shares
    # themselves would be .98). q2: ranks 3, 1½, 1½ beside 5, 2, 4.
    assert found["grounding", "Spearman's ρ"]["mean over items"] == pytest.approx(
        (1 + 1.5 / math.sqrt(1.5 * 2)) / 2
    )
    assert found["grounding", "Pearson's r"]["mean over items"] == pytest.approx(
        (1 + 2 / math.sqrt(1.5 * 14 / 3)) / 2
    )
    assert found["grounding", "Kendall's τ-b"]["mean over items"] == pytest.approx(
        (1 + 2 / math.sqrt(2 * 3)) / 2
    )
    # Coherence is 3 for all of q1, which has no ranks; q2: 1, 2, 3 beside 3, 1½, 1½.
    coherence = found["coherence", "Spearman's ρ"]
    assert coherence["mean over items"] == pytest.approx(-1.5 / math.sqrt(1.5 * 2))
    assert (coherence["items"], coherence["left out"]) == (1, 1)
    assert found["non_redundancy", "Spearman's ρ"]["mean over items"] is None


def test_columns_that_are_missing_are_named_with_the_reason(survey: Dataset) -> None:
    view = view_study(survey, {"Words": "words", "Coverage": "coverage"})
    section = find_part("columns")(view)
    assert section is not None
    words, table = section.blocks
    assert isinstance(words, Words) and words.paragraphs == [
        "**Missing here:** Coverage. The table says why."
    ]
    assert isinstance(table, TableBlock)
    assert [row["why others have none"] for row in rows(table)] == ["", "give the story a prompt"]


def test_references_change_scores_ranks_and_correlations(survey: Dataset) -> None:
    options = {"references": {"counts": [1, 2]}}
    view = view_study(survey, {"ROUGE": ROUGE}, options=options)
    found = tables(view, "references")
    (scores,) = rows(found["references_scores"])
    # F1 with the first reference: 2/4, 2/6, 2/8 by "red cat"; 6/11, 4/6, 4/8 by "a cat sat".
    first = [2 / 4, 2 / 6, 2 / 8, 6 / 11, 4 / 6, 4 / 8]
    # With the second: 1, 4/6, 4/8 by "red dog"; C of q2 by "the fish": 4/7.
    second = [1, 4 / 6, 4 / 8, 6 / 11, 4 / 6, 4 / 7]
    assert scores["mean, 1"] == pytest.approx(sum(first) / 6)
    assert scores["mean, 2"] == pytest.approx(sum(second) / 6)
    # Ranks 3½, 2, 1, 5, 6, 3½ and 6, 4½, 1, 2, 4½, 3: Σ of products of their distances 3½.
    products = 0 + -1.5 * 1 + 6.25 + 1.5 * -1.5 + 2.5 * 1 + 0
    assert scores["stories: ρ of 1 with 2"] == pytest.approx(products / 17)
    # Means of A, B, C: .523, .5, .375 and .773, .667, .536: the same order.
    assert scores["systems: τ of 1 with 2"] == 1.0
    (beside,) = rows(found["references_ratings"])
    # Ranks of `first` above beside those of grounding, 1, 2½, 4, 6, 2½, 5.
    products = 0 + 1.5 + -2.5 * 0.5 + 1.5 * 2.5 + -2.5 * 1 + 0
    assert beside["grounding, 1"] == pytest.approx(products / 17)
    drawn = [
        one for one in blocks_of([find_part("references")(view)]) if isinstance(one, FigureBlock)
    ]
    assert [one.name for one in drawn] == [
        "references_grounding", "references_coherence", "references_non_redundancy",
        "references_overall",
    ]  # fmt: skip


def test_metrics_put_systems_in_places(survey: Dataset) -> None:
    table = tables(view_study(survey, {"Words": "words", "Nothing": "coverage"}), "means")["means"]
    (row,) = table.table.cells
    # Mean words: A (2 + 8) / 2, B (4 + 3) / 2, C (6 + 5) / 2. More words are not better by
    # themselves, but a place is a place.
    assert [cell.text for cell in row[1:]] == ["5.000 (2)", "3.500 (3)", "5.500 (1)"]


def test_an_unrated_data_set_shows_scores_alone(survey: Dataset) -> None:
    bare = Dataset("toy", survey.card, survey.stories)
    parts = ("columns", "by_aspect", "votes", "systems", "means", "references", "standing")
    options = {"references": {"counts": [1, 2]}}
    view = view_study(bare, {"ROUGE": ROUGE}, parts=parts, options=options)
    made = [section.id for section, _ in make_sections(view) if section]
    assert made == ["columns", "means", "references"]
    assert "references_ratings" not in tables(view, "references")


def test_our_scores_stand_beside_published_ones(survey: Dataset) -> None:
    published = [
        Score(story.id, "Theirs", "", value)
        for story, value in zip(survey.stories, [1, 2, 3, 5, 2, 4], strict=True)
    ]
    dataset = Dataset(
        "toy", survey.card, survey.stories, scores=ScoreTable(survey.stories, published)
    )
    (row,) = rows(tables(view_study(dataset, {"Words": "words"}), "published")["published"])
    assert (row["here"], row["published"], row["stories"]) == ("Words", "Theirs", 6)
    assert row["Spearman ρ"] == pytest.approx(16 / math.sqrt(17.5 * 17))
    assert row["Kendall τ"] == pytest.approx(12 / math.sqrt(15 * 14))


def test_order_is_shown_sentence_by_sentence(
    survey: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    chances = {"q1/A": [0.9, 0.5], "q1/B": [0.2], "q1/C": []}

    def transitions(metric: RovistC, story: Story) -> list[Transition]:
        return [Transition("", "", chance, ((0, 0), (0, 0))) for chance in chances[story.id]]

    monkeypatch.setattr(RovistC, "transitions", transitions)
    view = view_study(survey, {"Words": "words"}, options={"example": {}})
    asked = View(view.file, view.result, None, [StudyColumn("C", "rovist_c", scored=6, stories=6)])
    table = tables(asked, "order")["order"]
    assert table.columns == ("story", "1 → 2", "2 → 3", "mean")
    assert [list(row.values()) for row in rows(table)] == [
        ["A", 0.9, 0.5, 0.7], ["B", 0.2, None, 0.2], ["C", None, None, None],
    ]  # fmt: skip


def test_an_example_of_many_raters_has_means_and_votes(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    load_survey(folder)
    text = (folder / "survey.csv").read_text(encoding="utf-8")
    more = [
        line.replace("r0,", f"r{rater},").replace(",1\n", ",0\n")
        for rater in (4, 5)
        for line in text.splitlines(keepends=True)
        if line.startswith("r0,")
    ]
    (folder / "survey.csv").write_text(text + "".join(more), encoding="utf-8")
    dataset = load_dataset("visual_survey", folder)
    view = view_study(dataset, {"Words": "words"}, options={"example": {}})
    found = tables(view, "example")
    # Raters five and six chose nothing: they count for ratings alone.
    assert [list(row.values()) for row in rows(found["example_ratings"])] == [
        ["A", 1, 3, 3, 7, 0.0], ["B", 2, 3, 3, 8, 0.25], ["C", 3, 3, 3, 9, 0.75],
    ]  # fmt: skip
    (scores,) = rows(found["example_scores"])
    assert scores == {"metric": "Words", "A": 2, "B": 4, "C": 6}
