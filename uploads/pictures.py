"""Pictures made fit for models. No Django: only the guarded child process calls it (uploads.extraction_child)."""

import io

import PIL
from PIL import Image, ImageOps

from uploads.findings import Picture, Reason, Unreadable

FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
MOST_PIXELS = 24_000_000
# Models scale down what is longer.
LONG_SIDE = 1568
JPEG_QUALITY = 85
# A drawing or a screenshot is sharper as PNG; a photograph that is larger than this as PNG becomes a JPEG.
MOST_PNG_BYTES = 700_000
READER = f"pillow-{PIL.__version__}"


def prepared(content: bytes) -> Picture:
    """Upright, on white, its first frame, at most 1568 pixels long, without metadata. Raises Unreadable.

    Anything else it raises means a damaged or hostile file.
    """
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
