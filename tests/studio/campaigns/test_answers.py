"""Saving and handing in: once, whole, and by who has the task."""

from __future__ import annotations

import pytest

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.campaigns.answers import release_task, save_answers, submit_answers
from fabula.studio.campaigns.definition import Checks
from fabula.studio.campaigns.showing import list_assignments, read_assignment
from fabula.studio.tables import campaign_raters, now
from fakes.open_campaign import make_stories, open_campaign


def test_what_is_saved_is_there_when_the_page_is_opened_again(studio):
    hand = open_campaign(studio).enter()
    held = hand.hold()
    answers = {"fluency": {held.stories[0].id: 4}}
    saved = save_answers(*hand.where, held.id, version=0, answers=answers, visible_s=12.5)
    again = hand.hold()
    assert (again.answers, again.version, again.visible_s) == (answers, saved.version, 12.5)
    assert saved.version == 1


def test_half_an_answer_can_be_saved_and_not_handed_in(studio):
    hand = open_campaign(studio).enter()
    held = hand.hold()
    save_answers(*hand.where, held.id, version=0, answers={"fluency": {}})
    with pytest.raises(InputError, match=r"fluency: .* not answered yet"):
        submit_answers(*hand.where, held.id, version=1, answers={"fluency": {}})
    assert hand.hold().id == held.id


def test_a_stale_tab_is_told_and_changes_nothing(studio):
    hand = open_campaign(studio).enter()
    held = hand.hold()
    story = held.stories[0].id
    save_answers(*hand.where, held.id, version=0, answers={"fluency": {story: 4}})
    for verb in (save_answers, submit_answers):
        with pytest.raises(Conflict, match="another window has saved version 1"):
            verb(*hand.where, held.id, version=0, answers={"fluency": {story: 1}})
    assert hand.hold().answers == {"fluency": {story: 4}}


def test_what_was_saved_but_not_acknowledged_may_be_sent_again(studio):
    hand = open_campaign(studio).enter()
    held = hand.hold()
    answers = {"fluency": {held.stories[0].id: 4}}
    first = save_answers(*hand.where, held.id, version=0, answers=answers)
    again = save_answers(*hand.where, held.id, version=0, answers=answers)
    assert first.version == again.version == 1
    assert submit_answers(*hand.where, held.id, version=0, answers=answers).state == "submitted"


def test_the_same_handed_in_twice_is_one_and_another_is_refused(studio):
    opened = open_campaign(studio)
    hand = opened.enter()
    held = hand.hold()
    receipt = hand.submit(held, 4)
    assert hand.submit(held, 4) == receipt
    with pytest.raises(Conflict, match="handed in, with other answers"):
        hand.submit(held, 2)
    for verb in (lambda: release_task(*hand.where, held.id),
                 lambda: save_answers(*hand.where, held.id, version=1, answers={})):  # fmt: skip
        with pytest.raises(Conflict, match="handed in"):
            verb()
    assert read_assignment(*hand.where, held.id).answers == {"fluency": {held.stories[0].id: 4}}
    assert opened.count_accepted() == {held.stories[0].id: 1}


def test_somebody_elses_task_is_not_there(studio):
    opened = open_campaign(studio)
    hand, other = opened.enter(), opened.enter()
    held = hand.hold()
    other.hold()
    for verb in (
        lambda: read_assignment(*other.where, held.id),
        lambda: other.submit(held),
        lambda: save_answers(*other.where, held.id, version=0, answers={}),
        lambda: release_task(*other.where, held.id),
    ):
        with pytest.raises(NotFound, match="no task of yours"):
            verb()


def test_an_excluded_rater_hands_nothing_in(studio):
    hand = open_campaign(studio).enter()
    held = hand.hold()
    with studio.write() as db:
        db.execute(campaign_raters.update().values(excluded_at=now()))
    assert hand.take().step == "excluded"
    with pytest.raises(NotAllowed):
        hand.submit(held)


def test_answers_are_checked_before_they_are_kept(studio):
    hand = open_campaign(studio, checks=Checks(character=True)).enter()
    held = hand.hold()
    story = held.stories[0].id
    for answers, problem in (
        ({"fluency": {story: 6}}, "fluency: 6 will not do"),
        ({"fluency": {story: True}}, "fluency: True will not do"),
        ({"fluency": {"0" * 32: 3}}, "is not in this task"),
        ({"fluency": 3}, "an answer for each story"),
        ({"fluencie": {story: 3}}, "did you mean 'fluency'"),
        ({"fluency": {story: 3}}, "_character"),
    ):
        with pytest.raises(InputError, match=problem):
            submit_answers(*hand.where, held.id, version=0, answers=answers)
    with pytest.raises(InputError, match="visible_s"):
        save_answers(*hand.where, held.id, version=0, answers={}, visible_s=float("nan"))
    assert hand.submit(held, _character={story: "Mina"}).state == "submitted"


def test_an_instructed_answer_is_kept_beside_what_was_asked(studio):
    hand = open_campaign(studio, make_stories(2, 2), checks=Checks(instructed=2)).enter()
    hand.submit(hand.hold())
    held = hand.hold()
    assert held.instructed is not None
    with pytest.raises(InputError, match="_instructed"):
        hand.submit(held)
    hand.submit(held, _instructed=1)
    answers = read_assignment(*hand.where, held.id).answers
    assert answers["_instructed"] == {"asked": held.instructed.value, "given": 1}


def test_a_rater_finds_what_they_did_in_order(studio):
    hand = open_campaign(studio).enter()
    first = hand.hold()
    hand.submit(first)
    second = hand.hold()
    assert [(each.id, each.number, each.state) for each in list_assignments(*hand.where)] == [
        (first.id, 1, "submitted"),
        (second.id, 2, "leased"),
    ]
