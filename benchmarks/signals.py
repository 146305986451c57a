"""Signals for the apps above benchmarks."""

from django.dispatch import Signal

# Sent with `run` and `actor` before answers are read with names; a receiver may raise AnswersHidden.
answers_reading = Signal()

# Sent with `run` and `actor`; a receiver returns whether the run's answers are hidden from the person.
answers_hiding = Signal()

# Sent with `run` in the transaction that deletes it; a receiver may raise RunInUse.
run_deleting = Signal()
