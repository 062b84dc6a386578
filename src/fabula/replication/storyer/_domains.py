"""Stories of several kinds: human, machine, corrupted, of another genre; seen and unseen ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.learned.negatives import manplts, union
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.rewriting import Rewriter
from fabula.learned.training.task_stories import Free, is_kept_back, vist_part
from fabula.replication.storyer._material import Material
from fabula.text.antonyms import Antonyms, read_wordnet
from fabula.text.respaced import parted, respaced

Change = Callable[[list[str], random.Random], list[str] | None]
CORRUPTIONS = (
    "UNION repeat", "UNION replace", "UNION shuffle", "UNION negate", "MANPLTS repetition",
    "MANPLTS substitution", "MANPLTS contradiction", "MANPLTS order",
)  # fmt: skip
_RATED = ("storyer", "storyer_ratings", "hanna", "mans")
_CORPUS = 300  # stories that corruptions take sentences and words from


def drawn(stories: Sequence[Story], count: int, seed: int) -> list[Story]:
    """Draw so many stories, the same ones whatever the order they came in."""
    ordered = sorted(stories, key=lambda story: story.id)
    return random.Random(seed).sample(ordered, min(count, len(ordered)))


def kept_back(material: Material, name: str, count: int) -> list[Story]:
    """Draw stories of a corpus that no reader has learned from, on one line each.

    Corruptions lose line ends, and originals must not differ from them by that. What resembles a
    story that people rated is left out.
    """
    corpus = material.dataset(name)
    kept = tuple(story for story in corpus.stories if is_kept_back(respaced(story.text)))
    free = Free([material.dataset(one) for one in _RATED])
    found = free.stories([replace(corpus, stories=kept)], kept_back=True)
    lines = [replace(story, text=" ".join(parted(story.text))) for story in found]
    return drawn(lines, count, material.seed)


def vist_references(material: Material, count: int) -> list[Story]:
    """Draw human stories of VIST's test albums."""
    texts: dict[str, str] = {}
    for story in vist_part(material.dataset("vist"), "test"):
        for reference in story.references:
            texts.setdefault(respaced(reference), str(story.item))
    found = [
        Story(f"vist:{number}", text, item=item)
        for number, (text, item) in enumerate(texts.items())
    ]
    return drawn(found, count, material.seed)


def corrupted(material: Material, stories: Sequence[Story]) -> dict[str, list[Story]]:
    """Corrupt stories in every way of UNION and of MANPLTS, one at a time; their ids stay.

    A story that does not admit of a way is left out of it, and a way that none admits of is not
    given at all.
    """
    whole = [one for one in material.dataset("writingprompts").stories if parted(one.text)]
    others = [parted(respaced(one.text)) for one in drawn(whole, _CORPUS, material.seed)]
    corpus, antonyms = Corpus.of(others), _antonyms(material)
    found: dict[str, list[Story]] = {}
    for name, change in _changes(corpus, antonyms).items():
        for story in stories:
            made = change(parted(story.text), random.Random(f"{material.seed} {name} {story.id}"))
            if made is not None:
                found.setdefault(name, []).append(replace(story, text=" ".join(made)))
    return found


def _changes(corpus: Corpus, antonyms: Antonyms | None) -> dict[str, Change]:
    def writer(rng: random.Random) -> Rewriter:
        return Rewriter(corpus, rng, manplts.WP, antonyms=antonyms)

    ways: tuple[Change, ...] = (
        lambda some, rng: union.repeat(some, seed=rng),
        lambda some, rng: union.replace(some, others=corpus, seed=rng, antonyms=antonyms),
        lambda some, rng: union.shuffle(some, seed=rng),
        lambda some, rng: union.negate(some, seed=rng),
        lambda some, rng: writer(rng).repeat(some),
        lambda some, rng: writer(rng).substitute(some),
        lambda some, rng: writer(rng).contradict(some),
        lambda some, rng: writer(rng).reorder(some),
    )
    return dict(zip(CORRUPTIONS, ways, strict=True))


def _antonyms(material: Material) -> Antonyms | None:
    from fabula.models import path_of

    try:
        return read_wordnet(path_of("wordnet") / "corpora" / "wordnet")
    except UserError as error:
        material.report(f"corruptions without antonyms: {error}")
        return None
