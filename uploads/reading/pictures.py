"""Pictures made fit for models. No Django: only the guarded child process calls it (uploads.reading.child)."""

import io
import struct

import PIL
from PIL import Image, ImageOps

from uploads.reading.findings import Picture, Reason, Unreadable

FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
MOST_PIXELS = 24_000_000
# Models scale down what is longer.
LONG_SIDE = 1568
JPEG_QUALITY = 85
# A drawing or a screenshot is sharper as PNG; a photograph that is larger than this as PNG becomes a JPEG.
MOST_PNG_BYTES = 700_000
_PNG, _GIFS = b"\x89PNG\r\n\x1a\n", (b"GIF87a", b"GIF89a")
# The first byte of a GIF's block.
_IMAGE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B
READER = f"pillow-{PIL.__version__}"


def prepared(content: bytes) -> Picture:
    """Upright, on white, its first frame, at most 1568 pixels long, without metadata. Raises Unreadable.

    Anything else it raises means a damaged or hostile file.
    """
    if not _is_whole(content):
        raise Unreadable(Reason.DAMAGED)
    with _opened(content) as image:
        if image.width * image.height > MOST_PIXELS:  # from the header: nothing is decoded yet
            raise Unreadable(Reason.TOO_MANY_PIXELS)
        had_few_colours = image.format in ("PNG", "GIF")
        image.draft("RGB", (LONG_SIDE, LONG_SIDE))  # a JPEG need not be decoded larger than it will be
        upright = ImageOps.exif_transpose(image)
    pixels = _on_white(upright)
    pixels.thumbnail((LONG_SIDE, LONG_SIDE), Image.Resampling.LANCZOS)
    if had_few_colours and len(png := _encoded(pixels, "PNG", optimize=True)) <= MOST_PNG_BYTES:
        return Picture(png, "image/png", pixels.width, pixels.height, READER)
    jpeg = _encoded(pixels, "JPEG", quality=JPEG_QUALITY)
    return Picture(jpeg, "image/jpeg", pixels.width, pixels.height, READER)


def _is_whole(content: bytes) -> bool:
    """Return whether a PNG or a GIF has its end; Pillow itself refuses other formats that were cut off.

    Of these two Pillow reads the pixels that are there, and of an animation the first picture.
    """
    try:
        if content.startswith(_PNG):
            return _png_ends(content)
        return _gif_ends(content) if content.startswith(_GIFS) else True
    except (IndexError, struct.error):
        return False


def _png_ends(content: bytes) -> bool:
    """Walk over the chunks: length, kind, body, checksum. Raises struct.error where a chunk is cut off."""
    position = len(_PNG)
    while True:
        length: int
        length, kind = struct.unpack_from(">I4s", content, position)
        position += 12 + length
        if kind == b"IEND":
            return position <= len(content)


def _gif_ends(content: bytes) -> bool:
    """Walk over the blocks to the trailer. Raises IndexError where a block is cut off."""
    position = 13 + _colour_table(content[10])
    while (kind := content[position]) != _TRAILER:
        if kind == _IMAGE:
            position += 11 + _colour_table(content[position + 9])
        elif kind == _EXTENSION:
            position += 2
        else:
            return False
        while length := content[position]:
            position += 1 + length
        position += 1
    return True


def _colour_table(flags: int) -> int:
    """Return the bytes of a GIF's colour table."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _opened(content: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(content), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise Unreadable(Reason.TOO_MANY_PIXELS) from error


def _on_white(image: Image.Image) -> Image.Image:
    """A new image of nothing but pixels."""
    if not image.has_transparency_data:
        plain = image.convert("RGB")
        return Image.frombytes("RGB", plain.size, plain.tobytes())
    seen = image.convert("RGBA")
    paper = Image.new("RGB", seen.size, "white")
    paper.paste(seen, mask=seen.getchannel("A"))
    return paper


def _encoded(image: Image.Image, format: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()
