from django.utils.timesince import TIME_STRINGS
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from limits import RateLimitItem

from common.valkey.limits.counter import Counter
from common.valkey.limits.rates import MODEL, NETWORKS

# Periods that Django's TIME_STRINGS lack.
SECONDS = ngettext_lazy("%(num)d second", "%(num)d seconds", "num")
NOT_COUNTED = _("New battles are temporarily unavailable. Voting still works.")


def reached_message(counter: Counter) -> str:
    if counter.who in NETWORKS:
        sentence = gettext("Your network has reached the limit of %(amount)d in %(period)s. Please wait.")
    elif counter.who == MODEL:
        sentence = gettext(
            "%(subject)s has reached its limit of %(amount)d prompts in %(period)s. Choose another model, or wait."
        )
    else:
        sentence = gettext("You have reached the limit of %(amount)d in %(period)s. Please wait.")
    return sentence % {"amount": counter.amount, "period": period_words(counter.item), "subject": counter.subject}


def period_words(item: RateLimitItem) -> str:
    """Return “1 hour”, “15 minutes”."""
    return TIME_STRINGS.get(item.GRANULARITY.name, SECONDS) % {"num": item.multiples}
