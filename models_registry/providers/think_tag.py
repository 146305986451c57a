"""Separation of `<think>…</think>` from the answer, for servers that do not separate reasoning."""

OPENING, CLOSING = "<think>", "</think>"


class ThinkTag:
    """Incremental parser of an answer's pieces. It holds back characters that may begin a tag."""

    def __init__(self) -> None:
        self.is_past = False
        self._is_inside = self._is_closed = False
        self._held = ""

    def part(self, text: str) -> tuple[str, str]:
        """Return (text, reasoning) that is certain after this piece."""
        if self.is_past:
            return text, ""
        if self._is_closed:  # lines between the tag and the answer are dropped
            text = text.lstrip()
            self.is_past = bool(text)
            return text, ""
        self._held += text
        if not self._is_inside:
            start = self._held.lstrip()
            if OPENING.startswith(start):
                return "", ""
            if not start.startswith(OPENING):
                return self.rest()
            self._is_inside, self._held = True, start.removeprefix(OPENING)
        reasoning, tag, answer = self._held.partition(CLOSING)
        if tag:
            self._is_closed, self._held = True, ""
            return self.part(answer)[0], reasoning
        partial_tag = next((n for n in range(len(CLOSING) - 1, 0, -1) if reasoning.endswith(CLOSING[:n])), 0)
        self._held = reasoning[len(reasoning) - partial_tag :]
        return "", reasoning[: len(reasoning) - partial_tag]

    def rest(self) -> tuple[str, str]:
        """Return (text, reasoning) that was held back, at the end of the answer."""
        self.is_past, rest = True, self._held
        self._held = ""
        return ("", rest) if self._is_inside else (rest, "")
