"""Every colour that an operator may choose is readable wherever the pages show it."""

import itertools
import re

import pytest
from django.conf import settings

from site_content.colours import DARK, LIGHT, MIN_CONTRAST, accent_on, contrast, dark_colour

# The ugliest: each combination of eight values of red, green and blue.
COLOURS = [
    "#" + "".join(channels)
    for channels in itertools.product(("00", "24", "49", "6d", "92", "b6", "db", "ff"), repeat=3)
]
ALLOWED = [colour for colour in COLOURS if LIGHT.contrast_of(colour) >= MIN_CONTRAST]
ALLOWED_IN_THE_DARK = [colour for colour in COLOURS if DARK.contrast_of(colour) >= MIN_CONTRAST]


def unreadable(surfaces, colour: str) -> list[str]:
    colour, strong, tint, on = accent_on(surfaces, colour)
    pairs = [(text, background) for text in (colour, strong) for background in (*surfaces[:3], tint)]
    pairs += [(on, colour), (on, strong), (surfaces.ink, tint), (surfaces.soft, tint)]
    return [f"{text} on {background}" for text, background in pairs if contrast(text, background) < MIN_CONTRAST]


def test_contrast_is_that_of_wcag():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the example of WebAIM


def test_every_allowed_colour_is_readable_in_both_themes():
    assert min(len(ALLOWED), len(ALLOWED_IN_THE_DARK)) > 100
    assert [each for colour in ALLOWED for each in unreadable(LIGHT, colour)] == []
    assert [each for colour in ALLOWED for each in unreadable(DARK, dark_colour(colour))] == []
    assert [each for colour in ALLOWED_IN_THE_DARK for each in unreadable(DARK, colour)] == []


def test_surfaces_are_those_of_the_stylesheet():
    sheet = (settings.BASE_DIR / "static/css/arena.css").read_text()
    for number, surfaces in enumerate((LIGHT, DARK), 1):
        for name, colour in surfaces._asdict().items():
            stated = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", sheet)[number]
            assert colour in (stated, "#" + "".join(2 * digit for digit in stated[1:]))
