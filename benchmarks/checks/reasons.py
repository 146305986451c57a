"""Reasons to refuse a check, in plain words and the language of the request: benchmarks.scoring knows English only."""

import re

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks.scoring.check import CheckError

# Messages of scorers and msgspec, and sentences with the same groups. Plug-ins' messages stay as they are.
_REASONS: list[tuple[re.Pattern[str], str | Promise]] = [
    (re.compile(pattern, re.DOTALL), sentence)
    for pattern, sentence in [
        (r"the target is empty", _("The target is empty.")),
        (r"the target has an empty text", _("The target has an empty text.")),
        (r"nothing of the target is left to compare", _("Nothing of the target is left to compare.")),
        (r"the target is none of the choices", _("The target is none of the choices.")),
        (r"the target is not a mathematical expression", _("The target is not a mathematical expression.")),
        (r"(?P<text>['\"].*['\"]) is not one number", _("%(text)s is not one number.")),
        (r"unknown scorer (?P<name>['\"].*['\"])", _("There is no comparison %(name)s.")),
        (r"unknown instruction (?P<name>['\"].*['\"])", _("There is no instruction %(name)s.")),
        (r"no instruction", _("Name at least one instruction.")),
        (
            r"kwargs and instruction_id_list have different lengths",
            _("The lists kwargs and instruction_id_list have different lengths."),
        ),
        (r"count is above the number of checks", _("The count is above the number of checks.")),
        (r"a JSON pointer starts with /", _("A JSON pointer starts with /.")),
        (r"set min, max or both", _("Set min, max or both.")),
        (r"min is above max", _("The minimum is above the maximum.")),
        (r"a phrase is empty", _("A phrase is empty.")),
        (r"there are 2 to 26 choices", _("There are 2 to 26 choices.")),
        (
            r"the pattern has (?P<groups>\d+) groups, not (?P<group>\d+)",
            _("The pattern has %(groups)s groups: there is no group %(group)s."),
        ),
        (
            r"RE2 refuses the pattern (?P<pattern>['\"].*?['\"]): (?P<reason>.*)",
            _(
                "The pattern %(pattern)s is not allowed: %(reason)s. Look-arounds and back-references are not "
                "supported."
            ),
        ),
        (r"not a usable JSON Schema: (?P<reason>.*)", _("This is not a JSON Schema that can be used: %(reason)s")),
        (r"not a CEL expression: (?P<reason>.*)", _("This is not a CEL expression: %(reason)s")),
        (
            r"line (?P<line>\d+), column (?P<column>\d+): (?P<reason>.*)",
            _("Line %(line)s, column %(column)s: %(reason)s"),
        ),
        (
            r"checks are nested in more than (?P<depth>\d+) groups",
            _("Checks are nested in more than %(depth)s groups."),
        ),
        (r"the key (?P<key>['\"].*['\"]) is used twice", _("The name %(key)s is used twice.")),
        (
            r"the check `math` needs math-verify: .*",
            _("This arena cannot compare mathematics: an administrator has to install math-verify."),
        ),
        (r"Object contains unknown field `(?P<name>.*)`", _("There is no setting “%(name)s”.")),
        (r"Object missing required field `(?P<name>.*)`", _("The setting “%(name)s” is missing.")),
        (r"Invalid (?:enum )?value '(?P<value>.*)'", _("“%(value)s” is none of the possible values.")),
        (r"Expected `(?P<kind>.*)` of length (?P<limit>[<>]= \d+)", _("A length %(limit)s is needed.")),
        (r"Expected `(?P<kind>.*)` (?P<limit>[<>]=? [\d.e+-]+)", _("A number %(limit)s is needed.")),
        (r"Expected `(?P<wanted>.*)`, got `(?P<given>.*)`", _("This should be %(wanted)s, not %(given)s.")),
    ]
]
# Where msgspec found it, or in which instruction.
_PLACES = (
    re.compile(r"(?P<reason>.*) - at `\$\.?(?P<place>.*)`", re.DOTALL),
    re.compile(r"(?P<place>\w+:\w+): (?P<reason>.*)", re.DOTALL),
)


def error_sentence(error: CheckError) -> str:
    """Return a reason with its position."""
    reason = check_reason(error.message)
    if not error.position:
        return reason
    return gettext("%(position)s: %(reason)s") % {"position": error.position, "reason": reason}


def check_reason(message: str) -> str:
    """Return the sentence for a reason of benchmarks.scoring, or the reason itself."""
    for pattern in _PLACES:
        if placed := pattern.fullmatch(message):
            return error_sentence(CheckError(placed["place"], placed["reason"]))
    for pattern, sentence in _REASONS:
        if match := pattern.fullmatch(message):
            return str(sentence) % match.groupdict() if match.groupdict() else str(sentence)
    return message
