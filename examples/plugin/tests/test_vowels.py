def test_the_share_by_hand(assert_story) -> None:
    assert_story("Abc, ido!", "vowels == 0.5")


def test_marks_do_not_count_and_y_is_a_setting(assert_story) -> None:
    assert_story("éy", "vowels == 0.5")
    assert_story("éy", "vowels(y=True) == 1")
