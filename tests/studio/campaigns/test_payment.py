"""Who is to be paid what, under the names of crowd sites."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio import tables
from fabula.studio.campaigns.definition import Pay
from fabula.studio.campaigns.payment import list_payments
from fabula.studio.campaigns.raters import forget_rater
from fabula.studio.campaigns.verdicts import reject_work
from fabula.studio.campaigns.work import read_work
from fakes.campaign_work import make_campaign, make_stories, make_work, put_work, spread
from fakes.studio_people import put_person


@pytest.fixture
def researcher(studio):
    """A campaign with two raters: r1 did three tasks, r2 one."""
    person = put_person(studio, "rea", "researcher")
    said = {"relevance": 3, "empathy": 3}
    given = {"r1": {f"s{i}": said for i in range(3)}, "r2": {"s0": said}}
    campaign = make_campaign(pay=Pay(0.1, "EUR", 60))
    put_work(studio, person, make_work(campaign, make_stories(3), spread(given)))
    return person


def owed(studio):
    return [
        (each.rater, each.name, each.accepted, each.rejected, each.amount)
        for each in list_payments(studio, None, "tales")
    ]


def test_raters_are_owed_for_what_nobody_rejected(studio, researcher):
    assert owed(studio) == [("r1", "crowd-1", 3, 0, 0.3), ("r2", "crowd-2", 1, 0, 0.1)]
    first = read_work(studio, None, "tales").submitted[0]
    reject_work(studio, researcher, "tales", [first.id], reason="hurried")
    assert owed(studio) == [("r1", "crowd-1", 2, 1, 0.2), ("r2", "crowd-2", 1, 0, 0.1)]
    assert {each.currency for each in list_payments(studio, researcher, "tales")} == {"EUR"}


def test_who_was_forgotten_has_no_name_there(studio, researcher):
    forget_rater(studio, researcher, "tales", 1)
    assert owed(studio)[0] == ("r1", "", 3, 0, 0.3)


def test_names_are_for_researchers_and_looking_is_written_down(studio, researcher):
    with pytest.raises(NotAllowed):
        list_payments(studio, put_person(studio, "ann"), "tales")
    with pytest.raises(NotFound, match="no campaign other"):
        list_payments(studio, researcher, "other")
    list_payments(studio, researcher, "tales")
    with studio.read() as db:
        rows = db.execute(select(tables.audit.c.action, tables.audit.c.person_id)).all()
    assert [tuple(row) for row in rows] == [("list_payments", researcher.id)]
