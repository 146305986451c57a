"""Static files: the chart library out of its package, and a compression that does not hold up a start."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import brotli
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.utils import matches_patterns
from django.core.files.storage import FileSystemStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The highest quality takes nine seconds for the chart library, this one half a second and 11 % more bytes.
BROTLI_QUALITY = 9


class ChartLibraryFinder(BaseFinder):
    """`plotly/plotly.min.js` from the installed package: of all it carries this one file, and nothing is imported."""

    FILE = "plotly.min.js"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        package = find_spec("plotly")
        if package is None or package.origin is None:
            raise ImportError("the package plotly is not installed")
        self.storage = FileSystemStorage(location=Path(package.origin).parent / "package_data")
        self.storage.prefix = "plotly"  # type: ignore[attr-defined]  # where collectstatic puts it

    def find(self, path: str, **options: Any) -> Any:  # type: ignore[override]
        if path != f"plotly/{self.FILE}":
            return []
        found = self.storage.path(self.FILE)
        return [found] if options.get("find_all") or options.get("all") else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        if not matches_patterns(self.FILE, list(ignore_patterns or [])):
            yield self.FILE, self.storage


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=BROTLI_QUALITY)
        return compressed


class SiteStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    def create_compressor(self, **options: Any) -> QuickCompressor:
        return QuickCompressor(**options)
