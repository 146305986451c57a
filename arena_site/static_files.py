"""Collection and compression of static files."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path

import brotli
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The highest quality takes nine seconds for the chart library; this one takes half a second for 11 % more bytes.
BROTLI_QUALITY = 9


class SiteStaticFilesConfig(StaticFilesConfig):
    """Collect only those files of installed packages (STATICFILES_DIRS) that pages load."""

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        # plotly
        "datasets", "templates", "widgetbundle.js",
        # swagger-ui
        "favicon-32x32.png", "oauth2-redirect.*", "swagger-ui-bundle.js.*", "swagger-ui-standalone-preset.*",
    ]  # fmt: skip


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=BROTLI_QUALITY)
        return compressed


class SiteStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    def create_compressor(self, **options: object) -> QuickCompressor:
        return QuickCompressor(**options)


# Characters of the font of formulas, in the two files of css/prose.css: a browser loads the second one only for
# bold, script, sans-serif or double-struck letters.
MATH_FONTS = {
    "fonts/math.woff2": "20-7E A0 A8 AC AF B0 B1 B4 B7 D7 F7 131 237 2C6 2C7 2D8-2DA 2DC 300-30C 338 391-3F6 "
    "2002-2064 20D6 20D7 20DB 20DC 2102-2148 2190-22FF 2308-230B 231C-231F 2322 2323 23B0 23B1 23B4 23B5 23D0 "
    "23DC-23E1 25A0 25A1 25B2 25B3 25B6-25B8 25BC 25BD 25C0 25C1 25CA 25CB 25EF 2605 2660-2663 266D-266F 2713 "
    "27C2 27E6-27EB 27EE 27EF 27F5-27FF 2A00-2A0F 2A2F 2A3F 2A5E 2A74 2A75 2A7D 2A7E 2A85-2A8C 2A95 2A96 2AAF 2AB0 "
    "2AB5-2ABA 2AC5 2AC6 2ACB 2ACC 1D434-1D467 1D6A4 1D6A5 1D6E2-1D71B",
    "fonts/math-letters.woff2": "1D400-1D433 1D468-1D6A3 1D6A8-1D6E1 1D71C-1D7FF",
}


class MathFontFinder(BaseFinder):
    """Finder of the font of formulas, which is cut from ziamath's when static files are collected."""

    def find(self, path: str, find_all: bool = False, **kwargs: object) -> list[str]:  # type: ignore[override]
        return []

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        storage = CutFonts()
        for name in MATH_FONTS:
            yield name, storage


class CutFonts(Storage):
    """Cuts of one font as files; path() is the font, so that static_fingerprint() cuts nothing."""

    def path(self, name: str) -> str:
        return str(settings.MATH_FONT)

    def get_modified_time(self, name: str) -> datetime:
        return datetime.fromtimestamp(settings.MATH_FONT.stat().st_mtime, UTC)

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        return ContentFile(cut_font(settings.MATH_FONT, MATH_FONTS[name]))


@cache  # files are opened once to copy them and once to compute their hash
def cut_font(font: Path, characters: str) -> bytes:
    """Return these characters of a font as WOFF2, with all sizes of stretched and large ones.

    characters: code points and ranges of them, hexadecimal.
    """
    # Imported late: only the first start after an update cuts.
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    code_points: set[int] = set()
    for part in characters.split():
        first, _, last = part.partition("-")
        code_points.update(range(int(first, 16), int(last or first, 16) + 1))
    # The features are smaller drawings of subscripts and the like, which would add two thirds. Names 0, 13 and 14 are
    # the licence.
    options = Options(hinting=False, layout_features=[], name_IDs=[0, 1, 2, 13, 14])
    options.drop_tables += ["DSIG", "GPOS"]
    subset = TTFont(font, lazy=True, recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=code_points)
    subsetter.subset(subset)
    subset.flavor = "woff2"
    result = BytesIO()
    subset.save(result)
    return result.getvalue()
