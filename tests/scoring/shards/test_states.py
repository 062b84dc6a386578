"""What is gathered of batches: merged in any order it is that of the whole, and it is only data."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.metric import BatchMetric
from fabula.core.story import Story
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.shards.states import (
    merge_states,
    read_state,
    refuse_unmergeable,
    seal_state,
    split_state,
    write_state,
)
from fabula.scoring.survey import Batches

SPECS = [
    "cider", "cider(compat=True)", "self_bleu", "self_bleu(order=2)", "self_bleu(sample=7)",
    "bertscore(model='fake()', layer=1, idf=True)", "rovist_vg(idf='run')",
]  # fmt: skip
WORDS = "the lamp went out and nobody lit it again said a keeper of lamps".split()


def make_stories(count: int = 60) -> list[Story]:
    chance = random.Random(3)
    return [
        Story(
            str(number),
            " ".join(chance.choices(WORDS, k=chance.randint(3, 30))),
            references=(" ".join(chance.choices(WORDS, k=12)),),
            images=("no picture",),
            system="ab"[number % 2],
        )
        for number in range(count)
    ]


def gather(metric: BatchMetric, stories: list[Story]) -> dict[str, Batches]:
    batches = Batches()
    for story in stories:
        batches.add(metric, story)
    return {metric.spec: batches}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("parts", [1, 3, 16])
def test_merged_part_by_part_it_is_the_whole(spec: str, parts: int):
    [metric] = choose_metrics(spec)
    assert isinstance(metric, BatchMetric)
    stories = make_stories()
    whole = seal_state(merge_states([gather(metric, stories)]), [metric])
    shards = [split_state(gather(metric, stories[at : at + 9]), parts) for at in range(0, 60, 9)]
    sealed = [seal_state(merge_states(own), [metric]) for own in zip(*shards, strict=True)]
    merged = seal_state(merge_states(sealed), [metric])
    [ours, wanted] = (state[metric.spec] for state in (merged, whole))
    assert ours.digests.keys() == wanted.digests.keys()
    assert ours.gathered.keys() == wanted.gathered.keys()
    for name, digest in wanted.digests.items():
        assert ours.digests[name].hex() == digest.hex()
    if metric.name != "rovist_vg":  # which would look at pictures
        found, known = (metric.read_in(stories, own.gathered) for own in (ours, wanted))
        assert list(map(repr, found)) == list(map(repr, known))


def test_a_part_has_its_share_of_what_cider_gathers():
    from fabula.metrics.cider import Cider

    [state] = [gather(Cider(), [*make_stories(200)])]
    sizes = [len(write_state(part)) for part in split_state(state, 4)]
    assert max(sizes) < 0.4 * sum(sizes)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", range(3))
def test_merged_in_any_order_it_gives_the_values_of_the_whole(spec: str, seed: int):
    [metric] = choose_metrics(spec)
    assert isinstance(metric, BatchMetric)
    stories, chance = make_stories(), random.Random(seed)
    whole = gather(metric, stories)
    shuffled = chance.sample(stories, len(stories))
    cuts = sorted(chance.sample(range(1, len(stories)), 4))
    parts = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    states = [write_state(gather(metric, part)) for part in parts]
    merged = seal_state(merge_states(read_state(state, [metric]) for state in states), [metric])
    merged = read_state(write_state(merged), [metric])
    for name, digest in whole[metric.spec].digests.items():
        assert merged[metric.spec].digests[name].hex() == digest.hex()
    if metric.name != "rovist_vg":  # which would look at pictures
        ours = metric.read_in(stories, merged[metric.spec].gathered)
        assert list(map(repr, ours)) == list(
            map(repr, metric.read_in(stories, whole[metric.spec].gathered))
        )


def test_a_sample_holds_the_same_stories_however_it_was_gathered():
    [metric] = choose_metrics("self_bleu(sample=5)")
    assert isinstance(metric, BatchMetric)
    stories = [Story(str(number), text) for number, text in enumerate(WORDS)]
    whole, back = (sorted(metric.gather(s)[""]._texts) for s in (stories, stories[::-1]))  # type: ignore
    assert whole == back and len(whole) == 5


def test_a_sample_of_all_stories_gives_the_values_of_all():
    stories = make_stories(30)
    sampled, whole = choose_metrics("self_bleu(sample=1000), self_bleu")
    assert list(map(repr, sampled.read(stories))) == list(map(repr, whole.read(stories)))


def test_a_story_outside_the_sample_is_compared_with_all_of_it():
    # Two texts are sampled; whichever they are, "x y" shares nothing with them.
    [metric] = choose_metrics("self_bleu(order=1, sample=2)")
    stories = [Story("1", "a b c d"), Story("2", "a b c d e"), Story("3", "a b c d")]
    batch = metric.gather(stories)[""]  # type: ignore[attr-defined]
    [reading] = metric.read_in([Story("4", "a b q q")], {"": batch})  # type: ignore[attr-defined]
    # Two of four words are in the sample, whose nearest length is 4 or 5: no other penalty at 4.
    assert reading.values[0] in (pytest.approx(50), pytest.approx(50 * 2.718281828 ** (1 - 5 / 4)))


class _Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def _write(path: Path) -> tuple[object, tuple[object, ...]]:
    from fabula.core.files import write_text

    return write_text, (path, "written")


class _Sly(_Evil):
    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _write(self.path)


@pytest.mark.parametrize("kind", [_Evil, _Sly])
def test_a_state_that_would_run_code_is_refused(tmp_path: Path, kind: type[_Evil]):
    data = pickle.dumps({"cider": kind(tmp_path / "evil")})
    with pytest.raises(InputError, match=r"cannot be read .*is no statistic"):
        read_state(data, choose_metrics("cider"))
    assert not (tmp_path / "evil").exists()


def test_a_cut_state_is_refused():
    [metric] = choose_metrics("cider")
    assert isinstance(metric, BatchMetric)
    data = write_state(gather(metric, make_stories(4)))
    with pytest.raises(InputError, match="cannot be read"):
        read_state(data[: len(data) // 2], [metric])


def test_a_metric_whose_statistics_cannot_be_merged_is_named(toy):
    with pytest.raises(SettingError, match="spread: its statistics"):
        refuse_unmergeable([toy("spread")])
