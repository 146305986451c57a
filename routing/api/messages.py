"""Conversations to decide about; refusals in the language of the request."""

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from common.conversation.errors import BadField
from common.conversation.json_values import check_size, strings_in
from common.conversation.messages import Conversation, Limits, parse_conversation
from common.errors import InvalidInput
from common.payload_types import Json
from common.text.numbers import format_numbers
from common.text.storable import has_unstorable

_NESTED = _("The messages are nested too deeply, or have too many values.")
_SHAPE = _("Send a list of messages, each with a role, and at most %(pictures)s pictures and files.")
# Sentences by code of BadField.
_SENTENCES = {
    "too_deep": _NESTED,
    "too_many_values": _NESTED,
    "invalid_characters": _("A message contains an invalid character (NUL or half of a surrogate pair)."),
    "context_length_exceeded": _("The messages may have at most %(characters)s characters."),
    "stored_object": _("Files and other things that a provider stores cannot be used here."),
    "invalid_address": _("Send pictures and files as data URLs, or at an address with https://."),
    "private_address": _("This address is in a private network, or not the usual spelling of one in the internet."),
}


def read_messages(messages: list[Json]) -> Conversation:
    """Raises InvalidInput naming `messages`."""
    limits = Limits(settings.ARENA_GATEWAY_CHARACTERS, settings.ARENA_GATEWAY_PICTURES)
    try:
        check_size(messages)
        if any(map(has_unstorable, strings_in(messages))):
            raise BadField("The messages contain invalid characters.", "messages", "invalid_characters")
        return parse_conversation(messages, limits)
    except BadField as error:
        values = format_numbers(characters=limits.characters, pictures=limits.media)
        sentence = _SENTENCES.get(error.code, _SHAPE) % values
        if "." in error.param:
            sentence = f"{error.param}: {sentence}"
        raise InvalidInput(sentence, fields={"messages": [sentence]}) from error
