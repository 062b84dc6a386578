"""What is read of a text however it is set, and where that stands in the text given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.text import layout
from fabula.text.detokenise import detokenise
from fabula.text.layout import PlainText, find_title, lay_out, read_plain

STORY = (
    '"I didn\'t know," she said. The lamp went out, and nobody on the quay could see the boat. '
    '"Really?" he asked... It was dark & cold, so they walked home along the wall and said nothing.'
)
LINES = (
    '"I didn\'t know," she said. The lamp went out, and nobody on the quay could see the boat.',
    '"Really?" he asked... It was dark & cold, so they walked home along the wall and said '
    "nothing.",
)
TOKENISED = (
    "`` I did n't know , '' she said . The lamp went out , and nobody on the quay could see the "
    "boat . `` Really ? '' he asked ... It was dark & cold , so they walked home along the wall "
    "and said nothing . @"
)


@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("paragraphs", "\n\n".join(LINES)),
        ("lines", "\r\n".join(LINES)),
        ("indented", "\n".join(f"\t  {line}" for line in LINES)),
        ("wrapped", STORY.replace("nobody on", "nobody\non").replace("home along", "home\nalong")),
        ("line separators", "\u2028".join(LINES)),
        ("no-break blanks", STORY.replace(" ", "\u00a0")),
        ("curly", STORY.replace(' "', " “").replace('"I', "“I").replace('"', "”")),
        ("curly apostrophes", STORY.replace("'", "’")),
        ("guillemets", STORY.replace('"I', "« I").replace(',"', ", »")),
        ("one sign for three dots", STORY.replace("...", "…")),
        ("emphasis", STORY.replace("nobody", "*nobody*").replace("cold", "**cold**")),
        ("entity and link", STORY.replace("&", "&amp;").replace("boat", "[boat](http://a.b/c)")),
        ("rule", "\n\n***\n\n".join(LINES)),
        ("quoted", "\n>\n".join(f"> {line}" for line in LINES)),
        ("line-break tags", "<br>".join(LINES)),
        ("heading", f"# The lamp\n\n{STORY}"),
        ("bold title", f"**The lamp.**\n\n{STORY}"),
        ("title", "The Lamp on the Quay\n" + "\n".join(LINES)),
        ("title apart, with author", f"The lamp on the quay\n\nby R. Ames\n\n{STORY}"),
        ("title word", f"Title: the lamp\n{STORY}"),
        ("edit", f"{STORY}\n\nEdit: fixed some typos, thanks!"),
        ("thanks on the same line", f"{STORY} Thanks for reading!"),
        ("prompt tag above", f"[WP] A lamp goes out.\n\n{STORY}"),
        ("signature", f"{STORY}\n\n---\nMore stories at r/lampwriters"),
    ],
)
def test_a_story_is_read_alike_however_it_is_set(way: str, text: str) -> None:
    assert read_plain(text).text == STORY


def test_a_tokenised_story_is_read_as_people_write() -> None:
    assert read_plain(TOKENISED).text == STORY
    lone = TOKENISED.replace("``", '"').replace("''", '"')
    assert read_plain(lone).text == STORY


def test_speech_in_single_marks_is_read_as_in_double_ones() -> None:
    text = "'No,' he said. 'I don't think so.' It was the dogs' bone. 'Twas late."
    assert read_plain(text).text == (
        '"No," he said. "I don\'t think so." It was the dogs\' bone. \'Twas late.'
    )


def test_the_given_layout_only_loses_the_blanks_of_a_tokeniser() -> None:
    text = "It was n't *late* .\n\n“No.”"
    assert lay_out(text, "given") == detokenise(text) == "It wasn't *late*.\n\n“No.”"


def test_the_cleaned_layout_keeps_lines_and_loses_what_is_about_the_post() -> None:
    text = "[WP] A cat.\n\nIt was n't *late* .\nThe cat slept.\n\nEdit: thanks for the gold!"
    assert lay_out(text, "cleaned") == "It wasn't late.\nThe cat slept."
    assert lay_out(lay_out(text, "cleaned"), "cleaned") == lay_out(text, "cleaned")
    assert "Edit" in lay_out(text, "given")


def test_a_plain_text_is_read_as_it_is_and_in_its_place() -> None:
    plain = read_plain(STORY)
    assert plain.text == STORY
    assert plain.starts == tuple(range(len(STORY)))
    assert plain.find_origin(3, 9) == (3, 9)


TITLED = (
    "# The Lamp\r\n\r\n"
    "   “I did n't *know* , ” she said…\n"
    "It was [dark](http://a.b) &amp; cold, and they all walked home along the old sea wall.\n\n"
    "EDIT: thanks for reading"
)


@pytest.mark.parametrize(
    ("read", "origin"),
    [
        ('"I', "“I"),
        ("didn't", "did n't"),
        ("know", "know"),
        ("know,", "know* ,"),
        ("said...", "said…"),
        (".", "…"),
        ("dark", "dark"),
        ("& cold", "&amp; cold"),
        ("... It", "…\nIt"),
        ("wall.", "wall."),
    ],
)
def test_spans_come_back_to_the_character(read: str, origin: str) -> None:
    plain = read_plain(TITLED)
    start = plain.text.index(read)
    first, last = plain.find_origin(start, start + len(read))
    assert TITLED[first:last] == origin


def test_what_is_not_read_has_no_place_in_the_reading() -> None:
    plain = read_plain(TITLED)
    lamp, dark = TITLED.index("Lamp"), TITLED.index("dark")
    assert plain.find_reading(lamp, lamp + 4) is None
    assert plain.find_reading(len(TITLED) - 7, len(TITLED)) is None
    place = plain.text.index("dark")
    assert plain.find_reading(dark, dark + 4) == (place, place + 4)


@pytest.mark.parametrize("span", [(0, 0), (2, 1), (-1, 2), (0, 10_000)])
def test_what_is_no_span_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no span"):
        read_plain(STORY).find_origin(*span)


BODY = f"{LINES[0]}\n\n{LINES[1]}"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"The lamp\n\n{BODY}", "The lamp"),
        (f"\n\n  THE LAMP\n{BODY}", "THE LAMP"),
        (f"## Chapter 1: the lamp!\n{BODY}", "## Chapter 1: the lamp!"),
        (f"The lamp\nBy Ann Ames\n\n{BODY}", "The lamp\nBy Ann Ames"),
    ],
)
def test_a_title_is_found_with_its_author(text: str, title: str) -> None:
    span = find_title(text)
    assert span is not None
    assert text[slice(*span)] == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line alone",
        BODY,
        f"It rained.\n\n{BODY}",
        f'"Who is there?"\n\n{BODY}',
        f"and then it rained\n\n{BODY}",
        f"Dear Ann,\n\n{BODY}",
        "The lamp\n\nIt went out.",
        "The sea is grey\nand wide and old\nand nobody goes\nto ask it why\n" * 3,
        "She had walked the whole way\ndown to the quay before the lamp\nwent out and the boat "
        "was\ngone from where it had been\nfor all those years of rain and wind.",
    ],
)
def test_what_is_no_title_stays(text: str) -> None:
    assert find_title(text) is None


@pytest.mark.parametrize("text", ["", " \n ", "...", "Edit: typo", "# Thanks for reading!"])
def test_what_is_nothing_but_notes_is_read(text: str) -> None:
    assert bool(read_plain(text).text) == any(map(str.isalnum, text)) or text == "..."


PARTS = (
    "Ann|ran| |\n|\n\n|``|''| n't| .|*|_|# |> |“|”|’|'|…|&amp;|&amp;lt;|[a](http://b.c)|<br>|[MALE]"
    "|\t|\u00ad|\u200b|« |\\*|é|日本|😀|Edit: x\n|---\n"
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PARTS.split("|")), max_size=40))
def test_every_character_read_has_its_place_in_order(parts: list[str]) -> None:
    text = "".join(parts)
    plain = read_plain(text)
    assert len(plain.starts) == len(plain.ends) == len(plain.text)
    assert list(plain.starts) == sorted(plain.starts)
    assert list(plain.ends) == sorted(plain.ends)
    for letter, start, end in zip(plain.text, plain.starts, plain.ends, strict=True):
        assert 0 <= start < end <= len(text)
        if letter.isalnum():
            assert letter.lower() in text[start:end].lower() or "&" in text[start:end]


def test_a_long_text_is_read_in_time() -> None:
    text = "\n\n".join(f"“It did n't *rain* ,” said {n}…" for n in range(4_000))
    wanted = " ".join(f'"It didn\'t rain," said {n}...' for n in range(4_000))
    assert read_plain(text).text == wanted


@settings(deadline=None)
@given(st.text())
def test_what_is_remembered_of_a_text_is_what_is_read_of_it(text: str) -> None:
    for _ in range(2):
        assert lay_out(text, "plain") == read_plain(text).text
        assert lay_out(text, "given") == detokenise(text)


def test_a_text_that_all_readers_ask_for_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def count_reading(text: str) -> PlainText:
        read.append(text)
        return read_plain(text)

    monkeypatch.setattr(layout, "read_plain", count_reading)
    texts = [f"It rained on day {number} of the count." for number in range(300)]
    for _ in range(3):
        assert [lay_out(text, "plain") for text in texts] == texts
    assert read == texts


def test_whole_books_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    book, read = "It rained. " * 2_000, list[int]()

    def count_reading(text: str) -> PlainText:
        read.append(len(text))
        return read_plain(text)

    monkeypatch.setattr(layout, "read_plain", count_reading)
    assert lay_out(book, "plain") == lay_out(book, "plain") == book.strip()
    assert read == [len(book)] * 2
