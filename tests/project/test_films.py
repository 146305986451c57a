"""`make films` keeps a screen of each second, and the sheet has those that differ."""

from pathlib import Path

from PIL import Image

from tools.films.film import Screen, different, newest_of_each_second, store


def screen(second: int, colour: str, caption: str = "One.") -> Screen:
    return Screen(second, caption, Image.new("RGB", (200, 100), colour))


def test_newest_screen_of_each_second_is_kept():
    taken = [(7.0, "One.", b"a"), (7.9, "One.", b"b"), (8.1, "Two.", b"c"), (10.2, "Two.", b"d")]
    assert newest_of_each_second(taken) == {0: ("One.", b"b"), 1: ("Two.", b"c"), 3: ("Two.", b"d")}
    assert newest_of_each_second([]) == {}


def test_sheet_leaves_out_equal_screens(tmp_path: Path):
    screens = [screen(0, "red"), screen(1, "red"), screen(2, "blue"), screen(3, "blue", "Two.")]
    assert [one.second for one in different(screens)] == [0, 2, 3]
    store(screens, tmp_path / "reader")
    assert len(list((tmp_path / "reader").iterdir())) == 4
    assert (tmp_path / "reader.jpg").exists()
