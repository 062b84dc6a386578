"""A regressor of S3 from ratings: what it learns, what it is told to leave out."""

from __future__ import annotations

import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.metrics.s3_regression import regressor
from fabula.models import load_model
from fabula.scoring import s3_training
from fabula.scoring.s3_training import fit_rated

pytest.importorskip("sklearn")
WORDS = "the ship sailed north until ice closed round her hull and no wind came for days".split()
CARD = DatasetCard("Toy", "", "CC0", reference_systems=("Human",))


@pytest.fixture(autouse=True)
def fake_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words without the asset."""
    usual = regressor.fit
    monkeypatch.setattr(
        s3_training, "fit", lambda *args, **named: usual(*args, model="fake()", **named)
    )
    monkeypatch.setattr("fabula.metrics.model_metric.load_model", lambda _: load_model("fake()"))


def rated(aspects: tuple[str, ...] = ("overall",)) -> Dataset:
    """Stories that hold more or less of their reference, rated by how much that is."""
    reference = " ".join(WORDS)
    stories = [
        Story(
            f"{item}.{kept}",
            " ".join([*WORDS[:kept], *("mud" for _ in range(len(WORDS) - kept)), f"word{item}"]),
            references=(reference,),
            system="A",
            item=str(item),
        )
        for item in range(12)
        for kept in (2, 5, 8, 11, 14)
    ]
    stories.append(Story("h", reference, references=(reference,), system="Human", item="0"))
    scores = [
        Score(story.id, f"rater:{number}", aspect, 1.0
              + sum(word in story.text.split() for word in WORDS) / 4 + number / 10)
        for story in stories
        for number in (0, 1)
        for aspect in aspects
    ]  # fmt: skip
    return Dataset("toy", CARD, tuple(stories), ratings=ScoreTable(stories, scores))


def test_overlap_that_people_like_is_learned_and_told_on_unseen_items() -> None:
    found = fit_rated(rated())
    assert found.stories == 60
    assert found.unseen is not None
    assert found.unseen.n == 60
    assert found.unseen.r > 0.95
    assert found.regressor.target == "overall"


def test_the_reference_s_own_writer_is_left_out() -> None:
    data = rated()
    found = fit_rated(data)
    human = data.stories[-1]
    assert not found.regressor.fitted_on(human)
    assert found.regressor.fitted_on(data.stories[0])


def test_the_aspect_has_to_be_said_where_there_are_several() -> None:
    data = rated(("plot", "style"))
    with pytest.raises(InputError, match="several aspects are rated"):
        fit_rated(data)
    with pytest.raises(InputError, match=r"no rating is of 'stile'.*style"):
        fit_rated(data, "stile")
    assert fit_rated(data, "style").regressor.target == "style"


def test_ratings_of_stories_without_references_are_refused() -> None:
    stories = [Story(str(at), "A tale.") for at in range(8)]
    scores = [Score(one.id, "rater:0", "overall", float(at)) for at, one in enumerate(stories)]
    data = Dataset("toy", CARD, tuple(stories), ratings=ScoreTable(stories, scores))
    with pytest.raises(InputError, match="no story rated for 'overall' has a reference"):
        fit_rated(data)
