from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError, SettingError
from fabula.learned.negatives import manplts
from fabula.learned.negatives.events import EventTable, read_events
from fabula.learned.negatives.plots import (
    PlottedStory,
    format_plot,
    format_roc,
    parse_plot,
    parse_roc,
    plot_of,
)
from fabula.text.antonyms import Antonyms
from learned.small_stories import ANTONYMS, BAKER, CORPUS, EVENTS, STORIES

PLOT = (
    ("bake", "cake"),
    ("bought", "flour", "lemon", "market"),
    ("oven", "cold", "light"),
    ("neighbour", "opened", "warm", "kitchen"),
    ("happily", "shared", "cake"),
)
OTHERS = (
    (("painted", "boat", "brother"), ("sailed", "island")),
    (("storm", "broke", "mast", "night"), ("rowed",)),
)
SEEDS = range(200)


def inserted(before, after):
    """Keywords of one sentence that another has more of."""
    return list((Counter(after) - Counter(before)).elements())


def test_one_keyword_of_sixteen_is_repeated_in_one_of_five_sentences_and_not_in_front():
    places = Counter()
    for seed in range(2000):
        found = manplts.repeat_keywords(PLOT, seed=seed)
        (n,) = [n for n in range(5) if found[n] != PLOT[n]]  # 5 // 3 sentences
        (word,) = inserted(PLOT[n], found[n])  # 5 % of 16 is 0.8, so 1
        assert any(word in sentence for sentence in PLOT)
        assert found[n][0] == PLOT[n][0]
        places[n] += 1
    # Sentences of 2, 4, 3, 4, 3 keywords weigh 1/3, 1/5, 1/4, 1/5, 1/4; the sum is 37/30.
    for n, weight in enumerate((1 / 3, 1 / 5, 1 / 4, 1 / 5, 1 / 4)):
        assert places[n] / 2000 == pytest.approx(weight * 30 / 37, abs=0.04)


def test_an_event_that_goes_before_a_verb_is_told_after_it_and_the_other_way_round():
    found = {manplts.reorder_events(PLOT, seed=seed, events=EVENTS) for seed in SEEDS}
    told = {tuple(sentence) for plot in found for sentence in plot} - set(PLOT)
    # Verbs by their shape: bought, opened, shared; 15 % of 3 is 0.45, so 1.
    assert told == {
        ("neighbour", "opened", "found key", "warm", "kitchen"),
        ("poverty", "bought", "flour", "lemon", "market"),
        ("happily", "washed dishes", "shared", "cake"),
    }


def test_events_of_long_stories_may_be_joined():
    how = manplts.PlotRecipe(joined=1.0)
    events = EventTable({("open", "HasPrerequisite"): ("find key",)})
    found = {manplts.reorder_events(PLOT, seed=s, events=events, how=how)[3][2] for s in SEEDS}
    assert found == {"then found key", "later found key", "subsequently found key"}


def test_without_a_source_of_events_nothing_is_put_out_of_order():
    assert manplts.reorder_events(PLOT, seed=0, events=None) is None
    assert manplts.reorder_events(PLOT, seed=0, events=EventTable({})) is None


def test_one_sentence_of_five_gets_three_keywords_in_a_row_of_another_story():
    runs = {("painted", "boat", "brother"), ("storm", "broke", "mast"), ("broke", "mast", "night")}
    found = set()
    for seed in SEEDS:
        plot = manplts.substitute_keywords(PLOT, seed=seed, others=OTHERS)
        (new,) = [one for one, old in zip(plot, PLOT, strict=True) if one != old]
        found.add(new)
    assert found == runs


def test_in_long_stories_a_sentence_gets_all_keywords_of_another():
    found = set()
    for seed in SEEDS:
        plot = manplts.substitute_keywords(PLOT, seed=seed, others=OTHERS, how=manplts.WP)
        found |= set(plot) - set(PLOT)
    assert found == {sentence for plot in OTHERS for sentence in plot}


