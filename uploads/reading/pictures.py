"""Re-encode pictures for models. No Django: only the guarded child process calls it (uploads.reading.child)."""

import io
import struct
from contextlib import suppress

import PIL
from PIL import AvifImagePlugin, Image, ImageCms, ImageOps

from uploads.reading.findings import Logo, Note, NoteKind, Picture, Reason, Unreadable
from uploads.reading.kinds import READS_HEIC

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "ICO", "AVIF", "JPEG2000")
MAX_PIXELS = 24_000_000
# Models scale down longer pictures.
MAX_SIDE = 1568
JPEG_QUALITY = 85
MAX_ICON_PIXELS = 4_000_000
ICON_SIDE = 96
# Drawings and screenshots are sharper as PNG; a picture that is larger than this as PNG becomes a JPEG.
MAX_PNG_BYTES = 700_000
_PNG, _GIFS = b"\x89PNG\r\n\x1a\n", (b"GIF87a", b"GIF89a")
# The first byte of a GIF's block.
_IMAGE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B
# Width and height of a logo: three times what the header shows.
MAX_LOGO = (480, 96)
SITE_ICON_SIDE = 64
READER = f"pillow-{PIL.__version__}"
_DRAWN_FORMATS = ("PNG", "GIF", "BMP", "ICO")
# Each thread of a decoder needs address space, which is limited.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1


def prepare_picture(content: bytes) -> Picture:
    """Return the first frame upright, on white, with sides up to MAX_SIDE pixels, without metadata.

    Raises Unreadable; any other exception means a damaged or hostile file.
    """
    with _open_checked(content) as image:
        had_few_colours = image.format in _DRAWN_FORMATS
        frames = 1 if image.format == "ICO" else getattr(image, "n_frames", 1)
        image.draft("RGB", (MAX_SIDE, MAX_SIDE))  # decodes a JPEG at a smaller scale
        upright = ImageOps.exif_transpose(image)
    notes = [Note(NoteKind.FRAMES_LEFT_OUT, frames - 1)] if frames > 1 else []
    pixels = _flatten(upright)
    pixels.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    if had_few_colours and len(png := _encode(pixels, "PNG", optimize=True)) <= MAX_PNG_BYTES:
        return Picture(png, "image/png", pixels.width, pixels.height, READER, notes)
    jpeg = _encode(pixels, "JPEG", quality=JPEG_QUALITY)
    return Picture(jpeg, "image/jpeg", pixels.width, pixels.height, READER, notes)


def prepare_icon(content: bytes) -> Picture:
    """Return the first frame as a PNG of ICON_SIDE × ICON_SIDE pixels: whole, in the middle, on white.

    Raises Unreadable; any other exception means a damaged or hostile file.
    """
    if not _is_whole(content):
        raise Unreadable(Reason.DAMAGED)
    with _open(content) as image:
        if image.width * image.height > MAX_ICON_PIXELS:
            raise Unreadable(Reason.TOO_MANY_PIXELS)
        pixels = ImageOps.pad(_flatten(ImageOps.exif_transpose(image)), (ICON_SIDE, ICON_SIDE), color="white")
    return Picture(_encode(pixels, "PNG", optimize=True), "image/png", ICON_SIDE, ICON_SIDE, READER)


def prepare_logo(content: bytes) -> Logo:
    """Return the first frame as PNGs of MAX_LOGO and SITE_ICON_SIDE pixels at most, transparent where it was.

    Raises Unreadable; any other exception means a damaged or hostile file.
    """
    with _open_checked(content) as image:
        image.draft("RGB", MAX_LOGO)
        layer = ImageOps.exif_transpose(image).convert("RGBA")
    logo = Image.frombytes("RGBA", layer.size, layer.tobytes())  # pixels only
    logo.thumbnail(MAX_LOGO, Image.Resampling.LANCZOS)
    # A wide logo mostly begins with its symbol.
    symbol = logo.crop((0, 0, logo.height, logo.height)) if logo.width > 2 * logo.height else logo
    icon = ImageOps.pad(symbol, (SITE_ICON_SIDE, SITE_ICON_SIDE), Image.Resampling.LANCZOS, color=(0, 0, 0, 0))
    return Logo(_encode(logo, "PNG", optimize=True), _encode(icon, "PNG", optimize=True), logo.width, logo.height)


