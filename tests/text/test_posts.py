from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.posts import NEWLINE_TAG, clean_post, is_note, normalise_post, strip_markup
from fakes.factories import within

STORY = "The lamp went out.\n“Who is there?” she asked.\nNobody answered."


@pytest.mark.parametrize(
    "text",
    [
        "One.\tTwo.\n\n\nThree.",
        "One. Two. <br> <br/>Three.",
        "  One.   Two. <newline> Three. ",
        "One. Two. <\\newline>  <\\newline> Three.",
        "One.\u00a0Two.\r\n\r\nThree.\r\n",
        "One. Two.<BR />Three.",
    ],
)
def test_tabs_blanks_and_line_ends_are_spelled_in_one_way(text):
    assert normalise_post(text) == "One. Two.\nThree."
    assert normalise_post(text, newline=NEWLINE_TAG) == "One. Two. <\\newline> Three."


@given(st.text(st.sampled_from("ab <>\\newlibr/\n\t\r ")))
def test_normalising_again_changes_nothing(text):
    for newline in ("\n", NEWLINE_TAG):
        once = normalise_post(text, newline=newline)
        assert normalise_post(once, newline=newline) == once


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("*Run*, she **whispered**. _Run!_", "Run, she whispered. Run!"),
        ("# The Lamp\nIt went out.", "The Lamp\nIt went out."),
        ("One.\n***\nTwo.\n- - -\nThree.\n\\_\\_\\_\nFour.", "One.\nTwo.\nThree.\nFour."),
        ("Room #12, user_name, f*ck, 2*3", "Room #12, user_name, f*ck, 2*3"),
        ("#12 was mine.", "#12 was mine."),
        ("...\nWell?\n?!", "...\nWell?\n?!"),
        ("> Dear Ann,\n>> hello", "Dear Ann,\nhello"),
        (">!He did it.!< ~~Not.~~", "He did it. Not."),
        ("I took [the pen](https://example.org/a_(b)).", "I took the pen."),
        ("She [laughed](quietly).", "She [laughed](quietly)."),
        ("One.\n&#x200B;\nTwo&nbsp;&amp; &lt;three&gt;.", "One.\nTwo & <three>."),
        ("AT&T; R&D", "AT&T; R&D"),
        ("\\[Log 3\\] 5 \\- 3", "[Log 3] 5 - 3"),
    ],
)
def test_markup_goes_and_what_looks_like_it_stays(marked, plain):
    assert strip_markup(marked) == plain


NOTES = [
    "Edit: a word",
    "**EDIT 2:** thank you all!!",
    "edited for spelling",
    "r/made_up_stories",
    "If this was fun, there is more of it at /r/MadeUpStories!",
    "/u/made-up",
    "Thanks to u/somebody for the story idea",
    "[Second half](https://example.org/x)",
    "https://example.org/more",
    "Thank you so much for reading!",
    "Thanks again!",
    "Thanks for the gold, kind stranger",
    "I hope you all enjoyed it",
    "Constructive criticism is welcome.",
    "Feedback is always appreciated",
    "Please leave a critique",
    "Let me know what you think",
    "This is my first time posting here, be kind",
    "First prompt response, so go easy",
    "Sorry for the formatting, I'm on my phone",
    "Apologies for my bad English",
    "(English is not my first language)",
    "Part 2",
    "Pt. 1/3",
    "*Part two coming tomorrow*",
    "To be continued...",
    "TBC",
    "I'll continue this later",
    "Should I keep going?",
    "Check out my other stories",
    "More of this on my subreddit",
    "Great prompt!",
    "This one was for a writing prompt",
    "Word count: 512",
    "(498 words)",
    "[WP] A lamp goes out and never comes on again.",
    "[Poem]",
    "Author's note: no lamps were harmed.",
    "TL;DR: the lamp went out",
    "Written on mobile",
    "Not my best work",
]


@pytest.mark.parametrize("note", NOTES)
def test_notes_around_a_story_are_dropped(note):
    assert clean_post(f"{note}\n{STORY}") == clean_post(f"{STORY}\n\n---\n{note}")
    assert clean_post(f"{STORY}\n{note}").text == STORY
    assert clean_post(f"{STORY}\n{note}").removed == (note,)


