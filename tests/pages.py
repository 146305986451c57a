"""HTML normalised for comparison."""

import re


def compact(html: str) -> str:
    """Collapse whitespace, and drop it beside and at the end of tags."""
    return re.sub(r" ?(<[^<>]*?) ?(/?>) ?", r"\1\2", re.sub(r"\s+", " ", html))
