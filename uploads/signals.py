"""What uploads tells the floors above."""

from django.dispatch import Signal

# With `upload`, inside the transaction that deletes it; a receiver refuses by raising IsBeingAnswered.
upload_deleted = Signal()
# With `before` and `after`, two uploads of the same bytes whose owners turned out to be one person: whatever used
# `before` uses `after` from now on. Inside the transaction.
uploads_merged = Signal()
