"""What battles tells the floors above."""

from django.dispatch import Signal

# Sent with `votes` and the new `voter` inside the transaction that files them under it, before it does.
voter_changes = Signal()

# Sent inside a transaction before the labels of counted votes are read in order to be changed: the place to take the
# lock under which votes are counted.
relabelling_begins = Signal()

# Sent with `changes`, a list of battles.labels.LabelChange, inside the transaction that re-labels votes whose
# processing is no longer pending, their rows locked, after relabelling_begins and before it writes the votes.
# Only votes whose categories or language really change are in it, processed, excluded and retracted ones alike.
labels_change = Signal()
