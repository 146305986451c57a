"""Extract the text of a PDF. No Django: only the guarded child process calls it (uploads.reading.child)."""

import io
from typing import Any

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError, PyPdfError

from common.text.storable import storable
from uploads.reading.findings import MAX_CHARACTERS, Reason, Text, Unreadable

MAX_PAGES = 1_000
READER = f"pypdf-{pypdf.__version__}"

# Honest files of a thousand pages stay below a tenth of each; within pypdf's own limits 11 kB can take 22 s.
LIMITS: dict[str, Any] = {
    "maximum_declared_stream_length": 20_000_000,
    "array_based_stream_maximum_output_length": 20_000_000,
    "array_maximum_element_count": 50_000,
    "dictionary_maximum_element_count": 50_000,
    "zlib_maximum_output_length": 20_000_000,
    "zlib_maximum_recovery_input_length": 1_000_000,
    "lzw_maximum_output_length": 10_000_000,
    "run_length_maximum_output_length": 10_000_000,
    "brotli_maximum_output_length": 10_000_000,
    "jbig2_maximum_output_length": 1_000_000,
    "image_maximum_buffer_size": 1_000_000,
    "stream_filters_maximum_length": 4,
    "stream_decoding_work_maximum_length": 40_000_000,
    "stream_parsing_work_maximum_count": 1_000_000,
    "page_tree_maximum_entries": 4 * MAX_PAGES,
    "page_tree_maximum_depth": 50,
    "page_tree_maximum_page_entries": 100_000,
    "xform_maximum_invocations_per_extraction": 200,
    "jbig2dec_binary": None,
    "disable_legacy_handling": True,
}


def extract_text(content: bytes) -> Text:
    """Return the text of each page. Raises Unreadable; any other exception means a damaged or hostile file."""
    pypdf.overwrite_configuration(**LIMITS)
    try:
        return Text(_pages(content), READER)
    except (DependencyError, FileNotDecryptedError) as error:
        raise Unreadable(Reason.ENCRYPTED) from error
    except LimitReachedError as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    except PyPdfError as error:
        raise Unreadable(Reason.DAMAGED) from error


def _pages(content: bytes) -> list[str]:
    reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
    # Files that are only protected against changes have an empty password for reading.
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable(Reason.ENCRYPTED)
    if len(reader.pages) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    pages: list[str] = []
    characters = 0
    for page in reader.pages:
        text = storable(page.extract_text()).strip()
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
        pages.append(text)
    if not pages:
        raise Unreadable(Reason.DAMAGED)
    if not characters:
        raise Unreadable(Reason.NO_TEXT)
    return pages
