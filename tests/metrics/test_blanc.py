from __future__ import annotations

import json

import pytest

from fabula.core.errors import SettingError
from fabula.core.model import GapFiller
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics import blanc
from fabula.metrics._blanc_masking import Chunks, Masking, beginning, count, cut_rows, lessons
from fabula.metrics.blanc import Blanc
from fabula.models import load_model
from fabula.models.networks.tuning import Lesson, Tuning
from fakes.factories import usual_text
from fakes.scripted_filler import tell_filler

TOKENS = ("the", "light", "##house", "keeper", "we", "##pt", "at", "dawn", ".")


def split(text):
    return tuple(text.split())


def test_words_of_four_letters_and_lead_pieces_of_two_are_masked_and_nothing_else():
    # light and we begin words in pieces; the, at and . are short; continuations never are.
    assert Masking().maskable(TOKENS) == [1, 3, 4, 7]
    assert Masking(rest=2).maskable(TOKENS) == [1, 2, 3, 4, 5, 7]
    assert Masking(whole=2, lead=3).maskable(TOKENS) == [0, 1, 3, 6, 7]


def test_tokens_of_one_offset_are_masked_together():
    assert Masking().evenly(TOKENS) == [(4,), (1, 3, 7)]
    assert Masking(gap=6).evenly(TOKENS) == [(1, 7), (3,), (4,)]
    assert Masking(gap=1).evenly(TOKENS) == [(1, 3, 4, 7)]
    assert Masking().evenly(("word",)) == [(0,)]
    assert Masking().evenly(()) == Masking().evenly(("a", "b")) == []


def test_a_long_sentence_is_read_in_pieces_of_one_size():
    sentence = tuple(map(str, range(250)))
    found = cut_rows([("a",), sentence, ()], 254)
    assert [len(piece) for piece in found] == [1, 84, 84, 82]
    assert sum(found[1:], ()) == sentence
    # Of a small room half is left to the summary.
    assert [len(piece) for piece in cut_rows([sentence[:20]], 16)] == [7, 7, 6]


def test_the_first_sentences_of_a_summary_are_read_as_far_as_there_is_room():
    summary = [split("c d"), split("e"), split("f g h")]
    assert beginning(summary, 6) == split("c d e f g h")
    assert beginning(summary, 5) == split("c d e")
    assert beginning(summary, 1) == beginning([], 9) == ()


def test_chunks_overlap_and_the_beginning_comes_again():
    tokens = split("a b c d e f g")
    assert Chunks(4, 2).of(tokens) == [
        split("a b c d"), split("c d e f"), split("a b"), split("e f g"), split("g")
    ]  # fmt: skip


def test_lessons_mask_evenly_or_a_share_at_random_each_place_once():
    words = tuple(f"word{at}" for at in range(20))
    assert lessons([words], Masking(), share=None, seed=0) == [
        Lesson(words, tuple(range(0, 20, 2))),
        Lesson(words, tuple(range(1, 20, 2))),
    ]
    found = lessons([words], Masking(), share=0.15, seed=0)
    # A share of .15 of twenty is three places at a time.
    assert [len(one.gaps) for one in found] == [3, 3, 3, 3, 3, 3, 2]
    assert sorted(at for one in found for at in one.gaps) == list(range(20))
    assert found == lessons([words], Masking(), share=0.15, seed=0)
    assert found != lessons([words], Masking(), share=0.15, seed=1)


def test_gains_and_losses_are_counted():
    found = count("abcde", "axxxe", "xbcxe")
    assert (found.gained, found.lost, found.total) == (2, 1, 5)
    assert found.share == pytest.approx(1 / 5)


def told(monkeypatch, **rest):
    """A filler that puts the longest word before a gap into it: one that it was shown."""
    return tell_filler(
        monkeypatch,
        choose=lambda row, at: max((one for one in row[:at] if one), key=len, default="?"),
        **rest,
    )


def make(text="A lighthouse.", prompt="Their lighthouse shone .", *references):
    return Story("s", text, prompt, references)


def test_help_is_the_gain_of_showing_the_summary(monkeypatch):
    model = told(monkeypatch)
    [score] = Blanc().score([make("See lighthouse", "Their lighthouse shone .")])
    # Masked: Their and shone (offset 0), lighthouse (offset 1). Each gap gets the longest word
    # before it. With the summary that is lighthouse: right at the second place only, for shone
    # follows lighthouse anyway. Two full stops for the summary: "." at Their, Their after it.
    assert model.asked == [
        [".", ".", None, "lighthouse", None, "."],
        [".", ".", "Their", None, "shone", "."],
        ["See", "lighthouse", None, "lighthouse", None, "."],
        ["See", "lighthouse", "Their", None, "shone", "."],
    ]
    assert score.value == pytest.approx(1 / 3)
    assert score.note == "1 gained and 0 lost of 3"
    assert score.coverage == 1.0


