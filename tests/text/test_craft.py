"""Craft checks on texts of ours, with values counted by hand."""

from __future__ import annotations

from contextlib import suppress

import pytest

from fabula.text.craft.diction import (
    find_adverbs,
    find_filter_words,
    find_passives,
    find_tag_adverbs,
    find_tag_verbs,
)
from fabula.text.craft.echoes import find_echoes, find_said_twice
from fabula.text.craft.openings import (
    find_even_lengths,
    find_repeated_openings,
    find_repeated_paragraphs,
    measure_rhythm,
)
from fabula.text.craft.prose import Finding, NothingToCheck, Prose, find_longest_run
from fabula.text.craft.telling import (
    find_late_lead,
    find_late_names,
    find_person_slips,
    find_tense_slips,
)
from fakes.factories import within

# Twenty words in four sentences that show none of the habits.
PLAIN = (
    "The mill stood above the river. Nobody went there after dark. "
    "Rain came from the hills. In spring the wheel turned again. "
)
CHECKS = [
    find_repeated_openings, find_repeated_paragraphs, measure_rhythm, find_even_lengths,
    find_echoes, find_said_twice, find_filter_words, find_adverbs, find_passives, find_tag_verbs,
    find_tag_adverbs, find_tense_slips, find_person_slips, find_late_lead, find_late_names,
]  # fmt: skip


def spots(text: str, finding: Finding) -> list[str]:
    return [text[start:end] for start, end in finding.spots]


def quote(text: str, finding: Finding) -> str:
    return text[slice(*finding.passage)]


def test_what_is_spoken_or_set_off_is_not_told():
    text = (
        "He sat. \"I was tired,\" he said. *I will go now.* “Then go!” cried Ann. 'Yes,' he said."
    )
    told = [word.word for word in Prose(text).told]
    assert told == ["he", "sat", "he", "said", "cried", "ann", "he", "said"]


def test_a_quotation_mark_too_many_does_not_turn_the_rest_inside_out():
    text = 'She "ran. "Stop!" he called. She went on. "Why?" he asked. The road was empty.'
    told = " ".join(word.word for word in Prose(text).told)
    assert told.endswith("he called she went on he asked the road was empty")
    assert [word.word for word in Prose("`` Go , '' she said .").told] == ["she", "said"]
    # A speech of several paragraphs opens each of them and closes the last.
    text = '"One thing.\n"Another thing."\nHe left.'
    assert [word.word for word in Prose(text).told] == ["he", "left"]


def test_the_longest_run_is_the_first_of_several_and_none_equals_nothing():
    assert find_longest_run(["a", "b", "b", "c", "c"]) == (1, 3)
    assert find_longest_run([None, None, "a"]) == (2, 3)
    assert find_longest_run([]) == (0, 0)


def test_sentences_in_a_row_that_begin_alike_are_counted_and_placed():
    text = PLAIN + "He ran. He hid in the barn. He waited for dawn. Then he slept."
    finding = find_repeated_openings(Prose(text))
    # Eight told sentences make seven steps, two of them from He to He.
    assert finding.values == (pytest.approx(2 / 7), 3.0, 1.0)
    assert spots(text, finding) == ["He", "He", "He"]
    assert quote(text, finding) == "He ran. He hid in the barn. He waited for dawn."
    assert finding.said == "three sentences in a row begin with “He”"


def test_speech_ends_a_run_of_openings():
    text = PLAIN + 'He ran. He hid. "Who is there?" He waited.'
    assert find_repeated_openings(Prose(text)).values[1] == 2.0


def test_paragraphs_that_begin_alike_are_told_of_by_themselves():
    block = "He went up to the mill and looked in. Nobody was there."
    text = f"{PLAIN}\n\n{block}\n\n{block}\n\n{block}"
    finding = find_repeated_paragraphs(Prose(text))
    assert finding.values[2] == 3.0
    assert finding.said == "three paragraphs in a row begin with “He”"
    assert [text[start - 1] for start, _ in finding.spots] == ["\n"] * 3
    flat = text.replace("\n\n", " ")
    assert find_repeated_paragraphs(Prose(flat)).values[2] == 1.0


