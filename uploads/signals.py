from django.dispatch import Signal

# Arguments: upload. Sent inside the deleting transaction; a receiver refuses by raising UploadInUse.
upload_deleted = Signal()
# Arguments: upload, actor. A receiver returns whether something shows the upload's content to the actor.
upload_shown = Signal()
# Arguments: before, after; two uploads of the same bytes, whose owners turned out to be one person. References to
# `before` must be changed to `after`. Sent inside the transaction that deletes `before`.
uploads_merged = Signal()
