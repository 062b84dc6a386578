"""VIST: stories of systems on photo albums, with the human stories on the same albums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    check_object,
    find_file,
    find_files,
    gather_stories,
    get_list,
    get_text,
    get_texts,
    read_object,
    require_file,
)
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import TextFile

_OUTPUTS = {
    "arel_prediction_test.json": "AREL",
    "arel_prediction_val.json": "AREL",
    "xe_ss_prediction_test.json": "XE-ss",
    "xe_ss_prediction_val.json": "XE-ss",
    "mcsm_rnn.json": "MCSM+RNN",
    "bart_pre.json": "BART-pre",
    "bart_only.json": "BART",
}
_PICTURED = "mcsm_bart_results.csv"
_CHALLENGE = "arel_challenge.json"
_REFERENCES = ("vist_test_reference.json", "vist_val_reference.json")
_DESCRIPTIONS = ("vist_test_desc_reference.json", "vist_val_desc_reference.json")

CARD = DatasetCard(
    title="VIST: system outputs and human stories",
    about="One story of each system for every photo album of the VIST test set (six systems) and "
    "validation set (AREL and XE-ss). The references are the human stories on the same album, "
    "five as a rule; the item is the album. Images are ids of photos, not files. `challenge` "
    "gives AREL's stories on all 2,017 sequences of the test set, `descriptions` what people "
    "wrote on single photos.",
    licence="MIT (outputs); the human stories under the terms of VIST",
    citation="Huang, Ferraro, Mostafazadeh, Misra, Agrawal, Devlin, Girshick, He, Kohli, Batra et "
    "al. (2016). Visual storytelling. NAACL-HLT, 1233–1239. Outputs: Wang, Chen, Wang and Wang "
    "(2018). No metrics are perfect: Adversarial reward learning for visual storytelling. ACL, "
    "899–909; Chen, Huang, Takamura and Nakayama (2021). Commonsense knowledge aware concept "
    "selection for diverse and informative visual storytelling. AAAI.",
    source="sairin1202/…Visual-Storytelling and eric-xw/AREL",
    files={
        **dict.fromkeys(_REFERENCES, "album → human stories"),
        **{name: f"album → [story] of {system}" for name, system in _OUTPUTS.items()},
        _PICTURED: "image1 … image5 (addresses that end in photo ids), story of MCSM+BART",
        _CHALLENGE: "AREL's stories with album and photo ids; tells the album of a sequence",
        **dict.fromkeys(_DESCRIPTIONS, "photo → descriptions"),
    },
    checksums={
        "vist_test_reference.json": (
            "255f886e344ae9142cbb33174e6a45f2733a54f155b7fb5718daa3cea8cb4910"
        ),
        "vist_val_reference.json": (
            "2c1b605f250214fabd2fe08d189f2aed08e3fd470075d5ba5056392c9e72dfdb"
        ),
        "arel_prediction_test.json": (
            "ddc9eb171a057a3012ee789c2dabce22feb5530dd77b5456ee9c1ab109564e98"
        ),
        "arel_prediction_val.json": (
            "a96aa5119848a0d93ce0e0bde3882d4d55c9c079e3dc8e6ce2098274e434b9e3"
        ),
        "xe_ss_prediction_test.json": (
            "9826280c3e76de2ff2adc19aebf450b0b96a29c9273b69eb435a8874f07e467c"
        ),
        "xe_ss_prediction_val.json": (
            "fa7f15e0d676a631bd85c80ade7d1b447e8c9f55f647f6a6014b67229b10340e"
        ),
        "mcsm_rnn.json": "eef9c68229b487a509a558f4f4d658607c70a05916c72cdb335a1c441454ce13",
        "bart_pre.json": "671d66cdeac9850a39e2aeb8a700c2ff6278a192665c64cd1140fd6690ba1c0e",
        "bart_only.json": "7c25355cbf947a99f6c24b78c4b4298222c736658a89912d80450b04c38e4566",
        "mcsm_bart_results.csv": "0d11b3c85287c8cefa6ee92b7be33f27db8ba624b8dfa5f70fe61c7ff68328a2",
        "arel_challenge.json": "87efdc790300dc54d133ba39ef2500a83bf216f102f8a1cc92aad753aeb46862",
        "vist_test_desc_reference.json": (
            "25ab22e9543d2e4b3b16a829e59622246e5b06ef675dd21a4b144657433876cf"
        ),
        "vist_val_desc_reference.json": (
            "b2875a34114add05e0f994c4c87200f25a8bb1866406527dfc8abd8b062ffe17"
        ),
    },
    counts={"stories": 8_056, "items": 2_008, "systems": 6},
    quirks=(
        "An album has two sequences of photos as a rule, and the systems do not all tell the same "
        "one: AREL and MCSM+BART do so for 572 of 1,010 albums.",
        "Photos are known only for MCSM+BART and, by way of the challenge file, for AREL (where "
        "both sequences of an album have the same story, for neither).",
        "Names are masked ([male], [female], [location], [organization]), texts tokenised.",
        "There are no ratings; human stories are references here, and stories in rovist.",
    ),
)


def load(path: Path | None = None) -> Dataset:
    """Load the outputs that are there, with the human stories as references."""
    references = _read_texts(find_files(path, *_REFERENCES))
    sequences = challenge(path) if find_file(path, _CHALLENGE) else ()
    stories = gather_stories(_read_stories(path, sequences, references))
    return Dataset("vist", CARD, stories)


def challenge(path: Path | None = None) -> tuple[Story, ...]:
    """Load AREL's stories on all sequences of the test set; the item is `album/number`."""
    file = require_file(path, _CHALLENGE)
    seen: dict[str, int] = {}
    stories = []
    for number, value in enumerate(get_list(read_object(file), "output_stories", file.label), 1):
        where = f"{file.label}, story {number}"
        row = check_object(value, where)
        album = get_text(row, "album_id", where)
        seen[album] = seen.get(album, 0) + 1
        item = f"{album}/{seen[album]}"
        text = get_text(row, "story_text_normalized", where).strip()
        photos = tuple(get_texts(row, "photo_sequence", where))
        stories.append(Story(f"AREL/{item}", text, images=photos, system="AREL", item=item))
    return tuple(stories)


