class BadField(Exception):
    """Refusal of a request. param: the field as OpenAI names it (messages.0.content), or "" for the whole body."""

    def __init__(self, message: str, param: str = "", code: str = "invalid_value") -> None:
        super().__init__(message)
        self.message, self.param, self.code = message, param, code
