"""Campaigns are kept as they were asked for, and go from draft to open to closed."""

from __future__ import annotations

import io

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.core.story import Story
from fabula.studio.campaigns.definition import Show
from fabula.studio.campaigns.opening import (
    create_campaign,
    find_campaign,
    list_campaigns,
    set_campaign_state,
)
from fabula.studio.campaigns.showing import read_picture
from fabula.studio.campaigns.stories import Material
from fabula.studio.people import create_person
from fabula.studio.tables import campaign_stories, campaigns
from fakes.open_campaign import make_campaign_definition, make_stories, open_campaign


@pytest.fixture
def dan(studio):
    return create_person(studio, None, name="dan", roles=("researcher",))


def test_a_campaign_comes_back_as_it_was_given(studio, dan):
    definition = make_campaign_definition(consent="Yes?", show=Show(prompt=True, fields=("card",)))
    stories = [Material(story, {"card": "sword"}) for story in make_stories()]
    made = create_campaign(studio, dan, definition, stories)
    assert made.definition == definition and made.state == "draft"
    assert find_campaign(studio, dan, "lamps") == made == find_campaign(studio, None, made.id)
    with studio.read() as db:
        kept = db.execute(select(campaign_stories).order_by(campaign_stories.c.name)).all()
    assert [(row.name, row.text, row.extra) for row in kept] == sorted(
        (each.story.id, each.story.text, {"card": "sword"}) for each in stories
    )


def test_the_digest_is_that_of_what_is_asked(studio, dan):
    digests = [
        create_campaign(
            studio, dan, make_campaign_definition(name=name), make_stories(items)
        ).digest
        for name, items in (("one", 2), ("two", 2), ("three", 3))
    ]
    assert len(set(digests)) == 3


def test_a_name_is_that_of_one_campaign(studio, dan):
    create_campaign(studio, dan, make_campaign_definition(), make_stories())
    with pytest.raises(Conflict, match="there is a campaign lamps already"):
        create_campaign(studio, dan, make_campaign_definition(), make_stories())


def test_a_campaign_of_nothing_or_of_two_stories_with_one_name_is_refused(studio, dan):
    for stories in ([], [Story("a", "One."), Story("a", "Two.")], [Story("a", " ")]):
        with pytest.raises(InputError):
            create_campaign(studio, dan, make_campaign_definition(), stories)
    with studio.read() as db:
        assert db.execute(select(campaigns)).all() == []


def test_only_researchers_make_see_and_open_campaigns(studio, dan, author):
    create_campaign(studio, dan, make_campaign_definition(), make_stories())
    for verb in (
        lambda: create_campaign(studio, author, make_campaign_definition(name="x"), make_stories()),
        lambda: find_campaign(studio, author, "lamps"),
        lambda: list_campaigns(studio, author),
        lambda: set_campaign_state(studio, author, "lamps", "open"),
    ):
        with pytest.raises(NotAllowed):
            verb()
    with pytest.raises(NotFound, match="no campaign lamp"):
        find_campaign(studio, dan, "lamp")


def test_a_campaign_opens_pauses_closes_and_opens_again(studio, dan):
    create_campaign(studio, dan, make_campaign_definition(), make_stories())
    with pytest.raises(Conflict, match="is a draft"):
        set_campaign_state(studio, dan, "lamps", "paused")
    opened = set_campaign_state(studio, dan, "lamps", "open")
    assert set_campaign_state(studio, dan, "lamps", "open") == opened
    assert set_campaign_state(studio, dan, "lamps", "paused").state == "paused"
    closed = set_campaign_state(studio, dan, "lamps", "closed")
    assert closed.closed_at is not None and closed.opened_at == opened.opened_at
    assert set_campaign_state(studio, dan, "lamps", "open").closed_at is None


def test_the_list_says_how_far_each_is(studio):
    opened = open_campaign(studio)
    hand = opened.enter()
    hand.submit(hand.hold())
    hand.hold()
    [(campaign, progress)] = list_campaigns(studio, opened.owner)
    assert campaign.name == "lamps"
    assert (progress.stories, progress.tasks, progress.wanted) == (6, 6, 12)
    assert (progress.accepted, progress.leased, progress.raters) == (1, 1, 1)


def test_pictures_are_kept_small_upright_and_without_what_a_camera_wrote(studio, tmp_path):
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112], exif[0x010F] = 6, "A camera of mine"
    path = tmp_path / "photo.jpg"
    image.new("RGB", (3000, 1000), "navy").save(path, exif=exif)
    story = Story("a", "One.", images=(str(path),))
    opened = open_campaign(studio, [story], show=Show(pictures=True))
    hand = opened.enter()
    digest = hand.hold().stories[0].pictures[0]
    picture = read_picture(*hand.where, digest)
    assert picture.media_type == "image/jpeg" and b"A camera of mine" not in picture.data
    with image.open(io.BytesIO(picture.data)) as served:
        assert served.size == (533, 1600) and not served.getexif()
    with pytest.raises(NotFound):
        read_picture(*hand.where, "0" * 64)
