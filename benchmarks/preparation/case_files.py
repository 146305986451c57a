"""Files of cases as models receive them: text before the last message of the user, pictures beside it."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from battles.prompting.messages import AttachmentContent, content_length, content_with_files
from benchmarks.models import CaseFile
from common.payload_types import JsonObject
from models_registry.providers.base import Message
from uploads.message_parts import sent_image, sent_text
from uploads.models import Extraction, Upload

if TYPE_CHECKING:
    from benchmarks.preparation.frames import RenderedSource

# Key of a rendered message: ids of uploads.
FILES_KEY = "files"


def files_by_case(cases: Collection[int]) -> dict[int, list[CaseFile]]:
    """Return files in their order, with uploads and extractions, without images."""
    queryset = CaseFile.objects.filter(case__in=cases).order_by("case", "position")
    by_case: dict[int, list[CaseFile]] = defaultdict(list)
    for file in queryset.select_related("upload__extraction").defer("upload__extraction__image"):
        by_case[file.case_id].append(file)
    return by_case


def names_by_variable(files: Sequence[CaseFile]) -> dict[str, str]:
    names: dict[str, list[str]] = defaultdict(list)
    for file in files:
        names[file.variable].append(file.upload.name)
    return {variable: ", ".join(file_names) for variable, file_names in names.items()}


def add_files(source: "RenderedSource", files: Sequence[CaseFile]) -> bool:
    """Attach files to the user's last message and count them; False for files without such a message."""
    message = next((candidate for candidate in reversed(source.messages) if candidate["role"] == "user"), None)
    if message is None:
        return not files
    if files:
        text = message["content"]
        sent = content_with_files(text, [_content(file.upload) for file in files])
        message[FILES_KEY] = [file.upload_id for file in files]
        source.characters += content_length(sent) - len(text)
        facts = [source.digest, *(file.upload.sha256 for file in files)]
        source.digest = hashlib.sha256(" ".join(facts).encode()).hexdigest()
    return True


def load_uploads(messages: Sequence[Sequence[JsonObject]]) -> dict[int, Upload]:
    """Return the files of rendered messages by id, without images; no query without files."""
    ids = {pk for chat in messages for message in chat for pk in message.get(FILES_KEY, ())}
    if not ids:
        return {}
    uploads = Upload.objects.filter(pk__in=ids).select_related("extraction").defer("extraction__image")
    return {upload.pk: upload for upload in uploads}


def with_files(messages: Sequence[JsonObject], uploads: Mapping[int, Upload]) -> list[Message]:
    """Return messages as they are sent, with the digests of pictures in their places."""
    return [
        {"role": message["role"], "content": _sent(message, [uploads[pk] for pk in message[FILES_KEY]])}
        if FILES_KEY in message
        else message
        for message in messages
    ]


def texts_of(messages: Sequence[JsonObject], uploads: Mapping[int, Upload]) -> list[str]:
    """Return the texts of documents, "" of pictures."""
    return [_content(uploads[pk]).text for message in messages for pk in message.get(FILES_KEY, ())]


def pictures_of(messages: Sequence[JsonObject], uploads: Mapping[int, Upload]) -> tuple[int, ...]:
    """Return ids of uploads that fill_pictures has to load."""
    return tuple(pk for message in messages for pk in message.get(FILES_KEY, ()) if uploads[pk].is_image)


def fill_pictures(messages: Sequence[Message], pictures: Collection[int]) -> None:
    """Put pictures in the places of their digests. Raises KeyError for one that is gone."""
    extractions = Extraction.objects.filter(upload__in=pictures).select_related("upload")
    urls = {_digest(extraction.upload, extraction.version): sent_image(extraction.upload) for extraction in extractions}
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part["type"] == "image_url":
                part["image_url"] = {"url": urls[part["image_url"]["url"]]}


def _sent(message: JsonObject, uploads: Sequence[Upload]) -> object:
    return content_with_files(message["content"], [_content(upload) for upload in uploads])


def _content(upload: Upload) -> AttachmentContent:
    if upload.deleted_at is None and not upload.is_ready:
        return AttachmentContent()  # only of imported answers: nothing is sent
    if upload.deleted_at is None and upload.is_image:
        return AttachmentContent(image=_digest(upload, upload.extraction.version))
    return AttachmentContent(text=sent_text(upload))


def _digest(upload: Upload, version: str) -> str:
    """Return the digest of a picture as sent: of its file, and of the version that encoded it."""
    return f"sha256:{upload.sha256} {version}"
