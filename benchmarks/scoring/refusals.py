"""Reasons to refuse a check: codes with English sentences, which benchmarks.checks.reasons translates."""

import re
from collections.abc import Mapping

import msgspec


def _(sentence: str) -> str:
    """Mark a sentence for translation: scorers know no Django."""
    return sentence


SENTENCES: Mapping[str, str] = {
    "target_empty": _("The target is empty."),
    "target_text_empty": _("The target has an empty text."),
    "target_no_number": _("%(text)s is not one number."),
    "scorer_unknown": _("There is no comparison %(name)s."),
    "instruction_unknown": _("There is no instruction %(name)s."),
    "instruction_missing": _("Name at least one instruction."),
    "instruction_lists_differ": _("The lists kwargs and instruction_id_list have different lengths."),
    "count_above_checks": _("The count is above the number of checks."),
    "pointer_without_slash": _("A JSON pointer starts with /."),
    "min_and_max_missing": _("Set a minimum, a maximum, or both."),
    "min_above_max": _("The minimum is above the maximum."),
    "phrase_empty": _("A phrase is empty."),
    "choices_out_of_range": _("There are 2 to 26 choices."),
    "pattern_group_missing": _("The pattern has %(groups)s groups: there is no group %(group)s."),
    "pattern_refused": _(
        "The pattern %(pattern)s is not allowed: %(reason)s. Look-arounds and back-references are not supported."
    ),
    "schema_unusable": _("This is not a JSON Schema that can be used: %(reason)s"),
    "expression_unusable": _("This is not a CEL expression: %(reason)s"),
    "expression_error": _("Line %(line)s, column %(column)s: %(reason)s"),
    "nested_too_deep": _("Checks are nested in more than %(depth)s groups."),
    "key_used_twice": _("The name %(key)s is used twice."),
    "metric_reserved": _("“%(name)s” is no name of a metric."),
    "math_not_installed": _("This arena cannot compare mathematics: an administrator has to install math-verify."),
    # Errors of msgspec:
    "setting_unknown": _("There is no setting “%(name)s”."),
    "setting_missing": _("The setting “%(name)s” is missing."),
    "value_unknown": _("“%(value)s” is none of the possible values."),
    "length_out_of_range": _("A length %(limit)s is needed."),
    "number_out_of_range": _("A number %(limit)s is needed."),
    "wrong_type": _("This should be %(wanted)s, not %(given)s."),
    # The words of a plug-in or a library:
    "other": "%(text)s",
}

# msgspec's errors have neither codes nor places.
_MESSAGES = [
    (re.compile(pattern, re.DOTALL), code)
    for pattern, code in [
        (r"Object contains unknown field `(?P<name>.*)`", "setting_unknown"),
        (r"Object missing required field `(?P<name>.*)`", "setting_missing"),
        (r"Invalid (?:enum )?value '(?P<value>.*)'", "value_unknown"),
        (r"Expected `.*` of length (?P<limit>[<>]= \d+)", "length_out_of_range"),
        (r"Expected `.*` (?P<limit>[<>]=? [\d.e+-]+)", "number_out_of_range"),
        (r"Expected `(?P<wanted>.*)`, got `(?P<given>.*)`", "wrong_type"),
    ]
]
_PLACED = re.compile(r"(?P<message>.*) - at `\$\.?(?P<place>.*)`", re.DOTALL)


class CheckError(msgspec.Struct, frozen=True):
    """Reason to refuse one check of a list. position: such as `checks[2].settings.checks[0]`."""

    position: str
    code: str
    values: dict[str, str | int] = {}
    places: tuple[str, ...] = ()
    field: str = "settings"


class Refusal(ValueError):
    """Raised for a check that must be refused; its text is the English sentence.

    code: a key of SENTENCES. places: outer ones first, such as `extract[0]`, or an instruction. field: of the check.
    """

    def __init__(self, code: str, places: tuple[str, ...] = (), field: str = "settings", **values: str | int) -> None:
        super().__init__(SENTENCES[code] % values)
        self.code, self.places, self.field, self.values = code, places, field, values

    def at(self, position: str) -> CheckError:
        return CheckError(position, self.code, self.values, self.places, self.field)


def read_refusal(error: ValueError | msgspec.ValidationError) -> Refusal:
    """Return the reason of an error that a scorer, a plug-in or msgspec raised."""
    if isinstance(error, Refusal):
        return error
    if not isinstance(error, msgspec.ValidationError):
        return Refusal("other", text=str(error))
    message, places = str(error), tuple[str, ...]()
    if placed := _PLACED.fullmatch(message):
        message, places = placed["message"], (placed["place"],)
    if isinstance(cause := error.__cause__, Refusal):  # raised by __post_init__
        return Refusal(cause.code, (*places, *cause.places), cause.field, **cause.values)
    for pattern, code in _MESSAGES:
        if match := pattern.fullmatch(message):
            return Refusal(code, places, **match.groupdict())
    return Refusal("other", places, text=message)
