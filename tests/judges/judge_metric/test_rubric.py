from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.judges.judge_metric.rubric import list_rubrics, open_rubric

OWN = """
version = "2"
low = 0
high = 2
[[criteria]]
name = "pace"
text = "Does it move?"
anchors = ["not at all", "in places", "all the way"]
[[criteria]]
name = "voice"
text = "Whose voice is it?"
"""


def write(folder: Path, text: str, name: str = "own.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize("name", list_rubrics())
def test_a_rubric_of_ours_says_what_every_number_means_and_asks_for_yes_or_no(name):
    rubric = open_rubric(name).rubric
    for criterion in rubric.criteria:
        assert len(criterion.anchors) == rubric.high - rubric.low + 1
        assert len(set(criterion.checks)) == len(criterion.checks) >= 3
        assert all(check.endswith("?") for check in criterion.checks)


def test_hannas_rubric_has_its_six_criteria_from_1_to_5():
    known = open_rubric("hanna")
    names = [criterion.name for criterion in known.rubric.criteria]
    assert names == "relevance coherence empathy surprise engagement complexity".split()
    assert known.rubric.numbers == ("1", "2", "3", "4", "5")
    assert [one.name for one in known.rubric.criteria if one.needs_prompt] == ["relevance"]
    assert re.fullmatch(r"hanna/1,[0-9a-f]{12}", known.signature)


def test_a_rubric_of_ones_own_is_a_file_and_its_signature_its_words(tmp_path):
    first = open_rubric(write(tmp_path, OWN))
    assert first.rubric.numbers == ("0", "1", "2")
    assert first.rubric.get("voice").anchors == ()
    spread = OWN.replace("[[criteria]]", "\n# a remark\n[[criteria]]")
    assert open_rubric(write(tmp_path, spread, "spread.toml")).signature.endswith(
        first.signature.partition(",")[2]
    )
    other = OWN.replace("in places", "here and there")
    changed = open_rubric(write(tmp_path, other, "other.toml"))
    assert changed.signature[-12:] != first.signature[-12:]


def test_a_file_that_changes_is_read_again(tmp_path):
    before = open_rubric(write(tmp_path, OWN)).signature
    changed = write(tmp_path, OWN.replace("in places", "now and then"))
    assert open_rubric(changed).signature != before


def test_questions_of_yes_and_no_are_made_of_anchors_where_a_rubric_has_none(tmp_path):
    rubric = open_rubric(write(tmp_path, OWN)).rubric
    first, second = rubric.get("pace").list_checks()
    assert "Does it move?" in first and "in places" in first and "all the way" in second
    assert rubric.get("voice").list_checks() == ()


def test_the_file_of_a_campaign_is_a_rubric_too(tmp_path):
    scale = '[[questions]]\nname = "fit"\nkind = "scale"\nhigh = 3\n'
    scale += 'text = "Does it fit the prompt?"\n'
    words = '[[questions]]\nname = "why"\nkind = "text"\ntext = "Why?"\n'
    rubric = open_rubric(write(tmp_path, f'title = "Ours"\n{scale}{words}')).rubric
    assert [one.name for one in rubric.criteria] == ["fit"]
    assert rubric.criteria[0].needs_prompt
    assert (rubric.title, rubric.low, rubric.high) == ("Ours", 1, 3)
    other = scale.replace('"fit"', '"fun"').replace("high = 3", "high = 5")
    with pytest.raises(UserError, match="no questions on one scale"):
        open_rubric(write(tmp_path, scale + other))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("high = 2", "high = 3"), "pace has 3 anchors, not 4"),
        (("high = 2", "high = 0"), "a scale from 0 to 0"),
        (('name = "voice"', 'name = "pace"'), "two of one name"),
        (('name = "voice"', 'name = "Voice!"'), "criterion name 'Voice!'"),
        (('text = "Whose voice is it?"', 'text = " "'), "voice asks nothing"),
        (("high = 2", 'high = "two"'), "high must be a whole number"),
        (("low = 0", "lowest = 0"), "lowest is no field"),
        (("[[criteria]]", "[[criteria"), "is no TOML"),
    ],
)
def test_a_rubric_that_will_not_do_is_for_the_user_to_mend(tmp_path, change, says):
    with pytest.raises(UserError, match=re.escape(says)):
        open_rubric(write(tmp_path, OWN.replace(*change)))


def test_a_name_that_is_nobodys_names_the_nearest():
    with pytest.raises(UserError, match="did you mean 'hanna'"):
        open_rubric("hana")
    with pytest.raises(UserError, match="no criterion 'humour'"):
        open_rubric("hanna").rubric.get("humour")
    with pytest.raises(UserError, match="cannot be read"):
        open_rubric("nowhere.toml")
