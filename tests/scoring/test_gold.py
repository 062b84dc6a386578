from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.gold import join_dataset, match_stories
from fabula.scoring.sources import DatasetSource

CARD = DatasetCard("A set", "", "")


def make_run(*stories: Story) -> Dataset:
    scores = [Score(story.id, "mine", "", float(len(story.text))) for story in stories]
    cards = {"mine": ScorerCard("string", "higher")}
    return Dataset("run", CARD, stories, scores=ScoreTable(stories, scores), scorers=cards)


GOLD = Dataset(
    "gold",
    CARD,
    (
        Story("1", "The cat sat.", item="p", system="A"),
        Story("2", "The dog\n\nran.", item="p", system="B"),
        Story("3", "Again.", prompt="One", item="q"),
        Story("4", "Again.", prompt="Two", item="r"),
    ),
    preferences=(Preference("1", "2"), Preference("3", "1")),
)


def test_stories_are_the_same_where_id_and_text_are_or_else_the_text_of_one_alone() -> None:
    ours = [
        Story("1", "The  cat sat."),  # as there, but for blanks
        Story("x", "The dog ran."),
        Story("3", "Something else."),  # that id is another story there
        Story("y", "Again.", prompt="Two"),
        Story("z", "Again."),  # which of the two it is, nobody knows: one is left
    ]
    assert match_stories(ours, GOLD.stories) == {"1": "1", "x": "2", "y": "4", "z": "3"}


def test_a_table_without_texts_goes_by_ids() -> None:
    assert match_stories([Story("2", ""), Story("9", "")], GOLD.stories) == {"2": "2"}


def test_scores_get_the_items_and_choices_of_the_data_set_and_what_is_left_out_is_said() -> None:
    said: list[str] = []
    run = make_run(Story("a", "The cat sat."), Story("b", "The dog ran."), Story("c", "Mine."))
    joined = join_dataset(run, GOLD, said.append)
    assert [(story.id, story.item, story.system) for story in joined.stories] == [
        ("1", "p", "A"),
        ("2", "p", "B"),
    ]
    assert {score.story: score.value for score in joined.scores} == {"1": 12.0, "2": 12.0}
    assert joined.preferences == (Preference("1", "2"),)
    assert said == [
        "run beside gold: 2 of 4 stories; 1 of 2 pairs; 1 story of the run left out",
    ]


def test_a_run_of_other_stories_is_refused() -> None:
    with pytest.raises(InputError, match="none of its 1 story is in gold") as caught:
        join_dataset(make_run(Story("1", "Another tale.")), GOLD)
    assert "fabula score gold" in caught.value.remedy


def test_a_table_of_scores_takes_its_gold_from_a_data_set(tmp_path: Path) -> None:
    from fakes.release_samples import SAMPLES, put

    folder = put(tmp_path / "storyer", SAMPLES["storyer"])
    table = tmp_path / "scores.csv"
    table.write_text("id,mine,loss\n1.1,3,1\n1.2,2,2\n1.3,1,3\n", encoding="utf-8")
    source = DatasetSource(str(table), path=folder, partial=True, gold="storyer", lower=("loss",))
    joined = source.load()
    assert [(one.better, one.worse) for one in joined.preferences] == [
        ("1.1", "1.2"),
        ("1.1", "1.3"),
    ]
    assert joined.scorers["loss"].direction == "lower"
    # A column of that name is still the gold of its table.
    table.write_text("id,storyer,mine\n1.1,3,1\n1.2,2,2\n1.3,1,3\n", encoding="utf-8")
    assert len(DatasetSource(str(table), gold="storyer").load().ratings) == 3
