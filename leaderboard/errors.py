from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, NotFound


class NoSuchBoard(NotFound):
    message = _("There is no such board.")


class NoSuchSnapshot(NotFound):
    message = _("There is no such snapshot.")


class NoSuchModel(NotFound):
    message = _("There is no such model.")


class VoteDoesNotCount(ArenaError):
    code = "vote_does_not_count"
    message = _("This vote is already excluded.")
    http_status = 409


class VoteCounts(ArenaError):
    code = "vote_counts"
    message = _("This vote counts already.")
    http_status = 409


class TalliesDisagree(ArenaError):
    code = "tallies_disagree"
    message = _("The tallies do not hold this vote. Run `manage.py rebuild_tallies`.")
    http_status = 409


class ReviewIsDecided(ArenaError):
    code = "review_is_decided"
    message = _("This decision was already made.")
    http_status = 409


class EmbargoInThePast(ArenaError):
    code = "embargo_in_the_past"
    message = _("The embargo ends in the past. Choose a later time, or none to publish at once.")


class ReleaseExists(ArenaError):
    code = "release_exists"
    message = _("There is already a release of this day.")
    http_status = 409


class NothingToRelease(ArenaError):
    code = "nothing_to_release"
    message = _("There is no snapshot yet, so there is nothing to release.")
    http_status = 409