def test_an_antonym_is_inserted_before_one_keyword_that_has_one():
    found = {manplts.contradict_keywords(PLOT, seed=seed, antonyms=ANTONYMS) for seed in SEEDS}
    told = {sentence for plot in found for sentence in plot} - set(PLOT)
    assert told == {
        ("oven", "hot", "cold", "light"),
        ("neighbour", "closed", "opened", "warm", "kitchen"),
    }
    assert manplts.contradict_keywords(PLOT, seed=0, antonyms=Antonyms({})) is None
    assert manplts.contradict_keywords(PLOT, seed=0, antonyms=None) is None


def manipulated(seed, **rest):
    given = {"others": OTHERS, "antonyms": ANTONYMS, "events": EVENTS} | rest
    return manplts.manipulate(PLOT, seed=seed, **given)


def test_two_three_or_four_manipulations_are_equally_frequent_and_so_is_each():
    done = [manipulated(seed).techniques for seed in range(1500)]
    numbers = Counter(map(len, done))
    names = Counter(name for one in done for name in one)
    assert set(numbers) == {2, 3, 4}
    for number in (2, 3, 4):
        assert numbers[number] / 1500 == pytest.approx(1 / 3, abs=0.04)
    for name in manplts.TECHNIQUES:
        assert names[name] / 1500 == pytest.approx(3 / 4, abs=0.04)


def test_in_compat_contradiction_is_never_applied_and_one_index_does_nothing():
    done = [manipulated(seed, compat=True).techniques for seed in range(1500)]
    assert not any("contradiction" in names for names in done)
    # Of 2, 3, 4 draws of four, one is nothing in 2/4, 3/4 and 4/4: mean 3 - 3/4 techniques.
    assert sum(map(len, done)) / 1500 == pytest.approx(2.25, abs=0.06)
    assert set(map(len, done)) == {1, 2, 3}


def test_a_manipulation_that_lacks_its_source_is_named_and_another_stands_in():
    for seed in SEEDS:
        found = manipulated(seed, events=None, antonyms=None)
        assert found.changed and found.plot != PLOT
        assert set(found.techniques) == {"repetition", "substitution"}
        assert set(found.impossible) <= {"order", "contradiction"} <= set(manplts.NEEDS)


@pytest.mark.parametrize("plot", [(), ((),), (("alone",),)])
def test_a_plot_that_cannot_be_tampered_with_comes_back_and_says_so(plot):
    found = manplts.manipulate(plot, others=(), seed=1)
    assert (found.plot, found.changed, found.techniques) == (plot, False, ())
    assert set(found.impossible) == set(manplts.TECHNIQUES)


@pytest.mark.parametrize(
    "settings",
    [{"fewest": 0}, {"fewest": 4, "most": 3}, {"most": 5}, {"repeated": 1.5},
     {"repeated_every": 0}, {"substituted_run": -1}],
)  # fmt: skip
def test_a_recipe_that_makes_no_sense_is_refused(settings):
    with pytest.raises(SettingError):
        manplts.PlotRecipe(**settings)


def rewritten(seed, **rest):
    given = {"others": CORPUS, "antonyms": ANTONYMS, "events": EVENTS} | rest
    return manplts.rewrite(BAKER, seed=seed, **given)


def test_rewriting_changes_a_text_but_for_its_first_sentence():
    names = set()
    for seed in SEEDS:
        found = rewritten(seed)
        assert found.changed and found.sentences[0] == BAKER[0]
        assert len(found.sentences) == 5
        names |= set(found.techniques)
    assert names == set(manplts.TECHNIQUES)


def alone(name, seed):
    """What a rewriting with two techniques of which only one has what it needs does."""
    sources = {"antonyms": None, "events": None} | (
        {"antonyms": ANTONYMS} if name == "contradiction" else {"events": EVENTS}
    )
    how = manplts.PlotRecipe(fewest=4, repeated=0.0, substituted=0.0)
    return manplts.rewrite(BAKER, others=CORPUS, seed=seed, how=how, **sources)


def test_a_contradiction_puts_an_antonym_in_a_words_place():
    found = {alone("contradiction", seed).sentences for seed in SEEDS}
    assert {sentence for story in found for sentence in story} - set(BAKER) == {
        "Her oven was hot and would not light.",
        "A kind neighbour closed his warm kitchen.",
    }


