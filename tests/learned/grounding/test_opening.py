from __future__ import annotations

import numpy as np
import pytest

from fabula.core.errors import SettingError, UserError
from fabula.learned.grounding.opening import open_grounder
from fakes.drawings import draw_clock, draw_stop_sign
from fakes.tiny_vision import save_clip


def test_the_fake_grounder_needs_no_weights_and_finds_colours_in_its_own_regions():
    grounder = open_grounder("fake")
    assert not grounder.absence
    [sight] = grounder.look([draw_stop_sign()], ["apple", "sea"])
    assert {region.label for region in sight.regions} <= {"stone", "apple", "tree", "snow", "sea"}
    assert sight.similarities.shape == (len(sight.regions), 2)
    assert open_grounder("fake") is grounder


def test_a_folder_with_a_clip_grounds_by_the_cosines_of_its_space(tmp_path):
    grounder = open_grounder(str(save_clip(tmp_path / "clip")), detector="fake()")
    [sight] = grounder.look([draw_clock()], ["clock", "stop sign"])
    assert np.isfinite(sight.similarities).all()
    assert (np.abs(sight.similarities) <= 1).all()
    assert "joint" in grounder.signature


def test_regions_of_a_file_take_the_place_of_the_detectors(tmp_path):
    table = tmp_path / "boxes.csv"
    table.write_text("image_id,x,y,w,h\nclock,110,60,180,180\n")
    grounder = open_grounder("fake", detector=f"boxes({str(table)!r})")
    [sight] = grounder.look([draw_clock()], ["snow"])
    assert [region.box for region in sight.regions] == [(110, 60, 180, 180), (0, 0, 400, 300)]
    with pytest.raises(UserError, match="names no picture stop"):
        grounder.look([draw_stop_sign()], ["snow"])


@pytest.mark.parametrize(
    ("spec", "settings"),
    [(" ", {}), ("a\nb", {}), ("fake", {"regions": 0}), ("fake", {"detector": ""})],
)
def test_what_names_no_grounder_is_refused(spec, settings):
    with pytest.raises(SettingError):
        open_grounder(spec, **settings)


def test_a_model_that_encodes_no_pictures_is_refused(tmp_path):
    (tmp_path / "words.txt").write_text("dog 1 0\n")
    grounder = open_grounder(f"word_vectors({str(tmp_path / 'words.txt')!r})", detector="fake()")
    with pytest.raises(SettingError, match="no encoder of pictures and words"):
        _ = grounder.absence


@pytest.mark.assets
def test_labels_find_the_stop_sign_and_the_clock():
    grounder = open_grounder("labels")
    sign, clock = grounder.look([draw_stop_sign(), draw_clock()], ["stop sign", "clock", "xqzzt"])
    assert sign.similarities[:, 0].max() > clock.similarities[:, 0].max()
    assert clock.similarities[:, 1].max() > sign.similarities[:, 1].max()
    assert np.isnan(sign.similarities[:, 2]).all()
    assert any("xqzzt" in note for note in sign.notes)


@pytest.mark.assets
def test_the_embedded_grounder_finds_the_stop_sign_and_the_clock_and_notes_drawings():
    grounder = open_grounder("embedded")
    assert not grounder.absence
    nouns = ["stop sign", "clock", "elephant"]
    sign, clock = grounder.look([draw_stop_sign(), draw_clock()], nouns)
    best = np.array([sight.similarities.max(axis=0) for sight in (sign, clock)])
    assert best[0].argmax() == 0
    assert best[1].argmax() == 1
    assert best[0, 0] > best[1, 0] and best[1, 1] > best[0, 1]
