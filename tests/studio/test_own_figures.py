"""Authors may read figures of what they asked for themselves, and of nothing else."""

from __future__ import annotations

import pytest

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio.diffs import list_edits, stream_edits
from fabula.studio.filters import Filter, parse_filter
from fabula.studio.kept_words import read_kept_words
from fabula.studio.quality import count_sentences, count_statuses, read_opinions
from fakes.studio_people import put_person
from fakes.studio_publishing import begin_game, publish


def test_an_author_reads_of_their_own(studio):
    ann, ben = put_person(studio, "ann"), put_person(studio, "ben")
    publish(studio, begin_game(studio, ann, "a"), "d", "Grey ferry crossed rivers.", fluency=4)
    publish(studio, begin_game(studio, ben, "b"), "d", "Snow fell.", comment="cold")
    own = Filter(author=ben.id)
    opinions = read_opinions(studio, ben, own)
    assert opinions.people == (ben.id,) and opinions.values[0, -1] == 0.0
    assert count_statuses(studio, ben, own) == {"one": {"done": 1}}
    assert count_sentences(studio, own) == {} and count_sentences(studio) == {0: 1}
    assert read_kept_words(studio, ben, own).machines["one"].waiting == 1
    [edit] = list_edits(studio, ben, own).edits
    assert (edit.published, edit.comments) == ("Snow fell.", ("cold",))
    assert [each.published for each in stream_edits(studio, ben, own)] == ["Snow fell."]


@pytest.mark.parametrize("read", [read_opinions, count_statuses, read_kept_words, list_edits])
def test_nobody_reads_of_another_by_a_filter(studio, read):
    ann, ben = put_person(studio, "ann"), put_person(studio, "ben")
    for chosen in (Filter(author=ann.id), Filter()):
        with pytest.raises((NotAllowed, NotFound)):
            read(studio, ben, chosen)


def test_no_address_says_whose_figures_are_meant():
    assert parse_filter({"author": "somebody"}) == Filter()
    assert Filter(author="somebody").query() == {}
