import re

# Of longer prompts only the beginning and the end are read, where the question usually stands.
FIRST_CHARACTERS, LAST_CHARACTERS = 6_000, 2_000

FENCED_CODE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]{1,500}`")
FORMULA = re.compile(
    r"\$\$[^$]{1,2000}\$\$|(?<!\\)\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)|\\\(.{1,300}?\\\)|\\\[.{1,2000}?\\\]"
)
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_MARKUP = re.compile(r"<[^<>\n]{1,200}>")
_SPACE = re.compile(r"\s+")


def head_and_tail(text: str) -> str:
    if len(text) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return text
    return f"{text[:FIRST_CHARACTERS]}\n{text[-LAST_CHARACTERS:]}"


def without_code(text: str) -> str:
    return _INLINE_CODE.sub(" ", FENCED_CODE.sub("\n", text))


def extract_prose(text: str) -> str:
    """Return the text on one line, without formulas, addresses and markup."""
    for pattern in (FORMULA, _ADDRESS, _MARKUP):
        text = pattern.sub(" ", text)
    return _SPACE.sub(" ", text).strip()
