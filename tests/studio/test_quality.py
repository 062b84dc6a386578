"""What a dashboard shows, by hand and beside scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.errors import InputError, NotAllowed
from fabula.studio.edits import Edit
from fabula.studio.filters import Filter
from fabula.studio.findings import correlate_qualities, describe_machines
from fabula.studio.games import create_game, exclude_game
from fabula.studio.publishing import publish_entry
from fabula.studio.quality import (
    count_people,
    count_sentences,
    count_statuses,
    read_opinions,
)
from fabula.studio.ratings import rate_suggestion
from fabula.studio.scenes import add_scene
from fabula.studio.versions import save_draft
from fakes.opinions import make_opinions
from fakes.studio_people import put_person
from fakes.studio_writing import Table, begin_draft, lay_table, put_machine, put_suggestion

FERRY = "Grey ferry crossed rivers. Wolves howled."


def publish(studio, table, key, text, *, machine, generated=FERRY, **rated):
    """Publish an entry beside a suggestion of a machine, with ratings of it."""
    draft = begin_draft(studio, table, key)
    machine_id = put_machine(studio, machine, status="active")
    suggestion = put_suggestion(studio, draft, generated, machine_id=machine_id)
    if rated:
        rate_suggestion(studio, table.person, suggestion, rated)
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=[Edit(0, 0, text)])
    publish_entry(studio, table.person, draft.id, version=1)
    return suggestion


def test_machines_are_told_apart_and_excluded_games_left_out(studio):
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    publish(studio, table, "a", "Grey ferry crossed rivers.", machine="one", fluency=5)
    publish(studio, table, "b", "Wolves slept.", machine="one", fluency=2, relevance=4)
    publish(studio, table, "c", "Snow.", machine="two")
    out = create_game(studio, table.person, key="out", title="Machine alone")
    scene = add_scene(studio, table.person, out.id, key="s")
    publish(studio, Table(table.person, out.id, scene.id), "d", FERRY, machine="two", fluency=1)
    exclude_game(studio, eve, out.id)

    opinions = read_opinions(studio, eve)
    assert opinions.machines == ("one", "one", "two")
    assert len(opinions.labels) == 11 and opinions.values.shape == (3, 11)
    cells = describe_machines(opinions)
    # Of six words four are kept, then one, then none.
    assert cells["one"]["USER"].mean == pytest.approx((4 / 6 + 1 / 6) / 2)
    assert cells["one"]["USER"].deviation == pytest.approx((4 / 6 - 1 / 6) / math.sqrt(2))
    assert (cells["one"]["Fluency"].mean, cells["one"]["Fluency"].n) == (3.5, 2)
    assert cells["two"]["USER"].mean == 0 and math.isnan(cells["two"]["USER"].deviation)
    assert cells["two"]["Fluency"].n == 0 and math.isnan(cells["two"]["Fluency"].mean)
    assert math.isnan(cells["one"]["Relevance"].deviation)
    recall = read_opinions(studio, eve, Filter(measure="recall"))
    assert describe_machines(recall)["one"]["USER"].mean == pytest.approx((1 + 1 / 2) / 2)

    # Only the first entry shares three words in a row with a sentence, the first.
    assert count_sentences(studio) == count_sentences(studio, Filter(machines=("one",))) == {0: 1}
    assert count_sentences(studio, Filter(machines=("two",))) == {}
    assert count_statuses(studio, eve) == {"one": {"done": 2}, "two": {"done": 1}}
    assert count_people(opinions) == {1: 0, 5: 1, 10: 1, 20: 1, math.inf: 1}
    assert read_opinions(studio, eve, Filter(status="inactive")).values.shape == (0, 11)


def test_qualities_are_for_researchers(studio):
    ann, eve = put_person(studio, "ann"), put_person(studio, "eve", "researcher")
    for read in (read_opinions, count_statuses):
        with pytest.raises(NotAllowed):
            read(studio, ann)
    with pytest.raises(InputError, match="there is no measure 'accuracy'"):
        read_opinions(studio, eve, Filter(measure="accuracy"))
    assert describe_machines(read_opinions(studio, eve)) == {}
    assert len(correlate_qualities(read_opinions(studio, eve))) == 55


def test_correlations_are_scipys_over_those_that_have_both():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(0).normal(size=(40, 11))
    values[:, 1] += values[:, 0]
    values[np.random.default_rng(1).random((40, 11)) < 0.2] = np.nan
    values[2:, 10] = np.nan
    values[:, 9] = 3.0
    opinions = make_opinions(values)
    pairs = {(c.left, c.right): c for c in correlate_qualities(opinions)}
    assert len(pairs) == 55
    for left, right in (("a", "b"), ("c", "h")):
        columns = values[:, [ord(left) - 97, ord(right) - 97]]
        both = columns[~np.isnan(columns).any(axis=1)]
        expected = stats.pearsonr(both[:, 0], both[:, 1])
        found = pairs[left, right]
        assert (found.r, found.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert found.n == len(both)
    # A constant, and fewer than three: undefined, and not zero.
    assert math.isnan(pairs["a", "j"].r) and math.isnan(pairs["a", "j"].p)
    assert pairs["a", "k"].n <= 2 and math.isnan(pairs["a", "k"].p)
    assert count_people(opinions)[math.inf] == 0


def test_a_machine_that_is_perfectly_in_line_has_p_0():
    values = np.repeat(np.arange(5.0)[:, None], 2, axis=1)
    opinions = make_opinions(values)
    [pair] = correlate_qualities(opinions.of("m"))
    assert (pair.r, pair.p, pair.n) == (1, 0, 5)
    assert opinions.of("other").values.shape == (0, 2)