def test_wrapped_lines_are_no_paragraphs():
    lines = "The mill stood\nabove the river\nand the weir."
    assert len(Prose(f"{lines}\n\n{lines}").paragraphs) == 2
    assert len(Prose(f"{lines}\r\n\r\n{lines}".replace("\n", "\r\n")).paragraphs) == 2


def test_rhythm_is_deviation_over_mean_and_the_longest_even_run():
    text = "One two three four. " * 3 + "One. One two three four five six seven eight nine ten. "
    text += "One two."
    finding = measure_rhythm(Prose(text))
    # Lengths 4 4 4 1 10 2: mean 25/6, squares 153, variance 25.5 − 17.36.
    assert finding.values == (pytest.approx((153 / 6 - (25 / 6) ** 2) ** 0.5 / (25 / 6)), 3.0)
    assert finding.said == "three sentences in a row have 4 words"
    assert find_even_lengths(Prose(text)).said.endswith("every second one has 2 to 4 words")


def test_even_runs_give_up_what_does_not_fit_and_go_on():
    lengths = [9, 10, 11, 12, 12, 11, 4, 11]
    text = " ".join(" ".join(["Word"] * length) + "." for length in lengths)
    finding = measure_rhythm(Prose(text))
    # 9 to 11 fit; with 12 the nine falls out; 10 to 12 are five; four words end it.
    assert finding.values[1] == 5.0
    assert finding.said == "five sentences in a row have 10 to 12 words"


def test_a_word_soon_after_itself_is_an_echo():
    text = PLAIN + "A lantern hung on the gate, and beside the lantern lay a rope."
    finding = find_echoes(Prose(text))
    assert spots(text, finding) == ["lantern", "lantern"]
    assert finding.said == "“lantern” comes again after eight words"
    assert finding.values == (pytest.approx(100 / len(Prose(text).words)),)


@pytest.mark.parametrize(
    "more",
    [
        "Higher and higher it rose above the trees.",  # meant: within three words
        "Tom came in. The others knew Tom well.",  # a name
        "He made a fire. The fire burned. The fire grew. Then the fire died.",  # the theme
        '"A lantern!" he cried. "Which lantern?"',  # spoken
    ],
)
def test_what_is_meant_named_spoken_or_a_theme_is_no_echo(more):
    assert find_echoes(Prose(PLAIN + more)).values == (0.0,)


def test_a_sentence_that_says_what_one_before_said_is_found():
    again = "Dark, broken windows watched the empty street."
    text = f"The broken windows of the house watched a dark empty street. {PLAIN}{again}"
    finding = find_said_twice(Prose(text))
    assert finding.values == (pytest.approx(1 / 6),)
    assert quote(text, finding) == again
    assert (
        finding.said
        == "this says again what “The broken windows of the house watched …” said before"
    )


def test_a_loop_is_said_again_from_its_second_round_on():
    text = "The old miller carried heavy sacks of flour. " * 10
    assert find_said_twice(Prose(text)).values == (0.9,)


def test_persons_who_perceive_are_filters():
    text = PLAIN + "She could just hear the water. He saw a light. The old man saw nothing."
    finding = find_filter_words(Prose(text))
    assert spots(text, finding) == ["She could just hear", "He saw"]
    assert finding.values == (pytest.approx(100 * 2 / len(Prose(text).words)),)
    assert finding.said.startswith("someone sees, hears or feels what there is twice: “she could")


def test_adverbs_are_words_on_ly_that_are_no_others():
    text = PLAIN + "The family rose early and slowly, silently ate the only loaf. “Really!”"
    finding = find_adverbs(Prose(text))
    assert spots(text, finding) == ["slowly", "silently"]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The gate was broken by the storm.", ["was broken"]),
        ("The gate had been quickly mended.", ["been quickly mended"]),
        ("They got caught.", ["got caught"]),
        ("She was tired and he was lost.", []),
        ("He was running and she broke it.", []),
        ('"The gate was broken," he said.', []),
    ],
)
def test_a_passive_is_be_or_get_with_a_participle_that_is_no_state(sentence, found):
    text = PLAIN + sentence
    finding = find_passives(Prose(text))
    assert spots(text, finding) == found
    assert finding.values[0] == pytest.approx(len(found) / 5)


