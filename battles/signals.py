"""Signals for the apps above battles."""

from django.dispatch import Signal

# Sent with `votes` and their new `voter`, in the transaction that changes them and before the change.
voter_changes = Signal()

# Sent with the stored `vote` and its `answers` to a review's questions, in its transaction.
vote_cast = Signal()

# Sent with `added` and `removed`, counted votes of reviews, in the transaction that excludes or restores them.
review_votes_changed = Signal()

# Sent with `battles`, a queryset, in the transaction that shows them to others with names, before the change. Receivers
# refuse by raising an ArenaError.
names_showing = Signal()

# Sent with `session` in the transaction that deletes it, before its texts and files are deleted.
session_deleting = Signal()

# Sent in a transaction before it reads labels of counted votes in order to change them, so that a receiver can take the
# lock under which votes are counted.
relabelling_begins = Signal()

# Sent with `changes`, a list of battles.labels.LabelChange, after relabelling_begins and before the votes are written;
# their rows are locked. It has only votes whose categories or language change, also pending ones.
labels_change = Signal()