@pytest.mark.parametrize(
    "line",
    [
        "“Thank you for reading to me,” she said.",
        '"Let me know what you think of the prompt," said the editor.',
        "The first time, it did not work.",
        "My first attempt to lift it failed.",
        "For the first time in years she thanked him.",
        "She edited the letter and burnt it.",
        "I am sorry, she thought.",
        "He gave me gold, silver and a comment I did not ask for.",
        "The original door was made of gold.",
        "Part of me knew it would end like this.",
        "The prompt on the screen blinked.",
        "She was prompt, as ever.",
        "P.S. I never loved the sea.",
        "Update 3: they are in the walls.",
        "Thank you.",
        "I hope you like the sea.",
        "Let me know when you get home.",
        "The End",
        "I checked my phone; nobody had replied.",
        "[WARNING] The door is open.",
        "/u/made-up got up and dusted himself off.",
    ],
)
def test_lines_of_the_story_stay(line):
    assert not is_note(line)
    assert clean_post(f"{line}\n{STORY}").text.startswith(line[:4])
    assert clean_post(f"{STORY}\n{line}").removed == ()


def test_notes_within_the_story_stay():
    text = "The lamp went out.\nEdit: nothing\nThanks for reading!\nNobody answered."
    assert clean_post(text).text == text


def test_several_notes_go_in_the_order_of_the_text():
    text = (
        f"[WP] A lamp.\nFirst prompt, be gentle\n\n{STORY}\n***\nThanks for reading!\nEdit: a comma"
    )
    found = clean_post(text)
    assert found.text == STORY
    assert found.removed == (
        "[WP] A lamp.", "First prompt, be gentle", "Thanks for reading!", "Edit: a comma",
    )  # fmt: skip
    assert found.warning == ""


def test_a_long_paragraph_is_no_note():
    line = "Thanks for reading! " + "The lamp went out again. " * 20
    assert clean_post(f"{STORY}\n{line}").removed == ()


def test_a_story_whose_lines_all_look_like_notes_is_kept_and_says_so():
    found = clean_post("*Edit:* the lamp went out\nThanks for reading!")
    assert found.text == "Edit: the lamp went out\nThanks for reading!"
    assert found.removed == ()
    assert "it was kept" in found.warning


@pytest.mark.parametrize("text", ["", " \n ", "***", "&nbsp;", "😀", "..."])
def test_a_text_without_words_has_no_warning(text):
    assert clean_post(text).warning == ""
    assert clean_post(text).removed == ()


@given(
    st.lists(
        st.sampled_from([*NOTES, *STORY.split("\n"), "---", "", "[a](/b)"])
        | st.text(st.sampled_from("ab *_#~>!<&amp;\\[]()-/.")),
        max_size=8,
    )
)
def test_cleaning_again_changes_nothing_and_words_are_never_all_gone(lines):
    text = "\n".join(lines)
    once = clean_post(text).text
    assert clean_post(once).text == once
    assert any(map(str.isalnum, once)) or not any(map(str.isalnum, strip_markup(text)))


@pytest.mark.parametrize(
    "part",
    [
        "-",
        "- x",
        "*",
        "a*",
        "[",
        "[a](",
        "more,",
        "r/more ",
        "&amp;",
        "\\",
        ">!",
        "\n",
        '"a" ',
        "u/abc,",
    ],
)
def test_odd_texts_are_cleaned_in_time_that_grows_with_their_length(part):
    with within(3.0):
        clean_post(part * 20_000 + "x")


def test_liked_stories_of_the_release_carry_more_notes(shared):
    from fabula.datasets import load_dataset

    found = load_dataset("storyer", shared / "data" / "storyer")
    notes = {story.id: len(clean_post(story.text).removed) for story in found.stories}
    liked = {one.better for one in found.preferences}
    shares = [
        sum(notes[name] > 0 for name in side) / len(side) for side in (liked, notes.keys() - liked)
    ]
    assert shares[0] > 2 * shares[1]
    assert 160 <= sum(notes.values()) <= 190