def _open_checked(content: bytes) -> Image.Image:
    """Open a whole picture of up to MAX_PIXELS. Raises Unreadable."""
    if not _is_whole(content):
        raise Unreadable(Reason.DAMAGED)
    image = _open(content)
    if image.width * image.height > MAX_PIXELS:  # from the header, before anything is decoded
        raise Unreadable(Reason.TOO_MANY_PIXELS)
    return image


def _is_whole(content: bytes) -> bool:
    """Return whether a PNG or GIF has its end: Pillow reads truncated ones."""
    try:
        if content.startswith(_PNG):
            return _png_ends(content)
        return _gif_ends(content) if content.startswith(_GIFS) else True
    except (IndexError, struct.error):
        return False


def _png_ends(content: bytes) -> bool:
    """Chunks: length, kind, body, checksum. Raises struct.error where a chunk is cut off."""
    position = len(_PNG)
    while True:
        length: int
        length, kind = struct.unpack_from(">I4s", content, position)
        position += 12 + length
        if kind == b"IEND":
            return position <= len(content)


def _gif_ends(content: bytes) -> bool:
    """Walk over the blocks to the trailer. Raises IndexError where a block is cut off."""
    position = 13 + _colour_table_bytes(content[10])
    while (kind := content[position]) != _TRAILER:
        if kind == _IMAGE:
            position += 11 + _colour_table_bytes(content[position + 9])
        elif kind == _EXTENSION:
            position += 2
        else:
            return False
        while length := content[position]:
            position += 1 + length
        position += 1
    return True


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _open(content: bytes) -> Image.Image:
    formats = [*FORMATS, *_register_heic(content)]
    try:
        return Image.open(io.BytesIO(content), formats=formats)
    except Image.DecompressionBombError as error:
        raise Unreadable(Reason.TOO_MANY_PIXELS) from error


def _register_heic(content: bytes) -> list[str]:
    """Return Pillow's name of HEIC for a file that is likely one, and load its decoder."""
    if not READS_HEIC or content[4:8] != b"ftyp":
        return []
    import pi_heif

    pi_heif.options.DECODE_THREADS = 1
    pi_heif.register_heif_opener(thumbnails=False)
    return ["HEIF"]


def _flatten(image: Image.Image) -> Image.Image:
    """Return a new image of pixels only, transparency replaced by white."""
    if not image.has_transparency_data:
        plain = _in_display_colours(image)
        return Image.frombytes("RGB", plain.size, plain.tobytes())
    layer = image.convert("RGBA")
    canvas = Image.new("RGB", layer.size, "white")
    canvas.paste(layer, mask=layer.getchannel("A"))
    return canvas


def _in_display_colours(image: Image.Image) -> Image.Image:
    """Return the picture in RGB: by its colour profile, and with deep grey scaled to what a screen shows."""
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    if image.mode in ("I", "F"):
        darkest, brightest = (float(str(extreme)) for extreme in image.getextrema())
        scale = 255 / (brightest - darkest) if brightest > darkest else 0
        return image.point(lambda value: value * scale - darkest * scale).convert("L").convert("RGB")
    if image.mode in ("RGB", "CMYK") and (profile := image.info.get("icc_profile")):
        with suppress(ImageCms.PyCMSError, OSError, ValueError):
            source, screen = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
            return ImageCms.profileToProfile(image, source, screen, outputMode="RGB") or image
    return image.convert("RGB")


def _encode(image: Image.Image, format: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()
