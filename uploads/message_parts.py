"""Uploads as models receive them."""

import base64

from uploads.models import Upload


def sent_text(upload: Upload) -> str:
    """Return a document's text with its name and page numbers; "" for an image.

    upload: with its extraction selected, unless it was deleted.
    """
    if upload.deleted_at is not None:
        return f"[The file “{upload.name}” was deleted by its owner.]"
    pages = upload.extraction.pages
    if not pages:
        return ""
    text = pages[0] if len(pages) == 1 else "\n\n".join(f"[Page {n}]\n{page}" for n, page in enumerate(pages, 1))
    return f"--- File “{upload.name}” ---\n{text}\n--- End of “{upload.name}” ---"


def sent_image(upload: Upload) -> str:
    """Return an image as a data URL; "" for a document or a deleted upload."""
    if upload.deleted_at is not None or upload.extraction.image is None:
        return ""
    content = base64.b64encode(upload.extraction.image).decode()
    return f"data:{upload.extraction.image_type};base64,{content}"
