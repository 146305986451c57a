"""`make films` keeps a screen of each second, and the sheet has those that differ."""

from pathlib import Path
from unittest.mock import MagicMock

from PIL import Image

from tools.films.film import REFUSAL, Film, Screen, different, newest_of_each_second, store


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


def test_refusals_are_found_unless_expected():
    film, page = Film(), MagicMock(url="http://site/teams/join/")
    film.follow(page)
    film.follow(page)
    [_, console, response] = [call.args for call in page.on.call_args_list]
    gone, used = MagicMock(status=404, url="/gone/"), MagicMock(status=409, url="/teams/join/")

    response[1](gone)
    console[1](MagicMock(type="error", text=f"Failed to load resource: {REFUSAL} 404"))
    with film.refused(409):
        response[1](used)
    with film.refused(409):
        pass

    assert film.found == [": 404 /gone/ (teams/join/)", ": no refusal with 409 (teams/join/)"]
