import re

from django.utils.translation import gettext as _

from benchmarks.preparation.frames import CaseProblem

_UNDEFINED = re.compile(r"UndefinedError: `(.+)` is undefined\Z", re.DOTALL)


def problem_sentence(problem: CaseProblem) -> str:
    """Return why a case has no prompt, in the language of the request."""
    return _("Case %(case)s: %(reason)s") % {"case": problem.case, "reason": reason_of(problem)}


def reason_of(problem: CaseProblem) -> str:
    """Return the reason alone, with the place in the template."""
    undefined = _UNDEFINED.match(problem.problem)
    reason = _("“%(name)s” is not defined.") % {"name": undefined[1]} if undefined else problem.problem
    if not problem.line:
        return reason
    place = {"prompt": problem.prompt, "line": problem.line, "column": problem.column}
    return _("prompt %(prompt)s, line %(line)s, column %(column)s: %(reason)s") % {**place, "reason": reason}
