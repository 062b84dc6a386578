from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import UnknownName
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import Comment
from fabula.learned.comments.evidence import Evidence
from fabula.learned.reader import metric as learned_metric
from fabula.learned.reader.config import CRITERIA
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.writers import Ends, WriterOpinion
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review import PlacedTransition, Review, choose_aspects, review_story, steps
from fabula.scoring.review.parts import rate_step
from fabula.scoring.review.steps import (
    add_comments,
    ask_metrics,
    assemble_review,
    choose_parts,
)
from fakes.review import (
    CONFIDENCES,
    HABITS,
    NOTE,
    RATINGS,
    STORY,
    TEXT,
    made_up_opinions,
    made_up_review,
    without_models,
)

PARTS = st.sampled_from(
    ["Mara ran.", "But it was dark. ", "“Go,” said Tom. ", "He wept and wept. ", "\n\n", "A day. ",
     "The old door was open again. ", "海は暗い。", "😀 "]
)  # fmt: skip


TOLD = set(CRITERIA) - {"relevance"}
NAN = math.nan


def reviewed(story: Story) -> Review:
    """The whole review of a story by fake weights."""
    *_, review = review_story(story, weights="fake", order="fake")
    return review


def test_the_plain_form_has_the_names_that_others_rely_on() -> None:
    plain = json.loads(json.dumps(made_up_review().plain(), allow_nan=False))
    names = (
        "preference percentile interval criteria aspects transitions weakest repetition statistics "
        "warnings signatures"
    )
    assert set(names.split()) <= set(plain)
    assert (plain["preference"], plain["percentile"], plain["interval"]) == (0.42, 63.2, [41, 80.4])
    assert [one["name"] for one in plain["aspects"]] == list(ASPECTS)
    assert {"name", "confidence", "rating", "comment", "evidence"} <= set(plain["aspects"][0])
    assert [one["rating"] for one in plain["aspects"]] == list(RATINGS)
    assert [one["confidence"] for one in plain["aspects"]] == list(CONFIDENCES)
    assert plain["transitions"][6] == {
        "first": "The price of coal rose again on the mainland.",
        "second": "Shaking, Mara lit the lamp with the last of the matches.",
        "probability": 0.08,
    }
    assert plain["weakest"] == 6
    assert plain["statistics"]["words"] == 229


def test_every_quote_of_a_review_is_in_its_story() -> None:
    for one in made_up_review().aspects:
        assert TEXT[one.evidence.start : one.evidence.end] == one.evidence.quote
        assert one.evidence.quote in one.comment or not one.comment


@given(st.lists(PARTS, min_size=1, max_size=12).map("".join))
def test_every_comment_on_any_story_quotes_it(text: str) -> None:
    found = made_up_review(Story("x", text))
    for one in found.aspects:
        if one.comment:
            assert one.evidence.quote in text and one.evidence.quote in one.comment
    for step in found.transitions:
        assert text[slice(*step.first)] and text[slice(*step.second)]


def test_comments_go_to_the_aspects_that_are_surest_and_have_evidence() -> None:
    scored = assemble_review(STORY, made_up_opinions())
    # Surer than an even share of .1: ending .21, scene .18, opening .16, character .12.
    assert [one.name for one in choose_aspects(scored)] == [
        "ending", "scene", "opening", "character",
    ]  # fmt: skip
    assert not any(one.comment for one in scored.aspects)


def test_comments_come_one_at_a_time_after_the_scores() -> None:
    scored = assemble_review(STORY, made_up_opinions())
    told = [sum(bool(one.comment) for one in later.aspects) for later in add_comments(scored)]
    assert told == [1, 2, 3, 4]


def test_who_writes_comments_has_one_deadline_for_all() -> None:
    class Writer:
        asked: list[float]

        def deadline(self) -> float:
            self.asked = []
            return 7.0

        def comment(
            self,
            text: str,
            evidence: Evidence,
            rating: float,
            *,
            until: float,
            usual: float = 3.0,
            seed: int = 0,
        ) -> Comment:
            self.asked.append(until)
            return Comment(f"“{evidence.quote}” Good.", evidence, "written")

    writer = Writer()
    *_, found = add_comments(assemble_review(STORY, made_up_opinions()), writer)
    assert writer.asked == [7.0] * 4
    assert {one.by for one in found.aspects if one.comment} == {"written"}


def test_notes_of_scores_are_warnings_each_once() -> None:
    assert made_up_review(note=NOTE).warnings == (f"storyer: {NOTE}",)


def test_that_two_weights_disagree_is_a_warning_whichever_metric_says_it() -> None:
    opinions, note = (
        made_up_opinions(),
        "the small and the large weights disagree (surprise 2 and 4)",
    )
    scores = {name: dict(by_aspect) for name, by_aspect in opinions.scores.items()}
    for aspect, score in scores["criteria"].items():
        scores["criteria"][aspect] = replace(score, note=note)
    scores["coherence"][""] = replace(scores["coherence"][""], note="of both weights only one")
    found = assemble_review(STORY, replace(opinions, scores=scores))
    assert found.warnings == (f"criteria: {note}",)
    assert found.notes == ("coherence: of both weights only one",)


