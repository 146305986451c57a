from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, InvalidInput


class ReviewState(ArenaError):
    code = "wrong_state"
    message = _("The review is in a state in which this is not possible.")
    http_status = 409


class ReviewTakesNoVotes(ReviewState):
    """Raised for a next battle, and for a vote, before the opening and after the end."""

    code = "review_not_open"
    message = _("The review takes no votes now.")


class ResultsHidden(ReviewState):
    code = "results_hidden"
    message = _("The results are hidden until the review closes.")


class OwnVotesFirst(ResultsHidden):
    message = _("The results so far are shown to you after your own votes.")


class NothingToReview(InvalidInput):
    """Raised for a run of which no two answers can be compared."""

    code = "nothing_to_review"
    http_status = 422


class ReviewsOpen(ReviewState):
    """Raised for a team that is to be archived."""

    code = "reviews_open"
    message = _("Reviews of the team are open. Close them first, or withdraw them.")


class NoSuchCode(InvalidInput):
    """Raised for a wrong code, and for that of a review that has ended or whose link was closed."""

    code = "no_such_code"
    message = _("No open review has this code. Check it, or ask who gave it to you.")
    http_status = 404


class PersonalCodeUsed(ReviewState):
    code = "code_used"
    message = _("This code was used already. A personal code lets one person in, in the browser that used it.")


class ReviewFull(ReviewState):
    code = "review_full"
    message = _("As many people as expected have joined. Ask who gave you the code.")


class PersonSetAside(ReviewState):
    code = "set_aside"
    message = _("The owner of the review has set your votes aside. Ask them why.")


class AlreadyGraded(ReviewState):
    """Raised for an answer that the person has graded, or that was drawn for another."""

    code = "already_graded"
    message = _("You graded this answer before. Go on with the next one.")


class NoSuchGrade(InvalidInput):
    code = "no_such_grade"
    message = _("The review does not take this grade.")


class CannotAskOthers(ReviewState):
    """Raised for a battle that has no blind vote on two whole answers, or that others could read with names."""

    code = "cannot_ask_others"
    message = _("Others cannot be asked about this battle.")


class OthersAreAsked(ReviewState):
    """Raised for a battle whose names would become known while others vote on it."""

    code = "others_are_asked"
    message = _("You ask others about these answers. Withdraw that link first: they must not know the models.")
