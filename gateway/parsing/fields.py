"""Typed access to decoded JSON; a refusal names its field as OpenAI does: messages.0.content."""

from common.conversation.errors import BadField
from common.payload_types import Json, JsonObject


class Fields:
    """A JSON object whose fields are taken one by one; null counts as missing."""

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise BadField(f"“{path or 'The body'}” must be an object.", path)
        self._values: JsonObject = {name: field for name, field in value.items() if field is not None}
        self._path = path

    def param(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def take(self, name: str) -> Json:
        value: Json = self._values.pop(name, None)
        return value

    def rest(self) -> list[str]:
        """Return the names of fields that were not taken."""
        return list(self._values)

    def bad(self, name: str, message: str, code: str = "invalid_value") -> BadField:
        return BadField(message, self.param(name), code)

    def require(self, name: str) -> None:
        if name not in self._values:
            raise self.bad(name, f"“{self.param(name)}” is missing.", "missing_required_parameter")

    def text(self, name: str, *, max_length: int, required: bool = False) -> str:
        if required:
            self.require(name)
        value = self.take(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.bad(name, f"“{self.param(name)}” must be a string.", "invalid_type")
        if len(value) > max_length:
            raise self.bad(name, f"“{self.param(name)}” may have at most {max_length:,} characters.")
        return value

    def boolean(self, name: str) -> bool | None:
        value = self.take(name)
        if value is None or isinstance(value, bool):
            return value
        raise self.bad(name, f"“{self.param(name)}” must be true or false.", "invalid_type")

    def integer(self, name: str, *, at_least: int, at_most: int) -> int | None:
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.bad(name, f"“{self.param(name)}” must be an integer.", "invalid_type")
        if not at_least <= value <= at_most:
            raise self.bad(name, f"“{self.param(name)}” must be between {at_least} and {at_most}.")
        return value

    def object(self, name: str) -> "Fields | None":
        return Fields(self.take(name), self.param(name)) if name in self else None
