from django.utils.translation import gettext_lazy as _

from common.conversation.errors import BadField
from common.errors import ArenaError, InvalidInput, NotFound, ServiceAway, TooManyRequests


class BadFieldError(InvalidInput):
    @classmethod
    def of(cls, refusal: BadField) -> "BadFieldError":
        error = cls(refusal.message, fields={refusal.param: [refusal.message]} if refusal.param else None)
        error.code = refusal.code
        return error


class UnknownModel(NotFound):
    code = "model_not_found"

    def __init__(self, model: str) -> None:
        sentence = _("There is no model “%(model)s” here. GET /v1/models lists them.") % {"model": model}
        super().__init__(sentence, fields={"model": [sentence]})


class MethodNotAllowed(ArenaError):
    code = "method_not_allowed"
    message = _("This address does not accept this method.")
    http_status = 405


class UnknownAddress(NotFound):
    message = _(
        "This address does not exist. There are /v1/models, /v1/chat/completions, /v1/responses and /v1/messages."
    )


class TooManyAtOnce(TooManyRequests):
    code = "too_many_at_once"
    message = _("Too many of your requests are under way. Wait until some have ended.")


class Busy(ServiceAway):
    message = _("Too many requests are under way. Please try again.")


class ModelsFailed(ServiceAway):
    code = "models_failed"
    message = _("No model could answer. Please try again.")


class ModelBusy(TooManyRequests):
    code = "model_busy"
    message = _("The model has no free capacity. Please try again.")


class ContextTooLong(InvalidInput):
    """Refusal in OpenAI's words, on which agents compact. tokens: of the prompt; maximum: of the context."""

    code = "context_length_exceeded"

    def __init__(self, *, tokens: int | None = None, maximum: int | None = None) -> None:
        self.tokens, self.maximum = tokens, maximum
        limit = f"This model's maximum context length is {maximum} tokens." if maximum else (
            "This model's maximum context length is exceeded."
        )  # fmt: skip
        length = f" However, your messages resulted in {tokens} tokens." if tokens else ""
        sentence = f"{limit}{length} Please reduce the length of the messages."
        super().__init__(sentence, fields={"messages": [sentence]})


class ProviderRefusal(ArenaError):
    """Refusal of the model's server, with its status. words: of the server, or ""."""

    code = "rejected"
    message = _("The model's provider rejected this request.")

    def __init__(self, words: str = "", *, status: int = 400) -> None:
        super().__init__(words)
        self.http_status = status


class Filtered(ProviderRefusal):
    code = "content_filter"
    message = _("The model's provider refused this prompt.")


class MissingAtProvider(ProviderRefusal):
    code = "model_not_found"


class UnsupportedPart(ProviderRefusal):
    """part: a parameter's name, or a part of models_registry.providers.refused_parts."""

    code = "unsupported_parameter"

    def __init__(self, part: str, words: str = "", *, status: int = 400) -> None:
        sentence = _("The model does not accept “%(part)s”. Leave it out, or choose another model.") % {"part": part}
        super().__init__(f"{sentence} {words}".strip(), status=status)
        self.fields = {part.replace(" ", "_"): [self.detail]}
