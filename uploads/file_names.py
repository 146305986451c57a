"""What a file was called, made harmless: it is shown, sent to models and offered for saving. No Django."""

import re
import unicodedata

LONGEST = 120
UNNAMED = "file"
# Characters that turn the direction of what follows: “exe.fdp” must not read as “pdf.exe”.
_TURNS_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless_name(name: str) -> str:
    """One line of visible characters without a path, at most 120 long; its ending is kept."""
    name = re.split(r"[/\\]", name)[-1]
    name = _TURNS_DIRECTION.sub("", unicodedata.normalize("NFC", name.encode(errors="ignore").decode()))
    name = "".join(" " if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") else sign for sign in name)
    name = " ".join(name.split()).strip(".")
    if len(name) > LONGEST:
        stem, dot, ending = name.rpartition(".")
        ending = dot + ending if stem and len(ending) <= 12 else ""
        name = name[: LONGEST - len(ending)].rstrip(". ") + ending
    return name or UNNAMED
