"""Colours of both themes from the operator's accent colour.

Contrast is that of WCAG 2.2: (L1 + 0.05) / (L2 + 0.05) of the relative luminances, 1 to 21. Text needs 4.5.
"""

import hashlib
import re
from functools import lru_cache
from typing import NamedTuple

MIN_CONTRAST = 4.5
# Contrast of a computed accent in the dark theme, about that of the arena's own.
DARK_CONTRAST = 7.0
_HEX = re.compile(r"#[0-9a-f]{6}")


class Surfaces(NamedTuple):
    """A theme's colours in static/css/arena.css that text in the accent colour, or on its tint, meets."""

    page: str
    room: str
    tint: str
    ink: str
    soft: str

    def contrast_of(self, colour: str) -> float:
        """Return the contrast on the worst background."""
        return min(contrast(colour, background) for background in (self.page, self.room, self.tint))


LIGHT = Surfaces(page="#ffffff", room="#f5f6f4", tint="#ecefeb", ink="#1c2320", soft="#58635d")
DARK = Surfaces(page="#1a1f1c", room="#131715", tint="#242a27", ink="#e4e9e6", soft="#a3aea8")
_WHITE, _BLACK = "#ffffff", "#0d1210"


class Accent(NamedTuple):
    """A theme's colours that follow from its accent colour. on: text on the accent. strong: of links pointed at."""

    colour: str
    strong: str
    tint: str
    on: str


def is_colour(text: str) -> bool:
    return _HEX.fullmatch(text) is not None


def contrast(colour: str, other: str) -> float:
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def accent_on(surfaces: Surfaces, colour: str) -> Accent:
    """Derive the theme's other colours; `colour` has MIN_CONTRAST on its surfaces."""
    is_dark = surfaces is DARK
    strong = _mix(colour, _WHITE, 0.4) if is_dark else _mix(colour, _BLACK, 0.3)
    on = max((_WHITE, _BLACK), key=lambda text: min(contrast(text, colour), contrast(text, strong)))
    tint = next(
        shade
        for percent in range(14, -1, -1)
        if _is_readable(shade := _mix(surfaces.page, colour, percent / 100), surfaces, colour, strong)
    )
    return Accent(colour, strong, tint, on)


def _is_readable(background: str, surfaces: Surfaces, *accents: str) -> bool:
    return all(contrast(text, background) >= MIN_CONTRAST for text in (surfaces.ink, surfaces.soft, *accents))


def dark_colour(light: str) -> str:
    """Lighten the colour until it is read well in the dark theme."""
    shades = (_mix(light, _WHITE, percent / 100) for percent in range(101))
    return next(shade for shade in shades if DARK.contrast_of(shade) >= DARK_CONTRAST)


@lru_cache(maxsize=64)
def stylesheet(light: str, dark: str) -> str:
    """Return the stylesheet that replaces the accent of static/css/arena.css."""
    in_light, in_dark = accent_on(LIGHT, light), accent_on(DARK, dark)
    names = {"accent": "colour", "accent-strong": "strong", "accent-tint": "tint", "on-accent": "on"}
    lines = (f"  --{name}: light-dark({getattr(in_light, of)}, {getattr(in_dark, of)});" for name, of in names.items())
    return "\n".join([":root {", *lines, "}", ""])


def stylesheet_key(light: str, dark: str) -> str:
    """Return the key of the stylesheet's URL: both colours, and a digest of the text."""
    digest = hashlib.sha256(stylesheet(light, dark).encode()).hexdigest()[:8]
    return f"{light[1:]}-{dark[1:]}-{digest}"


def parse_stylesheet_key(key: str) -> tuple[str, str] | None:
    """Return both colours; None if the key is malformed or a colour has less than MIN_CONTRAST."""
    light, dark = (f"#{part}" for part in [*key.split("-"), "", ""][:2])
    if not (is_colour(light) and is_colour(dark)):
        return None
    is_allowed = min(LIGHT.contrast_of(light), DARK.contrast_of(dark)) >= MIN_CONTRAST
    return (light, dark) if is_allowed else None


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(colour: str, other: str, share: float) -> str:
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(start + (end - start) * share):02x}" for start, end in pairs)
