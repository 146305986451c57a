from django.utils.translation import gettext as _

from leaderboard.counting.contestants import facts_for_readers
from leaderboard.models import AnomalyReview


def evidence_text(review: AnomalyReview) -> str:
    sentence = {
        "model": _("%(model)s took %(observed).0f of %(votes)d votes; %(expected).0f were to be expected"),
        "favourite": _("who was likelier to win took %(observed).0f of %(votes)d votes, not %(expected).0f"),
        "ties": _("%(observed)d of %(votes)d votes were ties; %(expected).0f were to be expected"),
        "chance": _("the %(votes)d votes look random"),
    }[review.evidence["kind"]]
    team = review.team
    return str(sentence % (review.evidence if team is None else facts_for_readers(review.evidence, team.slug)))
