import unicodedata
from functools import cache

# Lower-case letters of other alphabets and small capitals, mapped to the Latin letters they look like.
LOOK_ALIKES = str.maketrans(
    "авекмнорстухіјѕԁԛԝɡαβγεικνορτυχıɪᴀʙᴄᴅᴇғɢʜᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abekmhopctyxijsdqwgabyeikvoptuxiiabcdefghjklmnoprstuvwyz",
)
# Letters without a glyph: Hangul fillers and the empty Braille cell.
_BLANKS = (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800)


def normalize_letters(text: str) -> str:
    """Return text in lower case and usual width, without accents and invisible characters."""
    text = text.casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text).translate(_deletion_table("Cf", "Mn", "Me")).casefold()
    return unicodedata.normalize("NFC", text)  # Korean syllables in one piece again


def strip_invisible(text: str) -> str:
    """Return text in usual width, without invisible characters."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_deletion_table("Cf"))


@cache
def _deletion_table(*categories: str) -> dict[int, None]:
    """Return a str.translate table that deletes these Unicode categories and blanks."""
    codes = (*range(0x80, 0x30000), *range(0xE0000, 0xE0200))
    deleted = [code for code in codes if unicodedata.category(chr(code)) in categories]
    return dict.fromkeys((*deleted, *_BLANKS))
