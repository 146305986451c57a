"""What battles tells the floors above."""

from django.dispatch import Signal

# Sent with `vote` inside the vote's transaction, after its row: a receiver that raises undoes the vote.
vote_cast = Signal()

# Sent with `votes` and the new `voter` inside the transaction that files them under it, before it does.
voter_changes = Signal()
