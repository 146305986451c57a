import io

import pytest
from PIL import Image

from tests.uploads import pictures
from uploads.reading.findings import Reason, Unreadable
from uploads.reading.guard import read
from uploads.reading.pictures import prepare_picture


def _animated(format: str) -> bytes:
    frames = [Image.linear_gradient("L").rotate(angle) for angle in (0, 90, 180)]
    out = io.BytesIO()
    frames[0].save(out, format, save_all=True, append_images=frames[1:])
    return out.getvalue()


WHOLE = {
    "png": pictures.picture("PNG", width=300, height=200),
    "png-of-one-bit": pictures.picture("PNG", mode="1"),
    "png-animated": _animated("PNG"),
    "jpeg": pictures.picture("JPEG", width=300, height=200),
    "jpeg-progressive": pictures.picture("JPEG", width=300, height=200, progressive=True),
    "webp": pictures.picture("WEBP", width=300, height=200),
    "webp-lossless": pictures.picture("WEBP", lossless=True),
    "webp-animated": _animated("WEBP"),
    "gif": pictures.picture("GIF", width=300, height=200),
    "gif-interlaced": pictures.picture("GIF", interlace=1),
    "gif-animated": _animated("GIF"),
    "gif-animated-in-colour": pictures.animation(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_truncated_picture_is_refused_at_any_length(name: str):
    whole = WHOLE[name]
    assert prepare_picture(whole).width > 0
    for length in {*range(12, len(whole), max(1, len(whole) // 40)), *range(len(whole) - 20, len(whole))}:
        with pytest.raises((Unreadable, OSError, SyntaxError, ValueError)):
            prepare_picture(whole[:length])


@pytest.mark.parametrize("name", WHOLE)
def test_whole_picture_with_trailing_bytes_is_read(name: str):
    assert prepare_picture(WHOLE[name] + b"\r\nmore").width > 0


@pytest.mark.parametrize("name", ["png", "gif-animated"])
def test_truncated_picture_is_damaged(name: str):
    with pytest.raises(Unreadable) as refused:
        read(WHOLE[name][:-3], "image")
    assert refused.value.reason == Reason.DAMAGED
