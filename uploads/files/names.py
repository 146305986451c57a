import re
import unicodedata

MAX_LENGTH = 120
FALLBACK_NAME = "file"
# They reverse the text that follows: “exe.fdp” would be displayed as “pdf.exe”.
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def sanitize_name(name: str) -> str:
    """Return one line of visible characters without a path, at most MAX_LENGTH, with the extension."""
    name = re.split(r"[/\\]", name)[-1]
    name = _BIDI_CONTROLS.sub("", unicodedata.normalize("NFC", name.encode(errors="ignore").decode()))
    name = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character for character in name
    )
    name = " ".join(name.split()).strip(".")
    if len(name) > MAX_LENGTH:
        stem, dot, ending = name.rpartition(".")
        ending = dot + ending if stem and len(ending) <= 12 else ""
        name = name[: MAX_LENGTH - len(ending)].rstrip(". ") + ending
    return name or FALLBACK_NAME