def descriptions(path: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Load what people wrote on single photos, by photo id."""
    return _read_texts(find_files(path, *_DESCRIPTIONS))


def _read_texts(files: dict[str, TextFile]) -> dict[str, tuple[str, ...]]:
    """Texts by key, over several files; a key in two of them is refused."""
    texts: dict[str, tuple[str, ...]] = {}
    for file in files.values():
        values = read_object(file)
        for key in values:
            if key in texts:
                raise InputError(f"{file.label}: {key!r} is in another file too", "keep one")
            texts[key] = tuple(text.strip() for text in get_texts(values, key, file.label))
    return texts


def _read_stories(
    path: Path | None, sequences: tuple[Story, ...], references: dict[str, tuple[str, ...]]
) -> Iterator[Placed[Story]]:
    for name, file in find_files(path, *_OUTPUTS, _PICTURED).items():
        read = (
            _read_table(file, sequences)
            if name == _PICTURED
            else _read_albums(file, sequences, name)
        )
        for where, story in read:
            yield where, replace(story, references=references.get(story.item or "", ()))


def _read_albums(
    file: TextFile, sequences: tuple[Story, ...], name: str
) -> Iterator[Placed[Story]]:
    system = _OUTPUTS[name]
    photos = _index_photos(sequences) if system == "AREL" else {}
    albums = read_object(file)
    for album in albums:
        where = f"{file.label}, album {album!r}"
        (text,) = get_list(albums, album, file.label, 1)
        if not isinstance(text, str):
            raise InputError(f"{where}: the story is no text", "write a string")
        yield where, _make_story(system, album, text, photos.get((album, text.strip()), ()))


def _index_photos(sequences: tuple[Story, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Photos by album and story, where an album's sequences have different stories."""
    keys = [(_find_album(story), story.text) for story in sequences]
    once = {key for key, count in Counter(keys).items() if count == 1}
    return {key: story.images for key, story in zip(keys, sequences, strict=True) if key in once}


def _read_table(file: TextFile, sequences: tuple[Story, ...]) -> Iterator[Placed[Story]]:
    albums = {story.images: _find_album(story) for story in sequences}
    for where, row in read_rows(file):
        photos = tuple(
            Path(get_text(row, name, where)).stem for name in row if name.startswith("image")
        )
        if photos not in albums:
            raise InputError(f"{where}: no album with these photos", f"put {_CHALLENGE} beside it")
        yield where, _make_story("MCSM+BART", albums[photos], get_text(row, "story", where), photos)


def _find_album(story: Story) -> str:
    return (story.item or "").rpartition("/")[0]


def _make_story(system: str, album: str, text: str, photos: tuple[str, ...]) -> Story:
    return Story(f"{system}/{album}", text.strip(), images=photos, system=system, item=album)
