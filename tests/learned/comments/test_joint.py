"""Comments by a decoder that has read the story: checked against it, and quoted."""

from __future__ import annotations

from fabula.learned.comments.evidence import find_evidence
from fabula.learned.comments.writer import JointCommenter
from fakes.review import TEXT
from learned.comments.test_writer import Said

SCENE = find_evidence(TEXT, "scene")


def write(*lines: str):
    said = Said(lines)
    commenter = JointCommenter(said, tries=len(lines))
    return commenter.comment(TEXT, SCENE, 4.5, until=commenter.deadline()), said


def test_the_first_sentence_stands_by_the_quote() -> None:
    comment, said = write("The mood is vivid and plain details let the reader feel it. More.")
    assert comment is not None and comment.by == "written"
    assert comment.text == (
        f"“{SCENE.quote}” The mood is vivid and plain details let the reader feel it."
    )
    [asked] = said.asked
    assert asked["prompts"][0].startswith("scene") and "<sep>" in asked["prompts"][0]


def test_the_storys_own_words_may_be_used_and_no_others() -> None:
    name = next(word for word in TEXT.split() if word.istitle() and len(word) > 3).strip(".,“”")
    comment, _ = write(f"The mood around {name} is vivid and the plain details let a reader feel.")
    assert comment is not None and comment.by == "written"
    comment, _ = write("The dragon and its zeppelin are a vivid and wonderful mood for the reader.")
    assert comment is not None and comment.by == "composed"
    assert "dragon" in comment.problems[0]
