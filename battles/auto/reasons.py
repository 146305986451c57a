"""Reasons of auto mode's decisions: stored as a code and numbers, shown as a sentence without names of models."""

from collections.abc import Mapping
from typing import TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class ReasonPayload(TypedDict):
    """`code` is stable; `sentence` is in the request's language."""

    code: str
    sentence: str


_BEST = _("Chosen because it wins %(percent)s %% of such questions here.")
_BEST_CHEAPER = _(
    "Chosen because it wins %(percent)s %% of such questions here, at %(share)s of the price of the best."
)
_BEST_FREE = _("Chosen because it wins %(percent)s %% of such questions here, and costs nothing.")
# The sentence of each code; `best` has more of them, for a model that is cheaper.
SENTENCES: dict[str, Promise] = {
    "best": _BEST,
    "unsure": _("Chosen because it seems best here, but the arena is not sure. It would rather ask you."),
    "few_votes": _("There are too few votes to learn from yet: chosen by weight and price."),
    "weights": _("Chosen because the arena's operator gives it the largest weight."),
    "rule": _("A rule of this arena decides which model answers such a question."),
    "rule_battle": _("A rule of this arena asks you to compare two models here."),
    "stay": _("The model of the last answer continues."),
    "tools": _("The model continues until its tool calls are answered."),
    "moved": _("The model of the last answer is not available for this question, so another one continues."),
    "better": _("The subject changed, and another model is clearly better at it."),
    "only_one": _("It is the only model that fits this question."),
    "cap": _("It is the best model within the limits of cost and time."),
    "explored": _("Two models may be the best for this question. Your vote decides."),
    "fallback": _("The model that was chosen first did not answer, so the next best one did."),
    "refused": _("No model fits this question."),
}
# Names of 1/2, 1/3 and so on.
SHARES: dict[int, Promise] = {
    2: _("half"),
    3: _("a third"),
    4: _("a quarter"),
    5: _("a fifth"),
    6: _("a sixth"),
    7: _("a seventh"),
    8: _("an eighth"),
    9: _("a ninth"),
    10: _("a tenth"),
}


def reason_payload(code: str, details: Mapping[str, object]) -> ReasonPayload:
    return {"code": code, "sentence": reason_sentence(code, details)}


def reason_sentence(code: str, details: Mapping[str, object]) -> str:
    """Return the sentence; `details` has `win_chance` and `price_share` (1 is the price of the best)."""
    if code == "best":
        return _win_sentence(details)
    return str(SENTENCES[code]) if code in SENTENCES else gettext("Chosen by this arena's own router.")


def _win_sentence(details: Mapping[str, object]) -> str:
    chance, share = details.get("win_chance"), details.get("price_share")
    values = {"percent": round(100 * float(chance))} if isinstance(chance, int | float) else {"percent": 50}
    if not isinstance(share, int | float) or share > 2 / 3:
        return str(_BEST) % values
    if share <= 0:
        return str(_BEST_FREE) % values
    return str(_BEST_CHEAPER) % {**values, "share": price_words(float(share))}


def price_words(share: float) -> str:
    """Return “a ninth” for about 1/9, else “3 %”."""
    parts = round(1 / share)
    if parts in SHARES:
        return str(SHARES[parts])
    percent = 100 * share
    return gettext("%(percent)s %%") % {"percent": f"{percent:.2g}" if percent < 10 else round(percent)}
