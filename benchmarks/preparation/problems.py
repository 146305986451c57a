import re

from django.utils.translation import gettext as _

from benchmarks.preparation.frames import CaseProblem
from benchmarks.preparation.guard import TOO_DEMANDING

_UNDEFINED = re.compile(r"UndefinedError: `(.+)` is undefined\Z", re.DOTALL)
_TOO_LONG = re.compile(r"over (\d+) characters\Z")


def problem_sentence(problem: CaseProblem) -> str:
    """Return the problem with the case's key, in the language of the request."""
    return _("Case %(case)s: %(reason)s") % {"case": problem.case, "reason": reason_of(problem)}


def reason_of(problem: CaseProblem) -> str:
    """Return the reason alone, with the place in the template."""
    reason = _plain(problem.problem)
    if not problem.line:
        return reason
    place = {"prompt": problem.prompt, "line": problem.line, "column": problem.column}
    return _("prompt %(prompt)s, line %(line)s, column %(column)s: %(reason)s") % {**place, "reason": reason}


def _plain(problem: str) -> str:
    """Return the sentence for a problem of the child, or the problem itself."""
    if undefined := _UNDEFINED.match(problem):
        return _("“%(name)s” is not defined.") % {"name": undefined[1]}
    if too_long := _TOO_LONG.match(problem):
        return _("the prompt has over %(most)s characters.") % {"most": too_long[1]}
    if problem == TOO_DEMANDING or problem.startswith("OutOfFuel"):
        return _("the prompt takes too much time or memory.")
    return problem
