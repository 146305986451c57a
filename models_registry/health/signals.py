from django.dispatch import Signal

# Sent with `breaker_id` after the commit that made a question due.
question_due = Signal()

# Sent with `repair_id` after the commit of a call that was repaired.
repair_suspected = Signal()
