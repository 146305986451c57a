from rest_framework import serializers

from common.api.schema import File, Operation, Operations
from common.errors import NotFound, TooManyRequests
from uploads import errors
from uploads.api.views import EncodingSerializer, UploadViewSet
from uploads.limits import MAX_FILE_MB


class NewUploadSerializer(serializers.Serializer[None]):
    """Request for OpenAPI only; the view reads the file from the request itself."""

    file = serializers.FileField()


OPERATIONS: Operations = {
    (UploadViewSet, "list"): Operation(
        summary="Your files, the newest first",
        description="Without deleted ones. `sessions/?upload=` with an id lists the sessions that use a file.",
    ),
    (UploadViewSet, "create"): Operation(
        summary="Upload a file",
        description=(
            "Documents (PDF, DOCX, XLSX, XLS, PPTX, ODT, ODS, ODP, EPUB, RTF), mails (EML, MHT, MBOX), notebooks "
            "(IPYNB), web pages, text in any usual encoding, or an image (PNG, JPEG, WebP, GIF, AVIF, TIFF, BMP, ICO, "
            f"JPEG 2000), at most {MAX_FILE_MB} MB; its content decides, not its name. `notes` name what models do not "
            "receive of it. 202 while it is being processed: fetch the upload until its `state` is `ready`. The same "
            "bytes again are the same upload."
        ),
        takes=NewUploadSerializer,
        refuses=(
            errors.FileTooLarge,
            errors.UnknownFileType,
            errors.QuotaReached,
            errors.StorageFull,
            errors.StorageAway,
            TooManyRequests,
        ),
    ),
    (UploadViewSet, "retrieve"): Operation(
        summary="An upload", description="The record of a file; `state` tells whether it is ready."
    ),
    (UploadViewSet, "encoding"): Operation(
        summary="Read a text again in another encoding",
        description=(
            "For a text that is not in Unicode, whose encoding is assumed; the upload's `encoding` is the present one. "
            "Refused once a prompt has used the file."
        ),
        takes=EncodingSerializer,
        example={"encoding": "Windows-1250"},
        refuses=(errors.EncodingFixed,),
    ),
    (UploadViewSet, "destroy"): Operation(
        summary="Delete a file",
        description="The file and its text are gone for good; prompts that used it say so.",
        refuses=(errors.UploadInUse,),
    ),
    (UploadViewSet, "text"): Operation(
        summary="Exactly the text that goes into a prompt",
        description="Of a document; a picture has none.",
        files=(File("text/plain"),),
        refuses=(errors.NotReadYet, errors.CannotBeRead),
    ),
    (UploadViewSet, "image"): Operation(
        summary="Exactly the picture that models are sent",
        description="Encoded again from its pixels, without metadata; scaled down if large.",
        files=(File("image/png"), File("image/jpeg")),
        refuses=(errors.NotReadYet, errors.CannotBeRead),
    ),
    (UploadViewSet, "file"): Operation(
        summary="The file as it came",
        description="Byte for byte, to be saved: it is sent as an attachment.",
        files=(File("*/*"),),
        refuses=(NotFound,),
    ),
}
