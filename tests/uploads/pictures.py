import io
import struct
import zlib
from typing import Any

from PIL import Image

SECRET = b"taken at 48.8584 N 2.2945 E"


def picture(format: str = "PNG", *, width: int = 40, height: int = 20, mode: str = "RGB", **options: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), "red" if mode != "1" else 1).save(out, format, **options)
    return out.getvalue()


def photograph_with_metadata() -> bytes:
    """Return a JPEG with a location and an orientation to be turned by 90°."""
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation
    exif[0x010E] = SECRET.decode()
    return picture("JPEG", width=3000, height=1000, exif=exif, comment=SECRET)


def animation() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (30, 30), colour) for colour in ("red", "green", "blue")]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_that_claims(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n"
    return start + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + _chunk(b"IEND", b"")


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))
