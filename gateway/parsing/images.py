import base64
import binascii

from gateway.parsing.fields import Fields

MAX_IMAGES = 20
# First bytes of each accepted type.
_SIGNATURES = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
# The longest URL that a body has room for.
_MAX_URL_CHARACTERS = 30_000_000


def check_image(part: Fields) -> dict[str, str]:
    """Return the `image_url` of a part, whose data is an image of an accepted type. Raises BadField."""
    image = part.required_object("image_url")
    url = image.text("url", max_length=_MAX_URL_CHARACTERS, required=True)
    head, comma, encoded = url.partition(",")
    if not head.startswith("data:") or not comma:
        raise image.bad("url", "Send the image itself as a data URL; addresses are not fetched.", "remote_image")
    media_type, _, encoding = head.removeprefix("data:").partition(";")
    if media_type not in _SIGNATURES or encoding != "base64":
        raise image.bad("url", "Use a data URL with base64 of a PNG, JPEG, WebP or GIF image.", "invalid_image")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise image.bad("url", "The image is not valid base64.", "invalid_image") from None
    if not data.startswith(_SIGNATURES[media_type]) or (media_type == "image/webp" and data[8:12] != b"WEBP"):
        raise image.bad("url", f"The data is no {media_type} image.", "invalid_image")
    found = {"url": url}
    if "detail" in image:
        found["detail"] = image.one_of("detail", ("auto", "low", "high"))
    return found
