"""Coming in by a door, coming back, consent and training."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.campaigns.answers import save_answers
from fabula.studio.campaigns.definition import TrainingStory
from fabula.studio.campaigns.opening import set_campaign_state
from fabula.studio.campaigns.raters import (
    close_door,
    enter_campaign,
    forget_rater,
    give_consent,
    list_doors,
    make_csrf,
    make_door,
    read_door,
    read_rater,
    try_training,
)
from fabula.studio.campaigns.showing import read_assignment
from fabula.studio.people import create_person
from fabula.studio.privacy import delete_person, export_person
from fabula.studio.tables import campaign_raters
from fakes.open_campaign import Hand, open_campaign

PID = {"PROLIFIC_PID": "5f0c", "STUDY_ID": "s1", "SESSION_ID": "x"}
TRAINING = (
    TrainingStory("Dull.", "Nothing happens in it.", {"fluency": (1, 2)}),
    TrainingStory("Good.", "It sings.", {"fluency": (4, 5)}),
)


def test_a_link_lets_anybody_in_and_a_browser_is_known_again(studio):
    opened = open_campaign(studio)
    first = enter_campaign(studio, opened.code)
    again = enter_campaign(studio, opened.code, secret=first.secret or "")
    assert again.secret is None and again.rater.id == first.rater.id
    assert enter_campaign(studio, opened.code).rater.number == 2


def test_of_secrets_only_digests_are_kept(studio):
    opened = open_campaign(studio)
    hand = opened.enter()
    with studio.read() as db:
        row = db.execute(select(campaign_raters)).mappings().one()
    assert hand.secret not in str(dict(row)) and make_csrf(hand.secret) not in str(dict(row))


def test_a_forged_code_leads_nowhere(studio):
    open_campaign(studio)
    for verb in (enter_campaign, read_door):
        with pytest.raises(NotFound, match="leads nowhere"):
            verb(studio, "made-up")


def test_a_draft_lets_nobody_in_and_a_closed_campaign_nobody_new(studio):
    opened = open_campaign(studio)
    hand = opened.enter()
    set_campaign_state(studio, opened.owner, "lamps", "closed")
    with pytest.raises(Conflict, match="nobody new"):
        enter_campaign(studio, opened.code)
    assert enter_campaign(studio, opened.code, secret=hand.secret).rater.number == 1


def test_a_door_lets_in_so_many_and_no_more_and_can_be_closed(studio):
    opened = open_campaign(studio)
    door = make_door(studio, opened.owner, "lamps", most=1)
    enter_campaign(studio, door.code)
    with pytest.raises(Conflict, match="enough people"):
        enter_campaign(studio, door.code)
    close_door(studio, opened.owner, "lamps", list_doors(studio, opened.owner, "lamps")[0].id)
    with pytest.raises(Conflict, match="nobody new"):
        enter_campaign(studio, opened.code)
    assert [each.raters for each in list_doors(studio, opened.owner, "lamps")] == [0, 1]


def test_a_crowd_sites_rater_is_one_by_name_and_goes_on_in_another_browser(studio):
    opened = open_campaign(studio, way="prolific")
    hand = opened.enter(**PID)
    held = hand.hold()
    other = opened.enter(**PID)
    assert other.rater.id == hand.rater.id and other.hold().id == held.id
    with pytest.raises(NotAllowed):
        hand.take()


def test_who_forges_a_name_reads_no_answers(studio):
    opened = open_campaign(studio, way="prolific")
    hand = opened.enter(**PID)
    done = hand.hold()
    hand.submit(done, 5)
    held = hand.hold()
    save_answers(*hand.where, held.id, version=0, answers={"fluency": {held.stories[0].id: 2}})
    assert read_assignment(*hand.where, done.id).answers and hand.hold().answers
    forger = opened.enter(**PID)
    assert forger.hold().id == held.id
    assert forger.hold().answers == {} == read_assignment(*forger.where, done.id).answers


def test_the_same_browser_of_a_crowd_sites_rater_keeps_its_secret(studio):
    opened = open_campaign(studio, way="prolific")
    hand = opened.enter(**PID)
    again = enter_campaign(studio, opened.code, parameters=PID, secret=hand.secret)
    assert again.secret is None
    # Somebody else at the same browser is somebody else.
    other = enter_campaign(
        studio, opened.code, parameters=PID | {"PROLIFIC_PID": "77"}, secret=hand.secret
    )
    assert other.rater.number == 2 and other.secret is not None


@pytest.mark.parametrize(
    ("way", "parameters", "problem"),
    [
        ("prolific", {}, "PROLIFIC_PID is missing"),
        ("prolific", {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "names nobody"),
        ("prolific", {"PROLIFIC_PID": "x" * 201}, "names nobody"),
        ("mturk", {"workerId": "w", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, "preview"),
        ("mturk", {"PROLIFIC_PID": "w"}, "workerId is missing"),
    ],
)
def test_an_address_that_names_nobody_lets_nobody_in(studio, way, parameters, problem):
    opened = open_campaign(studio, way=way)
    with pytest.raises(InputError, match=problem):
        enter_campaign(studio, opened.code, parameters=parameters)


def test_an_account_is_known_by_itself_and_sees_earlier_answers_anywhere(studio):
    opened = open_campaign(studio, way="account")
    with pytest.raises(NotAllowed, match="account"):
        enter_campaign(studio, opened.code)
    fay = create_person(studio, None, name="fay", roles=("annotator",))
    first = enter_campaign(studio, opened.code, person=fay)
    again = enter_campaign(studio, opened.code, person=fay)
    assert again.rater.id == first.rater.id and again.rater.secret_at == first.rater.secret_at


def test_who_leaves_the_studio_takes_along_who_rated_and_leaves_the_work(studio):
    opened = open_campaign(studio, way="account")
    fay = create_person(studio, None, name="fay", roles=("annotator",))
    entrance = enter_campaign(studio, opened.code, person=fay)
    hand = Hand(studio, opened.campaign, entrance.rater, entrance.secret or "")
    hand.submit(hand.hold(), 4)
    [rated] = export_person(studio, fay, fay.id)["campaigns"]
    assert [work["state"] for work in rated["work"]] == ["submitted"] and "digest" not in rated
    delete_person(studio, fay, fay.id)
    with studio.read() as db:
        assert db.execute(select(campaign_raters)).one().person_id is None
    assert len(opened.count_accepted()) == 1
    with pytest.raises(NotAllowed):
        read_rater(*hand.where)


def test_consent_comes_first_and_is_given_once(studio):
    opened = open_campaign(studio, consent="You may stop at any time.")
    hand = opened.enter()
    assert hand.take().step == "consent"
    assert give_consent(*hand.where).step == "tasks"
    assert give_consent(*hand.where).step == "tasks"
    assert hand.take().assignment is not None


def test_training_is_passed_story_by_story_with_feedback(studio):
    hand = open_campaign(studio, training=TRAINING, training_tries=2).enter()
    assert hand.take().step == "training"
    with pytest.raises(Conflict, match="story 2 is not the one"):
        try_training(*hand.where, 1, {"fluency": 5})
    wrong = try_training(*hand.where, 0, {"fluency": 5})
    assert (wrong.wrong, wrong.feedback) == (("fluency",), "Nothing happens in it.")
    assert (wrong.tries_left, wrong.step) == (1, "training")
    assert try_training(*hand.where, 0, {"fluency": 1}).wrong == ()
    assert try_training(*hand.where, 1, {"fluency": 4}).step == "tasks"
    with pytest.raises(Conflict, match="nothing to practise"):
        try_training(*hand.where, 0, {"fluency": 1})


def test_who_fails_the_training_is_not_asked_further(studio):
    hand = open_campaign(studio, training=TRAINING, training_tries=1).enter()
    assert try_training(*hand.where, 0, {}).step == "failed"
    turn = hand.take()
    assert (turn.step, turn.assignment, turn.completion) == ("failed", None, None)


def test_a_rater_who_is_forgotten_has_no_name_and_the_work_stays(studio):
    opened = open_campaign(studio, way="prolific")
    hand = opened.enter(**PID)
    hand.submit(hand.hold())
    forget_rater(studio, opened.owner, "lamps", 1)
    with studio.read() as db:
        row = db.execute(select(campaign_raters)).one()
    assert (row.external_id, row.external, row.person_id) == (None, {}, None)
    assert len(opened.count_accepted()) == 1
    with pytest.raises(NotAllowed):
        read_rater(*hand.where)


def test_only_researchers_make_doors(studio):
    open_campaign(studio)
    ann = create_person(studio, None, name="ann")
    with pytest.raises(NotAllowed):
        make_door(studio, ann, "lamps")
