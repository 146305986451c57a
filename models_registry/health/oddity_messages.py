"""Sentences about oddities for operators: what the server sends, what the arena makes of it, and what to do."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from models_registry.providers.oddities import Oddity

ODDITY_MESSAGES: dict[Oddity, Promise] = {
    Oddity.NO_EVENT_STREAM: _("It declares another content type, or sends whole answers. They are read all the same."),
    Oddity.UNSEPARATED_EVENTS: _("Events are not separated by empty lines. They are read all the same."),
    Oddity.HEARTBEAT: _("Events without content keep its connection open. They are skipped."),
    Oddity.COMPRESSED: _(
        "It compresses answers unasked, which delays their pieces. Turn compression off in its proxy."
    ),
    Oddity.INVALID_TEXT: _("Its text is not UTF-8 everywhere. Unreadable bytes are replaced."),
    Oddity.UNTIDY_END: _("Its connection breaks after complete answers. They count as complete."),
    Oddity.ODD_VALUE: _("Fields have values of unexpected types. They are converted or skipped."),
    Oddity.MESSAGE: _("It sends messages or texts in place of deltas. They are read all the same."),
    Oddity.SECOND_CHOICE: _("It sends more than one answer. The first is kept: remove “n” from its parameters."),
    Oddity.REFUSAL: _("Refusals come in a field of their own. They are shown as the answer."),
    Oddity.PICTURE: _("It sends pictures, which are not shown. Register models that write text."),
    Oddity.CONTROL_MARK: _("Control tokens stand in its answers and are left out. Check its chat template."),
    Oddity.TAGGED_REASONING: _(
        "Reasoning in tags stands in its answers and is separated. Start it with a reasoning parser."
    ),
    Oddity.UNOPENED_REASONING: _(
        "Reasoning without an opening tag stands in its answers, which are held back until the tag that closes it. "
        "Start it with a reasoning parser."
    ),
    Oddity.CHANNELS: _("Marks of channels stand in its answers and are separated. Start it with a reasoning parser."),
    Oddity.UNKNOWN_FINISH: _("It ends answers for reasons that the arena does not know. They count as complete."),
    Oddity.NO_FINISH: _(
        "It does not say why answers end. If they are often cut, require a finish reason of the provider."
    ),
    Oddity.LATE_ERROR: _("Errors follow answers that were complete. The answers are kept."),
    Oddity.TOOL_CALL_PARTS: _("Parts of tool calls are numbered or split unusually. They are put together."),
    Oddity.IMAGES_REFUSED: _("It refuses pictures. Remove this ability, or load the model's part that sees."),
    Oddity.TOOLS_REFUSED: _("It refuses tools. Start it with a parser for tool calls, or remove this ability."),
    Oddity.NO_USAGE: _("It reports no tokens, so costs are estimated."),
    Oddity.USAGE_TOO_LOW: _("It reports fewer tokens than its text has. Costs are estimated; check its prices."),
    Oddity.USAGE_TOO_HIGH: _(
        "It reports more tokens than were allowed. Only the allowance is booked; check its account."
    ),
}