def test_an_event_out_of_order_is_joined_to_its_verb_or_sentence_unless_it_is_a_noun():
    found = {alone("order", seed).sentences for seed in SEEDS}
    assert {sentence for story in found for sentence in story} - set(BAKER) == {
        "A kind neighbour opened his warm kitchen and then found key.",
        "Nora happily washed dishes and then shared the cake with him.",
    }


def test_a_repeated_keyword_takes_the_place_of_one_of_its_tag():
    how = manplts.PlotRecipe(fewest=4, substituted=0.0)
    for seed in SEEDS:
        found = manplts.rewrite(BAKER, others=CORPUS, seed=seed, how=how)
        assert found.techniques == ("repetition",)
        assert set(found.impossible) == {"order", "substitution", "contradiction"}
        words = [one.strip(".").lower() for sentence in BAKER for one in sentence.split()]
        new = [one.strip(".").lower() for sentence in found.sentences for one in sentence.split()]
        assert set(new) <= {*words, "an"}


@pytest.mark.parametrize("story", [(), ("Alone.",), ("First.", "今日は雨。")])
def test_a_text_that_cannot_be_rewritten_comes_back_and_says_so(story):
    found = manplts.rewrite(story, others=CORPUS, seed=1)
    assert (found.sentences, found.changed, found.techniques) == (story, False, ())
    assert set(found.impossible) == set(manplts.TECHNIQUES)


def test_keywords_are_the_content_words_the_rarest_first_to_stay():
    story = ("Tom painted the old boat.", "It was the boat.")
    assert plot_of(story, CORPUS) == (("painted", "old", "boat"), ("boat",))
    assert plot_of(story, CORPUS, most=2)[0] == ("painted", "old")  # boat is there three times


def test_a_plot_is_read_with_either_separator():
    expected = (("old", "boat"), (), ("rowed home",))
    assert parse_plot("old\tboat # # rowed home") == expected
    assert parse_plot("old\tboat </s> </s> rowed home </s>") == expected


@given(
    st.lists(st.lists(st.text("ab c", min_size=1).map(str.strip).filter(bool))).map(
        lambda plot: tuple(tuple(sentence) for sentence in plot)
    ),
    st.sampled_from(["#", "</s>"]),
)
def test_a_plot_that_is_written_is_read_again(plot, separator):
    line = format_plot(plot, separator=separator)
    assert parse_plot(line, separator=separator) == (plot or ((),))


@pytest.mark.parametrize("word", ["a#b", "a\tb", " "])
def test_a_keyword_that_would_be_read_as_another_is_refused(word):
    with pytest.raises(InputError):
        format_plot(((word,),))


def test_a_line_of_the_roc_files_is_read_and_written():
    line = "a trip <EOT> old\tboat # rowed <EOL> tom had a boat . he rowed . @ @"
    story = parse_roc(line)
    assert story == PlottedStory(
        "a trip", (("old", "boat"), ("rowed",)), "tom had a boat . he rowed ."
    )
    assert parse_roc(format_roc(story)) == story
    with pytest.raises(InputError, match="<EOL>"):
        parse_roc("a trip <EOT> old\tboat")


def test_events_of_conceptnet_come_by_weight(tmp_path):
    rows = [("/c/en/eat", f"/c/en/cook_{n}", n) for n in range(12)] + [
        ("/c/en/eat", "/c/en/buy", 4)
    ]
    lines = [
        f"x\t/r/HasPrerequisite\t{start}\t{end}\t{json.dumps({'weight': weight})}"
        for start, end, weight in rows
    ]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines))
    found = read_events(path).of("eat", "HasPrerequisite")
    assert len(found) == 10
    assert found[:2] == ("cook 11", "cook 10")
    assert found[7:9] == ("buy", "cook 4")  # of equal weight, by the alphabet
    assert read_events(path).of("eat", "Causes") == ()


def test_stories_make_plots_that_can_be_tampered_with():
    plots = [plot_of(story, CORPUS) for story in STORIES]
    found = manplts.manipulate(plots[0], others=plots[1:], antonyms=ANTONYMS, events=EVENTS)
    assert found.changed
