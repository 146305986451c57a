"""Static files: a few out of installed packages, and a compression that does not hold up a start."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import brotli
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.utils import matches_patterns
from django.core.files.storage import FileSystemStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The highest quality takes nine seconds for the chart library, this one half a second and 11 % more bytes.
BROTLI_QUALITY = 9


class Packaged(NamedTuple):
    """Files of an installed package that browsers load: which ones, out of which of its directories."""

    package: str
    directory: str
    files: tuple[str, ...]


# By the directory under which they are served.
PACKAGED = {
    "plotly": Packaged("plotly", "package_data", ("plotly.min.js",)),
    "swagger-ui": Packaged(
        "drf_spectacular_sidecar",
        "static/drf_spectacular_sidecar/swagger-ui-dist",
        ("swagger-ui-bundle.js", "swagger-ui.css", "swagger-ui.css.map"),  # the second names the third
    ),
}


class PackagedFilesFinder(BaseFinder):
    """Of all that these packages carry nothing but PACKAGED is served, and nothing of them is imported."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storages = {prefix: _storage(prefix, packaged) for prefix, packaged in PACKAGED.items()}

    def find(self, path: str, **options: Any) -> Any:  # type: ignore[override]
        prefix, _, name = path.partition("/")
        if prefix not in PACKAGED or name not in PACKAGED[prefix].files:
            return []
        found = self.storages[prefix].path(name)
        return [found] if options.get("find_all") or options.get("all") else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        for prefix, packaged in PACKAGED.items():
            for name in packaged.files:
                if not matches_patterns(name, list(ignore_patterns or [])):
                    yield name, self.storages[prefix]


def _storage(prefix: str, packaged: Packaged) -> FileSystemStorage:
    package = find_spec(packaged.package)
    if package is None or package.origin is None:
        raise ImportError(f"the package {packaged.package} is not installed")
    storage = FileSystemStorage(location=Path(package.origin).parent / packaged.directory)
    storage.prefix = prefix  # type: ignore[attr-defined]  # where collectstatic puts it
    return storage


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=BROTLI_QUALITY)
        return compressed


class SiteStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    def create_compressor(self, **options: Any) -> QuickCompressor:
        return QuickCompressor(**options)
