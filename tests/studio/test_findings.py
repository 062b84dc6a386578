"""What opinions amount to: intervals by game, machines side by side, FDR, the course of time."""

from __future__ import annotations

import json
import math
import time
from datetime import UTC, date, datetime
from itertools import combinations

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.meta.resampling import estimate_mean
from fabula.studio.diffs import list_edits
from fabula.studio.export import export_studio
from fabula.studio.filters import Filter
from fabula.studio.findings import (
    compare_machines,
    correlate_qualities,
    describe_machines,
    describe_qualities,
    follow_quality,
)
from fabula.studio.flags import flag_games
from fabula.studio.games import exclude_game
from fabula.studio.kept import kept_metrics
from fabula.studio.kept_words import read_kept_words
from fabula.studio.quality import count_sentences, last_change, read_opinions
from fabula.studio.ratings import QUESTIONS
from fakes.many_suggestions import add_many
from fakes.opinions import make_opinions


def test_an_interval_comes_of_drawing_games_again():
    rng = np.random.default_rng(3)
    games = [f"g{place // 4}" for place in range(80)]
    # What a game has in common is most of what differs.
    values = np.repeat(rng.normal(size=20), 4)[:, None] + rng.normal(scale=0.1, size=(80, 1))
    cell = describe_machines(make_opinions(values, games=games))["m"]["a"]
    assert (cell.n, cell.games) == (80, 20)
    by_game = estimate_mean(values[:, 0], games, resamples=1000)
    assert (cell.low, cell.high) == pytest.approx((by_game.low, by_game.high), abs=0.05)
    # As if all were independent it would be half as wide.
    alone = describe_machines(make_opinions(values))["m"]["a"]
    assert cell.high - cell.low > 1.6 * (alone.high - alone.low)
    assert alone.mean == cell.mean and alone.deviation == cell.deviation


def test_below_five_games_there_is_a_mean_and_no_interval():
    values = np.arange(12.0)[:, None]
    cell = describe_qualities(make_opinions(values, games=list("abcd") * 3))["a"]
    assert (cell.mean, cell.n, cell.games) == (5.5, 12, 4)
    assert math.isnan(cell.low) and math.isnan(cell.high)
    five = describe_qualities(make_opinions(values, games=(list("abcde") * 3)[:12]))["a"]
    assert five.low < 5.5 < five.high
    # Five games, but a value in four of them only.
    values[4::5] = math.nan
    gaps = describe_qualities(make_opinions(values, games=(list("abcde") * 3)[:12]))["a"]
    assert gaps.games == 4 and math.isnan(gaps.low)


