from __future__ import annotations

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.raters.icc import two_way
from fabula.meta.raters.ratings import categories_of, category_counts, complete_rows, ratings_of
from fakes.ratings import KRIPPENDORFF, NAN, SHROUT_FLEISS, table_of

ONE = [Story("s", "Once.")]


def test_the_matrix_holds_what_was_said_and_nan_elsewhere() -> None:
    [ratings] = ratings_of(table_of(KRIPPENDORFF))
    assert ratings.raters == ("a", "b", "d", "c")  # in the order they came
    columns = [ratings.raters.index(rater) for rater in "abcd"]
    np.testing.assert_array_equal(ratings.matrix[:, columns], KRIPPENDORFF)


def test_packing_pushes_a_storys_ratings_into_its_first_places() -> None:
    [ratings] = ratings_of(table_of(np.array([[NAN, 2, 3], [4, NAN, NAN], [NAN, NAN, 5]])))
    np.testing.assert_array_equal(ratings.packed, [[2, 3], [4, NAN], [5, NAN]])
    assert ratings.per_story.tolist() == [2, 1, 1]


def test_aspects_are_parted_and_metrics_and_missing_values_passed_over() -> None:
    scores = [
        Score("s", "human:a", "plot", 1.0),
        Score("s", "bleu", "", 7.0),
        Score("s", "human:a", "style", 2.0),
        Score("s", "human:b", "plot", status=Status.UNDEFINED),
    ]
    plot, style = ratings_of(ScoreTable(ONE, scores))
    assert (plot.aspect, plot.raters, plot.value.tolist()) == ("plot", ("a",), [1])
    assert (style.aspect, style.value.tolist()) == ("style", [2])


def test_rating_a_story_twice_names_rater_story_and_aspect() -> None:
    scores = [Score("s", "human:a", "plot", 1.0), Score("s", "human:a", "plot", 2.0)]
    with pytest.raises(InputError, match="rater 'a' rated story 's' twice on 'plot'; keep one"):
        ratings_of(scores)


def test_a_table_without_ratings_is_refused() -> None:
    with pytest.raises(InputError, match="there are no ratings here"):
        ratings_of([Score("s", "bleu", "", 7.0)])


@pytest.mark.parametrize(
    ("values", "scale", "expected"),
    [
        ([2, 4, NAN], None, [2, 4]),
        ([2, 4], (1, 5), [1, 2, 3, 4, 5]),
        ([2.5, 4], (1, 5), [2.5, 4]),
        ([2, 9], (1, 5), [2, 9]),
        ([2, 90], (0, 100), [2, 90]),
    ],
)
def test_categories_are_those_of_the_scale_where_ratings_are_its_steps(
    values: list[float], scale: tuple[float, float] | None, expected: list[float]
) -> None:
    assert categories_of(np.array(values), scale).tolist() == expected


def test_categories_are_counted_story_by_story() -> None:
    counts = category_counts(np.array([[1, 1, 3], [NAN, 3, NAN]]), np.array([1.0, 3.0]))
    assert counts.tolist() == [[2, 1], [0, 1]]


def test_complete_rows_have_no_gap() -> None:
    assert complete_rows(np.array([[1, NAN], [2, 3]])).tolist() == [[2, 3]]


def crowd_of(matrix: np.ndarray, column: int) -> ScoreTable:
    """The same ratings, but those of one column come from another person for every story."""
    stories = [Story(str(i), "Once.") for i in range(len(matrix))]
    raters = [
        [f"guest {i}" if j == column else f"main {j}" for j in range(matrix.shape[1])]
        for i in range(len(matrix))
    ]
    scores = [
        Score(str(i), f"human:{raters[i][j]}", "", float(value))
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
    ]
    return ScoreTable(stories, scores)


def test_slots_give_main_raters_columns_and_others_the_free_places() -> None:
    """Shrout and Fleiss' table, the second judge of which is six people: the slots are the table
    again, up to the order of columns, and ICC(2,k) is theirs."""
    [ratings] = ratings_of(crowd_of(SHROUT_FLEISS, 1))
    slots = ratings.list_busiest(4)
    assert slots == ("main 0", "main 2", "main 3", "guest 0")
    aligned = ratings.align(slots)
    np.testing.assert_array_equal(aligned, SHROUT_FLEISS[:, [0, 2, 3, 1]])
    assert two_way(aligned)[2].value == pytest.approx(0.6200505476)
    assert two_way(ratings.matrix)[2].note == "no two stories were rated by all raters"


def test_a_rating_without_a_free_slot_is_dropped_and_an_empty_slot_is_missing() -> None:
    told = [
        ("0", "a", 1),
        ("0", "x", 2),
        ("0", "y", 3),
        ("1", "b", 4),
        ("1", "x", 5),
        ("2", "z", 6),
    ]
    stories = [Story(name, "Once.") for name in "012"]
    scores = [Score(story, f"human:{rater}", "", float(value)) for story, rater, value in told]
    [ratings] = ratings_of(ScoreTable(stories, scores))
    np.testing.assert_array_equal(ratings.align(("a", "b")), [[1, 2], [5, 4], [6, NAN]])
