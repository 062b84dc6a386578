"""Tasks are given out: exactly as often as wanted, whoever leaves, comes late or is rejected."""

from __future__ import annotations

import itertools
import threading
from collections import Counter

import pytest

from fabula.core.errors import NotAllowed
from fabula.studio.campaigns.answers import release_task, save_answers
from fabula.studio.campaigns.definition import Checks, PlantedStory, Question
from fabula.studio.campaigns.opening import read_progress, set_campaign_state
from fabula.studio.campaigns.showing import read_assignment
from fabula.studio.campaigns.verdicts import exclude_rater
from fabula.studio.tables import campaign_assignments, campaign_tasks
from fakes.open_campaign import make_stories, open_campaign


def test_every_task_is_given_to_as_many_raters_as_wanted_and_no_more(studio):
    opened = open_campaign(studio)
    done = [opened.enter().rate_all() for _ in range(3)]
    assert [len(each) for each in done] == [6, 6, 0]
    assert set(opened.count_accepted().values()) == {2}


def test_raters_see_each_system_equally_often_and_no_item_twice_in_a_row(studio):
    opened = open_campaign(studio, make_stories(8, 3), raters=1, most_tasks=7)
    for _ in range(3):
        texts = [each.stories[0].text.split() for each in opened.enter().rate_all()]
        seen = Counter(words[-1] for words in texts)
        assert sorted(seen.values()) == [2, 2, 3]
        assert all(one[1] != other[1] for one, other in itertools.pairwise(texts))


def test_who_asks_again_gets_the_same_task(studio):
    hand = open_campaign(studio).enter()
    first = hand.hold()
    assert hand.hold().id == first.id


def test_a_rater_is_done_after_most_tasks_and_is_given_the_code(studio):
    hand = open_campaign(studio, most_tasks=2).enter()
    assert (hand.take().most, len(hand.rate_all())) == (2, 2)
    turn = hand.take()
    assert (turn.step, turn.done, turn.completion) == ("finished", 2, "C0DE")


def test_who_finds_nothing_to_do_is_given_no_code(studio):
    opened = open_campaign(studio, make_stories(1, 1), raters=1)
    opened.enter().rate_all()
    turn = opened.enter().take()
    assert (turn.step, turn.completion) == ("finished", None)


def test_a_place_whose_lease_ran_out_goes_to_another_and_its_rater_gets_another_task(studio):
    opened = open_campaign(studio, make_stories(2, 1), raters=1)
    slow, quick = opened.enter(), opened.enter()
    first = slow.hold()
    opened.expire(first)
    assert len(quick.rate_all()) == 2
    assert slow.take().step == "finished"
    assert set(opened.count_accepted().values()) == {1}


def test_who_comes_back_late_keeps_the_place_as_long_as_nobody_took_it(studio):
    opened = open_campaign(studio, make_stories(2, 1), raters=1)
    hand = opened.enter()
    first = hand.hold()
    opened.expire(first)
    again = hand.hold()
    assert again.id == first.id and again.leased_until > first.opened_at
    assert hand.submit(again).state == "submitted"


def test_saving_holds_a_place(studio):
    opened = open_campaign(studio, make_stories(1, 1), raters=1)
    hand = opened.enter()
    held = hand.hold()
    opened.expire(held)
    save_answers(*hand.where, held.id, version=0, answers={})
    assert opened.enter().take().step == "finished"


def test_work_that_comes_when_its_place_is_taken_is_kept_as_surplus(studio):
    opened = open_campaign(studio, make_stories(1, 1), raters=1)
    slow, quick = opened.enter(), opened.enter()
    late = slow.hold()
    opened.expire(late)
    assert quick.submit(quick.hold()).state == "submitted"
    receipt = slow.submit(late, 5)
    assert receipt.state == "surplus"
    assert slow.submit(late, 5) == receipt
    assert set(opened.count_accepted().values()) == {1}
    assert read_assignment(*slow.where, late.id).answers == {"fluency": {late.stories[0].id: 5}}
    # It counts as done, for pay.
    assert slow.take().completion == "C0DE"


def submit_too_late(studio):
    """One place, filled by a quick rater while a slow one, r1, still writes: theirs is surplus."""
    opened = open_campaign(studio, make_stories(1, 1), raters=1)
    slow, quick = opened.enter(), opened.enter()
    late = slow.hold()
    opened.expire(late)
    done = quick.hold()
    quick.submit(done)
    slow.submit(late)
    return opened, slow, late, done


def test_surplus_work_takes_the_next_place_that_opens(studio):
    opened, slow, late, done = submit_too_late(studio)
    third = opened.enter()
    opened.reject(done)
    assert third.take().step == "finished"
    assert read_assignment(*slow.where, late.id).state == "submitted"
    assert set(opened.count_accepted().values()) == {1}


