"""Reasoning that comes as text: `<think>…</think>` before the answer, where a server does not part the two."""

OPENING, CLOSING = "<think>", "</think>"


class ThinkTag:
    """Feed it an answer's pieces; a tag may come split over several, so a few characters may wait for the next."""

    def __init__(self) -> None:
        self.is_past = False
        self._is_inside = self._is_closed = False
        self._held = ""

    def part(self, text: str) -> tuple[str, str]:
        """(text, reasoning) of what has come and cannot be anything else."""
        if self.is_past:
            return text, ""
        if self._is_closed:  # the lines between the tag and the answer belong to neither
            text = text.lstrip()
            self.is_past = bool(text)
            return text, ""
        self._held += text
        if not self._is_inside:
            begun = self._held.lstrip()
            if OPENING.startswith(begun):
                return "", ""
            if not begun.startswith(OPENING):
                return self.rest()
            self._is_inside, self._held = True, begun.removeprefix(OPENING)
        reasoning, tag, answer = self._held.partition(CLOSING)
        if tag:
            self._is_closed, self._held = True, ""
            return self.part(answer)[0], reasoning
        begun_tag = next((n for n in range(len(CLOSING) - 1, 0, -1) if reasoning.endswith(CLOSING[:n])), 0)
        self._held = reasoning[len(reasoning) - begun_tag :]
        return "", reasoning[: len(reasoning) - begun_tag]

    def rest(self) -> tuple[str, str]:
        """What still waits; nothing waits afterwards."""
        self.is_past, rest = True, self._held
        self._held = ""
        return ("", rest) if self._is_inside else (rest, "")
