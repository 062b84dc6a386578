"""Verdicts: a person's act, with a reason, kept for ever and undone by another."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio import tables
from fabula.studio.campaigns.verdicts import (
    exclude_rater,
    include_rater,
    reject_work,
    restore_work,
)
from fabula.studio.campaigns.work import read_work
from fakes.campaign_work import make_campaign, make_stories, make_work, put_work, spread
from fakes.studio_people import put_person


@pytest.fixture
def researcher(studio):
    person = put_person(studio, "rea", "researcher")
    said = {"relevance": 3, "empathy": 3}
    given = {rater: {f"s{i}": said for i in range(3)} for rater in ("r1", "r2")}
    put_work(studio, person, make_work(make_campaign(), make_stories(3), spread(given)))
    return person


def read(studio):
    return read_work(studio, None, "tales")


def of_rater(studio, name):
    work = read(studio)
    return [one for one in work.submitted if work.raters[one.rater].name == name]


def actions(studio):
    with studio.read() as db:
        return list(db.scalars(select(tables.audit.c.action).order_by(tables.audit.c.id)))


def test_what_is_rejected_and_restored_counts_again_and_both_verdicts_are_kept(studio, researcher):
    ids = [one.id for one in of_rater(studio, "r1")][:2]
    assert reject_work(studio, researcher, "tales", ids, reason="hurried") == tuple(ids)
    assert len(read(studio).accepted) == 4
    assert restore_work(studio, researcher, "tales", ids[:1], reason="a mistake") == (ids[0],)
    assert len(read(studio).accepted) == 5
    by_id = {one.id: one for one in read(studio).submitted}
    assert [v.verdict for v in by_id[ids[0]].verdicts] == ["rejected", "restored"]
    assert [v.reason for v in by_id[ids[0]].verdicts] == ["hurried", "a mistake"]
    assert actions(studio) == ["reject_work", "restore_work"]


def test_restored_work_whose_place_somebody_else_has_is_surplus(studio, researcher):
    [one, *_] = of_rater(studio, "r1")
    reject_work(studio, researcher, "tales", [one.id], reason="hurried")
    with studio.write() as db:
        # One place is wanted now, and r2 has it.
        db.execute(tables.campaign_tasks.update().values(wanted=1))
    restore_work(studio, researcher, "tales", [one.id], reason="a mistake")
    restored = next(each for each in read(studio).assignments if each.id == one.id)
    assert restored.state == "surplus" and not restored.is_rejected
    assert len(read(studio).accepted) == 5


def test_a_second_rejection_changes_nothing(studio, researcher):
    [one, *_] = of_rater(studio, "r1")
    reject_work(studio, researcher, "tales", [one.id], reason="hurried")
    assert reject_work(studio, researcher, "tales", [one.id], reason="again") == ()
    assert restore_work(studio, researcher, "tales", [of_rater(studio, "r2")[0].id]) == ()
    assert len(of_rater(studio, "r1")[0].verdicts) == 1 and actions(studio) == ["reject_work"]


def test_nothing_is_rejected_without_a_reason_or_by_somebody_else(studio, researcher):
    [one, *_] = of_rater(studio, "r1")
    with pytest.raises(InputError, match="needs a reason"):
        reject_work(studio, researcher, "tales", [one.id], reason="  ")
    with pytest.raises(NotAllowed):
        reject_work(studio, put_person(studio, "ann"), "tales", [one.id], reason="no")
    assert len(read(studio).accepted) == 6


def test_one_unknown_assignment_stops_the_whole_verdict(studio, researcher):
    [one, *_] = of_rater(studio, "r1")
    with pytest.raises(NotFound, match="no assignment nowhere"):
        reject_work(studio, researcher, "tales", [one.id, "nowhere"], reason="no")
    assert len(read(studio).accepted) == 6


def test_only_what_was_handed_in_is_judged(studio, researcher):
    [one, *_] = of_rater(studio, "r1")
    with studio.write() as db:
        table = tables.campaign_assignments
        db.execute(table.update().where(table.c.id == one.id).values(state="leased"))
    with pytest.raises(Conflict, match="not submitted"):
        reject_work(studio, researcher, "tales", [one.id], reason="no")


def test_an_excluded_rater_loses_all_work_and_what_is_in_hand(studio, researcher):
    held = of_rater(studio, "r1")[2].id
    with studio.write() as db:
        table = tables.campaign_assignments
        db.execute(table.update().where(table.c.id == held).values(state="leased"))
    done = exclude_rater(studio, researcher, "tales", "r1", reason="copies")
    assert len(done.assignments) == 2
    work = read(studio)
    assert {one.state for one in work.assignments if one.id == held} == {"released"}
    assert all(work.raters[one.rater].name == "r2" for one in work.accepted)
    assert work.raters[done.rater].excluded_at is not None
    with pytest.raises(Conflict, match="r1 is excluded already"):
        exclude_rater(studio, researcher, "tales", "r1", reason="copies")
    with pytest.raises(Conflict, match="take the rater in again first"):
        restore_work(studio, researcher, "tales", done.assignments)


def test_a_rater_who_is_taken_in_again_has_back_what_fell_with_them_and_no_more(studio, researcher):
    [first, *others] = of_rater(studio, "r1")
    reject_work(studio, researcher, "tales", [first.id], reason="hurried")
    exclude_rater(studio, researcher, "tales", "r1", reason="copies")
    back = include_rater(studio, researcher, "tales", "r1", reason="no, a twin")
    assert set(back.assignments) == {one.id for one in others}
    work = read(studio)
    assert [one.is_rejected for one in work.submitted if one.rater == back.rater] == [
        True, False, False,
    ]  # fmt: skip
    assert work.raters[back.rater].excluded_at is None
    with pytest.raises(Conflict, match="not excluded"):
        include_rater(studio, researcher, "tales", "r1")
    with pytest.raises(NotFound, match="no rater r9"):
        exclude_rater(studio, researcher, "tales", "r9", reason="x")