def test_surplus_work_of_a_rater_who_is_excluded_takes_no_place(studio):
    opened, _, _, done = submit_too_late(studio)
    third = opened.enter()
    exclude_rater(studio, opened.owner, "lamps", "r1", reason="made up")
    opened.reject(done)
    assert len(third.rate_all()) == 1
    assert set(opened.count_accepted().values()) == {1}


def test_rejected_work_opens_its_place_for_another_rater(studio):
    opened = open_campaign(studio, make_stories(1, 1), raters=1)
    first, second = opened.enter(), opened.enter()
    done = first.hold()
    first.submit(done)
    opened.reject(done)
    assert first.take().step == "finished"
    assert len(second.rate_all()) == 1
    assert set(opened.count_accepted().values()) == {1}


def test_a_task_that_was_given_back_comes_again_when_nothing_else_is_left(studio):
    opened = open_campaign(studio, make_stories(2, 1), raters=1)
    hand = opened.enter()
    first = hand.hold()
    save_answers(*hand.where, first.id, version=0, answers={"fluency": {first.stories[0].id: 2}})
    release_task(*hand.where, first.id)
    second = hand.hold()
    assert second.id != first.id
    hand.submit(second)
    again = hand.hold()
    assert again.id == first.id and again.answers == {"fluency": {first.stories[0].id: 2}}


def test_a_paused_campaign_gives_nothing_new_and_takes_what_is_being_worked_on(studio):
    opened = open_campaign(studio)
    hand, other = opened.enter(), opened.enter()
    held = hand.hold()
    set_campaign_state(studio, opened.owner, "lamps", "paused")
    assert hand.hold().id == held.id
    assert other.take().step == "paused"
    assert hand.submit(held).state == "submitted"
    assert hand.take().step == "paused"


def test_what_comes_in_after_the_end_is_kept_and_changes_no_count(studio):
    opened = open_campaign(studio, make_stories(1, 1))
    hand = opened.enter()
    held = hand.hold()
    set_campaign_state(studio, opened.owner, "lamps", "closed")
    assert hand.submit(held).state == "surplus"
    assert opened.count_accepted() == {}
    assert hand.take().step == "finished"


def test_checks_come_among_the_tasks_of_each_rater_and_hold_no_places(studio):
    opened = open_campaign(
        studio,
        make_stories(10, 2),
        raters=1,
        checks=Checks(planted=5, duplicates=5),
        planted=(PlantedStory("bad bad"), PlantedStory("worse worse")),
    )
    done = opened.enter().rate_all()
    with studio.read() as db:
        query = campaign_assignments.join(
            campaign_tasks, campaign_tasks.c.id == campaign_assignments.c.task_id
        ).select()
        kinds = Counter(row.kind for row in db.execute(query))
        progress = read_progress(db, opened.campaign.id)
    assert kinds["story"] == 20 and kinds["planted"] == 2 and kinds["duplicate"] >= 3
    assert len(done) == kinds.total() and progress.accepted == progress.wanted == 20
    first, texts = {}, [each.stories[0].text for each in done]
    for place, text in enumerate(texts):
        assert place - first.setdefault(text, place) not in (1, 2)


def test_stories_of_a_task_are_shown_in_both_orders(studio):
    question = Question("better", "best", "Which is better?")
    opened = open_campaign(studio, make_stories(1, 2), unit="pair", questions=(question,))
    orders = [tuple(story.id for story in opened.enter().hold().stories) for _ in range(2)]
    assert orders[0] == orders[1][::-1]


def test_a_rater_sees_what_the_campaign_shows_and_not_who_wrote_it(studio):
    story = open_campaign(studio).enter().hold().stories[0]
    assert (story.prompt, story.references, story.system, dict(story.fields)) == (
        None,
        (),
        None,
        {},
    )


def test_a_secret_of_another_campaign_opens_nothing(studio):
    opened = open_campaign(studio)
    hand = opened.enter()
    hand.secret = "made up"
    with pytest.raises(NotAllowed, match="not known in this campaign"):
        hand.take()


def test_many_who_ask_at_once_share_the_places_and_nobody_gets_one_too_many(studio):
    opened = open_campaign(studio, make_stories(4, 2), raters=3)
    hands = [opened.enter() for _ in range(8)]
    faults = []

    def rate(hand):
        try:
            hand.rate_all()
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=rate, args=(hand,)) for hand in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sorted(opened.count_accepted().values()) == [3] * 8


def test_two_tabs_of_one_rater_get_one_task(studio):
    hand = open_campaign(studio).enter()
    taken = []
    threads = [threading.Thread(target=lambda: taken.append(hand.hold().id)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 6 and len(set(taken)) == 1