def test_without_models_all_else_is_given_with_what_to_do() -> None:
    found = assemble_review(STORY, without_models())
    assert math.isnan(found.preference) and found.criteria == {} and found.weakest is None
    assert found.statistics["words"] == 229 and found.repetition and found.warnings == ()
    assert "fabula models pull reader" in found.missing[0].why
    assert all(one.evidence.found or one.evidence.reason for one in found.aspects)
    assert found.plain()["interval"] is None
    *_, commented = add_comments(found)
    # Without a rating there is nothing to say of an aspect, and the story does nothing unusual.
    assert not any(one.comment for one in commented.aspects) and commented.observations == ()


def test_what_few_stories_do_comes_first_and_there_are_five_comments_at_most() -> None:
    scored = assemble_review(Story("habits", HABITS), made_up_opinions(HABITS))
    assert scored.observations is None and scored.plain()["observations"] == []
    first, *_, last = add_comments(scored)
    names = [observation.name for observation in first.observations]
    assert {"filter words", "passive"} <= set(names)
    assert not any(aspect.comment for aspect in first.aspects)
    told = [aspect for aspect in last.aspects if aspect.comment]
    assert len(names) + len(told) <= 5
    plain = last.plain()["observations"][0]
    assert HABITS[plain["start"] : plain["end"]] == plain["quote"] and 0 <= plain["share"] <= 0.1


def test_an_aspect_that_no_reader_rates_is_spoken_of_by_models_alone() -> None:
    found = assemble_review(STORY, without_models())
    assert choose_aspects(found, written=False) == []
    assert [one.name for one in choose_aspects(found)] == [
        "opening", "middle", "ending", "character", "scene",
    ]  # fmt: skip


def test_a_step_stands_out_only_where_hardly_a_story_has_one_like_it() -> None:
    scored = assemble_review(STORY, made_up_opinions())
    assert scored.weakest == 6  # nothing is known of others: the least likely
    rated = tuple(rate_step(TEXT, step) for step in scored.transitions)
    # Told after told: 8 % lies between the quantiles 6.4 % (1 in 50) and 13.9 % (1 in 20).
    assert rated[6].rarity == pytest.approx(0.02 + 0.03 * (0.08 - 0.064) / (0.139 - 0.064))
    assert rated[6] in replace(scored, transitions=rated).unlikely
    assert replace(scored, transitions=rated).weakest is None
    low = tuple(replace(step, rarity=0.0001 if at == 2 else 0.5) for at, step in enumerate(rated))
    assert replace(scored, transitions=low).weakest == 2


def test_ordinary_dialogue_is_held_against_dialogue() -> None:
    text = "“Go,” she said. “No,” he said. The sea lay black. It was cold."
    spans = [(0, 15), (16, 30), (31, 50), (51, 63)]
    spoken, told = (PlacedTransition(*pair, 0.05) for pair in (spans[:2], spans[2:]))
    assert rate_step(text, spoken).rarity < 0.002 < rate_step(text, told).rarity


def test_every_value_is_that_of_the_metric_itself() -> None:
    found = reviewed(STORY)
    specs = [f"{name}(weights='fake')" for name in ("storyer", "criteria", "coherence", "rovist_c")]
    specs += [
        "writers(weights='fake')",
        "aspects(weights='fake')",
        "supert(model='fake()', layer=0)",
        "baselines",
    ]
    table = evaluate([STORY], [*specs, "sentences"])
    values = {(one.scorer.partition("(")[0], one.aspect): one.value for one in table}
    assert found.preference == values["storyer", ""]
    assert found.percentile == values["storyer", "percentile"]
    assert found.coherence == values["coherence", ""] and found.order == values["rovist_c", ""]
    assert found.prompt == values["supert", ""]
    assert found.writers.score == values["writers", ""]
    assert found.writers.percentile == values["writers", "percentile"]
    assert found.criteria == {name: values["criteria", name] for name in CRITERIA if name in TOLD}
    assert [one.rating for one in found.aspects] == [values["aspects", name] for name in ASPECTS]
    assert len(found.statistics) == 7
    for name, value in found.statistics.items():
        scorer, _, aspect = name.partition(" ")
        assert value == values[scorer, aspect]
    steps = METRICS.build("rovist_c(weights='fake')").transitions(STORY)
    assert [one["probability"] for one in found.plain()["transitions"]] == [
        one.probability for one in steps
    ]
    low, high = found.interval
    assert low < found.percentile < high
    assert any(one.comment for one in found.aspects) and not found.missing


