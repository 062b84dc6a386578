"""What spaCy's small model makes of a text, and what is said without it."""

from __future__ import annotations

import pytest

from fabula.core.errors import PackageMissing
from fabula.core.score import Missing, Status
from fabula.models.reading import tagging
from fabula.models.reading.tagging import find_entities, parse_text, tag_text, tagger_trait


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_words_have_parts_of_speech_and_names_are_found() -> None:
    text = "Mary met two wolves in Paris on Monday."
    tagged = tag_text(text)
    words = {text[word.start : word.stop]: word.tag for word in tagged.words}
    assert words["Mary"] == words["Paris"] == "PROPN"
    assert (words["wolves"], words["met"], words["two"]) == ("NOUN", "VERB", "NUM")
    # Numbers and days are entities, and no names.
    assert [text[start:stop] for start, stop in tagged.names] == ["Mary", "Paris"]
    assert "two" in [text[slice(*place)] for _, place in find_entities(text)]
    assert tagger_trait(tags=True) == tagger_trait()
    assert "spacy_small@" in tagger_trait()


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_a_parse_says_lemmas_tags_and_what_depends_on_what() -> None:
    text = "Two fire trucks  came.\n\nThey were red."
    first, second = parse_text(text)
    assert [word.text for word in first] == ["Two", "fire", "trucks", "came", "."]
    assert (first[1].relation, first[1].head) == ("compound", 2)
    assert (first[2].lemma, first[2].tag) == ("truck", "NNS")
    assert (first[3].relation, first[3].head) == ("ROOT", 3)
    assert [text[word.start : word.stop] for word in second] == ["They", "were", "red", "."]
    assert parse_text(" \n ") == parse_text("") == ()
    assert tagger_trait(parses=True) == tagger_trait()


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_places_are_those_of_the_text_as_it_was_given() -> None:
    assert tag_text("") == ((), ())
    text = "\ud83d 🙂  Then \n Mary left"
    assert [text[word.start : word.stop] for word in tag_text(text).words][-2:] == ["Mary", "left"]
    for long in ("x" * 3_000, "so it is " * 6_000):
        with pytest.raises(Missing) as missing:
            tag_text(long)
        assert missing.value.status is Status.TOO_LONG


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "find_spec", lambda name: None)
    for read in (tagger_trait, lambda: tag_text("Mary left")):
        with pytest.raises(PackageMissing, match="spacy is not installed"):
            read()
