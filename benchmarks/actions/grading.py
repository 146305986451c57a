from django.utils.translation import gettext as _

from accounts.models import User
from benchmarks.errors import WrongState
from benchmarks.models import Grade, RunItem


def grade_item(*, grader: User, item: RunItem, kind: str, value: int, comment: str = "") -> Grade:
    """Store a grade. Raises WrongState for an item without an answer."""
    if not item.replies.exists():
        raise WrongState(_("Only an answer can be graded."))
    return Grade.objects.create(item=item, grader=grader, kind=kind, value=value, comment=comment)