@pytest.mark.assets
@pytest.mark.parametrize(
    ("absence", "criteria"),
    [("", "criteria"), ("asset 'minilm' is not here", "criteria(weights='reader')")],
)
def test_the_usual_metrics_are_asked_so_that_values_are_those_of_fabula_score(
    absence: str, criteria: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_can_be_asked", lambda metric: not absence)
    chosen = choose_parts("reader")
    specs = {part: metric.spec for part, metric in chosen.parts.items()}
    assert specs.pop("writers", "") == ("" if chosen.unlearned else "writers(interval=True)")
    assert specs == {
        "storyer": "storyer(interval=True)",
        "criteria": criteria,
        "coherence": "coherence",
        "aspects": "aspects",
        "confidence": "aspects(confidence=True)",
        "rovist_c": "rovist_c",
        "closeness to the prompt": "supert",
    }


@pytest.mark.assets
def test_an_aspect_that_is_the_same_for_every_story_has_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where MiniLM is not here: what an earlier test has loaded would be asked all the same.
    monkeypatch.setattr(steps, "_can_be_asked", lambda metric: False)
    *_, found = review_story(STORY, comments=False)
    for aspect in found.aspects:
        assert math.isnan(aspect.rating) and math.isnan(aspect.confidence) and aspect.unrated
        assert aspect.plain()["rating"] is aspect.plain()["usual"] is None
    left_out = {one.part for one in found.left_out}
    assert {f"aspects.{name}" for name in ASPECTS} | {"criteria.relevance"} <= left_out
    assert set(found.criteria) == TOLD


def test_weights_that_no_writer_taught_leave_writers_out_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = load_reader("fake")
    scales = {name: scale for name, scale in fake.config.scales.items() if name != "writers"}
    lay = Reader(replace(fake.config, scales=scales), "lay", fake.source)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: lay)
    found = reviewed(STORY)
    assert found.writers is None and not found.missing and not found.warnings
    [lack] = [one for one in found.left_out if one.part == "writers"]
    assert "have not learned it" in lack.why
    assert found.plain()["writers"] is None and math.isfinite(found.percentile)


@pytest.mark.parametrize(
    ("readers", "writers", "parting"),
    [
        ((80, (70, 90)), (40, (20, 60)), "readers"),
        ((30, (10, 50)), (75, (55, 90)), "writers"),
        ((80, (40, 90)), (30, (20, 45)), ""),  # far apart, and neither is sure
        ((80, (NAN, NAN)), (50, (20, 60)), "readers"),
        ((60, (NAN, NAN)), (50, (20, 60)), ""),
        ((NAN, (NAN, NAN)), (50, (20, 60)), ""),
    ],
)
def test_readers_and_writers_part_where_their_intervals_lie_apart(
    readers: tuple[float, Ends], writers: tuple[float, Ends], parting: str
) -> None:
    (place, interval), opinion = readers, WriterOpinion(4.6, *writers)
    found = replace(made_up_review(), percentile=place, interval=interval, writers=opinion)
    assert found.parting == parting
    assert replace(found, writers=None).parting == ""


def test_there_is_no_relevance_and_the_reason_is_said() -> None:
    for prompt in (None, "A keeper."):
        found = reviewed(Story("x", TEXT, prompt=prompt))
        assert set(found.criteria) == TOLD
        [lack] = [one for one in found.left_out if one.part == "criteria.relevance"]
        assert "do not read the prompt" in lack.why
        assert ("no prompt is given" in lack.why) == (prompt is None)
        assert math.isfinite(found.prompt) == (prompt is not None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Es war einmal ein alter König, der hatte drei Söhne und wusste nicht, welchem er das "
         "Reich geben sollte, denn alle waren ihm gleich lieb.", "common English words"),
        ("\n- ".join(["Buy", *"milk eggs pears bread butter apples flour coffee tea onions".split(),
                      "olive oil", "a dozen red peppers"]), "items of a list"),
        ("The cat sat on the mat.", "it is 6 words long"),
        ("the of was and a to boy his in is dog my with had it at the and she an of a was into be "
         "their on he from did", "chance order"),
    ],
)  # fmt: skip
def test_other_writing_gets_a_sentence_counts_and_no_opinion(text: str, why: str) -> None:
    *_, found = review_story(Story("x", text))
    assert why in found.unlike
    assert found.criteria == {} and not any(one.comment for one in found.aspects)
    assert all(map(math.isnan, (found.preference, found.percentile, found.coherence, found.order)))
    assert found.statistics["words"] > 0 and found.missing == () and found.transitions == ()


@pytest.mark.parametrize("text", ["", "Yes.", "海は暗い。", "word " * 3000])
def test_odd_stories_are_reviewed_as_well(text: str) -> None:
    found = reviewed(Story("odd", text))
    assert json.dumps(found.plain(), allow_nan=False)
    assert len(found.aspects) == 10


def test_weights_that_were_named_must_be_there() -> None:
    with pytest.raises(UnknownName, match="no asset is called 'nowhere'"):
        ask_metrics(STORY, weights="nowhere")


@pytest.mark.parametrize("weights", ["both", "large"])
def test_large_weights_are_asked_wherever_there_are_some(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = load_reader("fake")
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: fake)
    specs = {part: metric.spec for part, metric in choose_parts(weights).parts.items()}
    assert specs["storyer"] == f"storyer(weights='{weights}', interval=True)"
    assert specs["criteria"] == f"criteria(weights='{weights}')"
    assert specs["coherence"] == f"coherence(weights='{weights}')"
    assert specs["aspects"] == "aspects"
