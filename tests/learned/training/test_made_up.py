"""Made-up stories: the same by a seed, sound from sentence to sentence, and games all of them."""

from __future__ import annotations

import re
from itertools import pairwise

from fabula.learned.training.games import make_games
from fabula.learned.training.made_up import tell_stories
from fabula.text.sentences import split_sentences


def test_stories_are_the_same_by_their_seed_and_differ_otherwise() -> None:
    first = list(tell_stories(30, seed=4))
    assert first == list(tell_stories(30, seed=4))
    assert first[:9] != list(tell_stories(9, seed=5))
    assert [story.text for story in tell_stories(9, seed=4)] == [story.text for story in first[:9]]
    assert len({story.text for story in first}) == len({story.id for story in first}) == 30


def test_what_was_hidden_is_found_where_it_lay_and_only_then() -> None:
    hidden = re.compile(r"(?:hid the .*|buried it|behind) in (\w+)")
    found = re.compile(r"(?:went to (\w+) and found|In (\w+), \w+ stumbled|dug up .* in (\w+))")
    finds = 0
    for story in tell_stories(200):
        place = ""
        for sentence in split_sentences(story.text)[1:]:
            if told := found.search(sentence):
                assert place and place in told.groups(), story.text
                place, finds = "", finds + 1
            if told := hidden.search(sentence):
                assert not place
                place = told[1]
        assert not place
    assert finds > 100


def test_who_gives_a_thing_is_who_got_it() -> None:
    given = re.compile(r"(\w+) gave the .* to (\w+)\.")
    chains = [
        (one, other)
        for story in tell_stories(600)
        for one, other in pairwise(map(given.search, split_sentences(story.text)))
        if one and other
    ]
    assert len(chains) > 10 and all(one[2] == other[1] for one, other in chains)


def test_every_made_up_story_becomes_a_game() -> None:
    made = list(make_games(tell_stories(60)))
    assert [each.left_out for each in made if not each.game] == []
    games = [each.game for each in made if each.game]
    assert all(2 <= len(game["characters"]) <= 4 for game in games)
    entries = [entry for game in games for scene in game["scenes"] for entry in scene["entries"]]
    played = [entry for entry in entries if entry["cards_played_on_challenge"]]
    assert len(played) > len(entries) / 2