def test_tags_are_counted_by_their_verbs_and_adverbs():
    text = PLAIN + (
        '"Come in," said Ann. "Why?" he asked quietly. "It is late," Tom growled. '
        '"Come," she whispered softly, "it is cold." Ann said, "Come." He smiled. "No." '
        'As he called, "a bird" flew up.'
    )
    finding = find_tag_verbs(Prose(text))
    # said, asked quietly, growled, whispered softly, said: five tags.
    assert finding.values == (pytest.approx(2 / 5), pytest.approx(2 / 5))
    assert spots(text, finding) == ["growled", "whispered softly"]
    assert finding.said == "two of five tags say more than “said”: “growled” and “whispered”"
    adverbs = find_tag_adverbs(Prose(text))
    assert spots(text, adverbs) == ["asked quietly", "whispered softly"]
    assert quote(text, adverbs) == '"Why?" he asked quietly.'


def test_changes_of_tense_are_counted_from_sentence_to_sentence():
    text = (
        "He was late. The rain had stopped. She is waiting at the gate. He waved to her. They went "
        "in together. “I am cold.” I don't know why. It was warm inside."
    )
    finding = find_tense_slips(Prose(text))
    # past past present past past past: two changes in five steps, one sentence of six.
    assert finding.values == (pytest.approx(2 / 5), pytest.approx(1 / 6))
    assert quote(text, finding) == "She is waiting at the gate."
    assert finding.said == "told in the past, the story changes its tense twice"


def test_an_i_outside_of_speech_is_a_slip_where_nobody_tells_as_i():
    text = PLAIN * 2 + "Tom climbed up. I took my lamp. “I see,” he said."
    finding = find_person_slips(Prose(text))
    assert finding.values == (pytest.approx(1 / 11),)
    assert spots(text, finding) == ["I", "my"]
    assert finding.said == "the story is told in the third person, but one sentence says “I”"
    with pytest.raises(NothingToCheck, match="told by an “I”"):
        find_person_slips(Prose("I took the lamp. I went up the hill in the rain. " * 5))


def test_names_are_placed_by_the_words_before_them():
    text = PLAIN + "There came Ann. So came Tom, and Ann knew Tom, and old Tom knew Ann and Tom."
    finding = find_late_names(Prose(text))
    words = len(Prose(text).words)
    # Twenty-one words stand before “There came Ann”, whose name is the third.
    before = len(Prose(PLAIN).words)
    assert finding.values == (pytest.approx((before + 5) / words),) * 2
    assert spots(text, finding) == ["Tom"]
    lead = find_late_lead(Prose(text))
    assert lead.said.startswith("Tom, named four times, more than anybody, first comes after")


@pytest.mark.parametrize("check", CHECKS)
def test_checks_do_not_guess_where_there_is_hardly_a_word(check):
    with pytest.raises(NothingToCheck, match="fewer than 20 words"):
        check(Prose("He saw her. He saw her. He was seen."))


GERMAN = (
    "Als die alte Frau am Morgen das Fenster aufmachte, lag Schnee auf den Dächern. Der Junge "
    "fragte nach dem Weg zum Hafen. Sie zog ihren Mantel an und ging mit ihm fort. "
)


@pytest.mark.parametrize("check", [find_filter_words, find_passives, find_echoes, find_said_twice])
def test_checks_of_english_say_that_they_read_no_other_language(check):
    with pytest.raises(NothingToCheck, match="reads English"):
        check(Prose(GERMAN * 2))


@pytest.mark.parametrize("check", CHECKS)
def test_places_lie_in_the_text_and_hold_something(check):
    text = (PLAIN + 'He was seen slowly. "No," he growled. She is here, and Ann saw it. ') * 6
    try:
        finding = check(Prose(text))
    except NothingToCheck:
        return
    for start, end in [*finding.spots, finding.passage]:
        assert 0 <= start <= end <= len(text)
        assert text[start:end] == text[start:end].strip()
    assert bool(finding.said) == bool(finding.passage[1])


@pytest.mark.parametrize("part", ["He saw it. ", '"Go, ', "“A ” ", "*a ", "He was, ", "\n\nA b"])
def test_checks_read_long_texts_in_time(part):
    prose = Prose(PLAIN + (part * 100_000)[:50_000])
    with within(8.0):
        for check in CHECKS:
            with suppress(NothingToCheck):
                check(prose)