def test_the_prompt_the_story_and_the_reference_change_places(monkeypatch):
    model = told(monkeypatch)
    story = Story("s", "Told long .", "Asked short .", ("Wrote .",))
    for use, first in [("SS", "Told"), ("PS", "Asked"), ("golden", "Told")]:
        model.asked.clear()
        Blanc(use=use).score([story])
        helped = model.asked[len(model.asked) // 2 :]
        assert helped[0][0] == first


def test_sentences_of_the_document_are_read_one_by_one_and_in_plain_letters(monkeypatch):
    model = told(monkeypatch)
    # NFKD parts the ligature; the tokeniser here keeps the rest as it is.
    Blanc().score([make("x", "\ufb01ve boats . They left .")])
    assert [row[1:] for row in model.asked[:3]] == [
        [None, "boats", "."],
        ["five", None, "."],
        [None, "left", "."],
    ]


def test_a_summary_without_room_is_cut_and_coverage_says_so(monkeypatch):
    model = told(monkeypatch, room=8)
    [score] = Blanc().score([make("One two. Three four. Five six.", "Their boats sank deep .")])
    # The sentence comes in pieces of three tokens and of two, as half of the room is the
    # summary's: beside the first two of its three sentences fit, beside the other all.
    assert model.asked[-2] == ["One", "two.", "Three", "four.", "Their", None, "sank"]
    assert model.asked[-1] == [*split("One two. Three four. Five six."), None, "."]
    assert score.coverage == pytest.approx((4 / 6 + 1) / 2)


def test_tune_compares_a_trained_copy_with_the_model_itself(monkeypatch):
    model = told(monkeypatch)
    metric = Blanc(how="tune", epochs=3, rate=0.1, decay=0.2, batch_rows=4, seed=5)
    [score] = metric.score([make("the lighthouse", "Their lighthouse shone .")])
    # The copy puts lighthouse everywhere; the model puts it at shone, and Their at lighthouse.
    assert score.note == "1 gained and 0 lost of 3"
    assert model.asked[0] == Tuning(3, 0.1, 0.2, 4, seed=5)
    assert [None, "lighthouse", None, "."] in model.asked


def test_one_copy_is_trained_a_summary_however_many_stories_share_it(monkeypatch):
    model = told(monkeypatch)
    stories = [Story(name, f"Boats {name} .", "A lighthouse .") for name in "stu"]
    Blanc(use="PS", how="tune").score([*stories, Story("v", "Ships", "Another prompt .")])
    assert sum(isinstance(one, Tuning) for one in model.asked) == 2


@pytest.mark.parametrize("how", ["help", "tune"])
def test_a_document_without_a_word_to_mask_is_undefined_and_0_under_compat(monkeypatch, how):
    told(monkeypatch)
    [score] = Blanc(how=how).score([make("A lighthouse .", "It is so .")])
    assert (score.status, score.note) == (Status.UNDEFINED, "the document has no word to mask")
    [score] = Blanc(how=how, compat=True).score([make("A lighthouse .", "It is so .")])
    assert score.value == 0.0


def test_a_summary_that_teaches_nothing_is_undefined(monkeypatch):
    told(monkeypatch)
    [score] = Blanc(how="tune").score([make("It is", "Their lighthouse shone .")])
    assert (score.status, score.note) == (Status.UNDEFINED, "the summary has no word to train on")


def test_what_is_missing_depends_on_the_use():
    bare = Story("s", "A story.", None, ())
    wanted = {"SS": "missing_prompt", "PS": "missing_prompt", "golden": "missing_reference"}
    for use, status in wanted.items():
        [score] = Blanc(model="fake()", use=use).score([bare])
        assert score.status == status


def test_the_reference_that_gains_most_counts(monkeypatch):
    told(monkeypatch)
    story = make("See lighthouse", "", "Boats sank .", "Their lighthouse shone .", " ")
    [score] = Blanc(use="golden").score([story])
    assert score.value == pytest.approx(1 / 3)


@pytest.mark.parametrize("how", ["help", "tune"])
def test_texts_over_the_limit_are_too_long(monkeypatch, how):
    monkeypatch.setattr(blanc, "_MOST_TOKENS", 10)
    story = make(usual_text(200, 1), usual_text(200, 2))
    [score] = Blanc(model="fake()", how=how).score([story])
    assert score.status is Status.TOO_LONG
    assert "over the limit of 10" in score.note


@pytest.mark.parametrize("bad", [{"use": "SP"}, {"how": "ask"}, {"gap": 0}, {"rate": -1.0}])
def test_settings_that_will_not_do_are_refused(bad):
    with pytest.raises(SettingError, match="will not do"):
        Blanc(**bad)


@pytest.mark.assets
def test_the_printed_example_has_nine_words_to_mask(shared):
    """BLANC's own example scores 2/9 by help with bert-base, whose vocabulary this is."""
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    printed = golden["blanc_readme"]
    model = load_model("embedded('story_encoder')")
    assert isinstance(model, GapFiller)
    [tokens] = model.tokens([printed["doc"]])
    places = Masking().evenly(tokens)
    assert sum(map(len, places)) == 9
    assert printed["help"] == pytest.approx(2 / 9)
    [score] = Blanc().score([make(printed["summary"], printed["doc"])])
    assert score.note.endswith("of 9")
