"""What letters look like, for comparing texts as a reader sees them. No Django here."""

import unicodedata
from functools import cache

# Lower-case letters of other alphabets, and small capitals, that are taken for Latin ones.
LOOK_ALIKES = str.maketrans(
    "авекмнорстухіјѕԁԛԝɡαβγεικνορτυχıɪᴀʙᴄᴅᴇғɢʜᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abekmhopctyxijsdqwgabyeikvoptuxiiabcdefghjklmnoprstuvwyz",
)
# Letters and signs without a picture: Hangul fillers, an empty Braille cell.
_BLANKS = (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800)


def plain_letters(text: str) -> str:
    """In lower case and usual width, without accents and without zero-width, bidi and other invisible characters."""
    text = text.casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text).translate(_codes("Cf", "Mn", "Me")).casefold()
    return unicodedata.normalize("NFC", text)  # Korean syllables in one piece again


def visible_letters(text: str) -> str:
    """In usual width and without invisible characters; capitals and accents stay."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_codes("Cf"))


@cache
def _codes(*categories: str) -> dict[int, None]:
    """The characters of these categories, and blanks, for str.translate."""
    codes = (*range(0x80, 0x30000), *range(0xE0000, 0xE0200))
    unseen = [code for code in codes if unicodedata.category(chr(code)) in categories]
    return dict.fromkeys((*unseen, *_BLANKS))