def test_the_better_machine_is_named_and_chance_is_not():
    rng = np.random.default_rng(0)
    machines = ["one" if place // 5 % 2 else "two" for place in range(200)]
    games = [f"g{place // 5}" for place in range(200)]
    values = rng.normal(size=(200, 2))
    values[:, 0] += [1.0 if name == "one" else 0.0 for name in machines]
    first, second = compare_machines(make_opinions(values, machines=machines, games=games))
    assert (first.quality, first.first, first.second, first.better) == ("a", "one", "two", "one")
    means = [values[[m == name for m in machines], 0].mean() for name in ("one", "two")]
    assert first.difference.value == pytest.approx(means[0] - means[1])
    assert first.difference.low > 0.5 and first.p < 0.001 and first.adjusted == 2 * first.p
    assert second.quality == "b" and second.better is None and second.adjusted >= 0.05
    assert second.difference.low < 0 < second.difference.high


def test_machines_without_anything_to_compare_are_not_compared():
    values = np.array([[1.0, math.nan], [2.0, math.nan], [math.nan, 3.0]])
    opinions = make_opinions(values, machines=["one", "two", "three"])
    [only] = compare_machines(opinions)
    assert (only.first, only.second, only.p, only.better) == ("one", "two", 1.0, None)
    assert math.isnan(only.difference.low)
    assert compare_machines(make_opinions(np.empty((0, 2)))) == []


def test_q_is_the_share_of_false_findings():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = np.random.default_rng(5).normal(size=(60, 6))
    values[:, 1] += values[:, 0]
    values[:, 5] = 1.0
    pairs = correlate_qualities(make_opinions(values))
    known = [pair for pair in pairs if not math.isnan(pair.p)]
    assert len(pairs) == 15 and len(known) == 10
    expected = multitest.fdrcorrection([pair.p for pair in known])[1]
    assert [pair.q for pair in known] == pytest.approx(list(expected))
    assert all(math.isnan(pair.q) for pair in pairs if pair not in known)


def test_a_quality_is_followed_by_period_and_machine():
    moments = [
        datetime(2023, 12, 31, 23, 59, tzinfo=UTC),  # a Sunday
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 7, 12, tzinfo=UTC),
        datetime(2024, 1, 8, tzinfo=UTC),
        datetime(2024, 2, 1, tzinfo=UTC),
    ]
    values = np.array([[1.0], [2.0], [4.0], [8.0], [math.nan]])
    opinions = make_opinions(values, machines=["m", "m", "m", "n", "m"], moments=moments)

    def follow(by):
        followed = follow_quality(opinions, "a", by)
        return [(each.start, each.machine, each.cell.n, each.cell.mean) for each in followed]

    assert follow("week") == [
        (date(2023, 12, 25), "m", 1, 1.0),
        (date(2024, 1, 1), "m", 2, 3.0),
        (date(2024, 1, 8), "n", 1, 8.0),
    ]
    assert [row[0] for row in follow("day")] == [moment.date() for moment in moments[:4]]
    assert follow("month")[1:] == [
        (date(2024, 1, 1), "m", 2, 3.0),
        (date(2024, 1, 1), "n", 1, 8.0),
    ]
    with pytest.raises(InputError, match="by: there is no period 'year'"):
        follow("year")
    with pytest.raises(InputError, match="quality: there is no quality 'USER'; take a"):
        follow_quality(opinions, "USER")


def test_correlations_are_scipys_on_the_export(studio, tmp_path):
    stats = pytest.importorskip("scipy.stats")
    many = add_many(studio, 90, games_of=6)
    exclude_game(studio, many.researcher, many.games[1])
    export_studio(studio, None, tmp_path / "out")
    user, rouges = kept_metrics()
    scorers = {rouge.spec: f"ROUGE-{rouge.n}" for rouge in rouges} | {user.spec: "USER"}
    exported: dict[str, dict[str, list[float]]] = {}
    for line in (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        label = None
        if row["scorer"].startswith("human:"):
            label = QUESTIONS[row["aspect"]].title
        elif row["aspect"] == "precision":
            label = scorers[row["scorer"]]
        if label is not None and row["value"] is not None:
            exported.setdefault(label, {}).setdefault(row["story"], []).append(row["value"])
    pairs = correlate_qualities(read_opinions(studio, many.researcher))
    assert {(pair.left, pair.right) for pair in pairs} == set(
        combinations(exported_order(pairs), 2)
    )
    assert len(pairs) == 55
    for pair in pairs:
        left, right = exported[pair.left], exported[pair.right]
        both = sorted(left.keys() & right.keys())
        columns = [[float(np.mean(side[story])) for story in both] for side in (left, right)]
        expected = stats.pearsonr(*columns)
        assert pair.n == len(both)
        assert (pair.r, pair.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def exported_order(pairs):
    """Labels in the order in which pairs name them."""
    return [pairs[0].left, *(pair.right for pair in pairs if pair.left == pairs[0].left)]


def test_a_dashboard_of_a_thousand_suggestions_is_read_at_once(studio):
    eve = add_many(studio, 1000).researcher

    def read_all():
        opinions = read_opinions(studio, eve)
        return [
            describe_machines(opinions),
            compare_machines(opinions),
            correlate_qualities(opinions),
            follow_quality(opinions, "USER"),
            count_sentences(studio),
            flag_games(studio, eve),
            list_edits(studio, eve),
            read_kept_words(studio, eve),
            last_change(studio),
        ]

    read_all()
    spent = []
    for _ in range(3):
        began = time.process_time()
        read_all()
        spent.append(time.process_time() - began)
    # Of this process alone: others have the machine too. Quiet it is a third of that.
    assert min(spent) < 0.6
    assert read_opinions(studio, None, Filter(measure="f")).values.shape == (1000, 11)
