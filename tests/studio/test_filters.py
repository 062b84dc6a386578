"""Filters: in the address and back, and what they choose, on both databases."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError
from fabula.studio.diffs import list_edits
from fabula.studio.filters import Filter, parse_filter
from fabula.studio.games import exclude_game
from fabula.studio.quality import count_sentences, count_statuses, last_change, read_opinions
from fabula.studio.tables import suggestions
from fakes.many_suggestions import add_many

_DAYS = st.none() | st.dates()
_COUNTS = st.none() | st.integers(0, 1_000_000)


@given(
    st.builds(
        dict,
        machines=st.lists(st.sampled_from(["topk", "a b", "é&=?"]), unique=True).map(tuple),
        status=st.sampled_from([None, "active", "draining", "inactive"]),
        measure=st.sampled_from(["precision", "recall", "f"]),
        days=st.tuples(_DAYS, _DAYS),
        game=st.none() | st.just("0" * 32),
        counts=st.tuples(_COUNTS, _COUNTS),
        include_excluded=st.booleans(),
        include_flagged=st.booleans(),
    )
)
def test_a_filter_goes_into_an_address_and_comes_back(values):
    days = sorted(filter(None, values.pop("days")))
    counts = sorted(count for count in values.pop("counts") if count is not None)
    chosen = Filter(
        **values,
        since=days[0] if days else None,
        until=days[-1] if days else None,
        at_least=counts[0] if counts else None,
        at_most=counts[-1] if counts else None,
    )
    query = chosen.query()
    assert parse_filter(query) == chosen
    pairs = [
        (name, part)
        for name, value in query.items()
        for part in ([value] if isinstance(value, str) else value)
    ]
    assert parse_filter(pairs) == chosen
    assert (query == {}) == (chosen == Filter())


def test_what_a_browser_sends_empty_is_not_given():
    empty = {"machine": "", "status": " ", "from": "", "at_most": "", "with_excluded": "", "x": "y"}
    assert parse_filter(empty) == Filter()
    assert not parse_filter({"without_flagged": "on"}).include_flagged


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"status": "asleep"}, "there is no status 'asleep'; take active"),
        ({"measure": "accuracy"}, "there is no measure 'accuracy'; take precision"),
        ({"from": "yesterday"}, "from is 'yesterday'; give a day as 2024-02-29"),
        ({"to": "2024-02-30"}, "to is '2024-02-30'"),
        ({"at_least": "-1"}, "at_least is '-1'; give a whole number"),
        ({"at_most": "9" * 30}, "at_most is '9999"),
        ({"at_least": "5", "at_most": "2"}, r"at_least \(5\) is more than at_most \(2\)"),
        ({"from": "2024-02-02", "to": "2024-01-01"}, r"from \(2024-02-02\) is after to"),
        ({"with_excluded": "perhaps"}, "with_excluded is 'perhaps'; give 1 or 0"),
        ({"game": "a\nb"}, "game is"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(given, message):
    with pytest.raises(InputError, match=message):
        parse_filter(given)


def test_a_filter_chooses_suggestions(studio):
    many = add_many(studio, 40, games_of=4, people=5)
    eve = many.researcher

    def read(**chosen):
        return read_opinions(studio, eve, Filter(**chosen))

    everything = read()
    assert len(everything.suggestions) == 40 and set(everything.games) == set(many.games)
    assert everything.moments == tuple(sorted(everything.moments))
    assert set(read(machines=("topk",)).machines) == {"topk"}
    assert len(read(machines=("topk", "nucleus")).suggestions) == 40
    assert len(read(status="inactive").suggestions) == 0
    # Eight a day: the second of January has those at 0:00 to 21:00.
    [day] = {
        moment.date() for moment in read(since=date(2024, 1, 2), until=date(2024, 1, 2)).moments
    }
    assert day == date(2024, 1, 2)
    assert len(read(since=date(2024, 1, 2), until=date(2024, 1, 2)).suggestions) == 8
    assert set(read(game=many.games[3]).games) == {many.games[3]}
    counts = {person: everything.people.count(person) for person in set(everything.people)}
    least = sorted(counts.values())[-1]
    chosen = {person for person, count in counts.items() if count >= least}
    assert set(read(at_least=least).people) == chosen
    assert set(read(at_most=least - 1).people) == counts.keys() - chosen
    # Of an excluded game nothing is left, unless it is asked for.
    before = last_change(studio)
    exclude_game(studio, eve, many.games[0])
    assert last_change(studio) != before
    assert len(read().suggestions) == 36
    assert len(read(include_excluded=True).suggestions) == 40
    topk = Filter(machines=("topk",))
    assert count_statuses(studio, eve, topk) == {"topk": {"done": 16}}
    assert sum(count_sentences(studio, topk).values()) < sum(count_sentences(studio).values())
    assert list_edits(studio, eve, topk).total == 16


def test_a_machine_and_a_game_that_are_not_there_are_named(studio):
    eve = add_many(studio, 2).researcher
    for read in (read_opinions, list_edits):
        with pytest.raises(InputError, match="machine: no machine is called 'topp'; did you mean"):
            read(studio, eve, Filter(machines=("topp",)))
        with pytest.raises(InputError, match="game: there is no game 'elsewhere'"):
            read(studio, eve, Filter(game="elsewhere"))


def test_the_mark_of_a_change_is_another_after_something_was_published(studio):
    assert last_change(studio) == "|||"
    many = add_many(studio, 1)
    first = last_change(studio)
    assert first == last_change(studio) != "|||"
    marks = [first]
    for is_excluded in (True, False):
        exclude_game(studio, many.researcher, many.games[0], is_excluded=is_excluded)
        marks.append(last_change(studio))
    # Taken in again it is another moment than before: somebody may have another game left out.
    assert len(set(marks)) == 3
    with studio.write() as db:
        moment = datetime(2025, 1, 1, tzinfo=UTC)
        db.execute(suggestions.update().values(published_at=moment))
    assert last_change(studio) != first and len(many.suggestions) == 1
