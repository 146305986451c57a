class AnswerLines:
    """The answer's last line and whether it is in code; read only where a mark is found."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._line = ""
        self._is_fenced = False
        self._has_text = False

    @property
    def has_text(self) -> bool:
        return self._has_text or any(piece.strip() for piece in self.pieces)

    def line_with(self, more: str) -> tuple[str, bool]:
        """Return the last line, and whether a mark behind `more` is in code."""
        self._fold()
        is_fenced, line = self._is_fenced, self._line + more
        *lines, line = line.split("\n")
        for whole in lines:
            is_fenced ^= _is_fence(whole)
        return line, is_fenced or _is_fence(line) or line.count("`") % 2 == 1

    def _fold(self) -> None:
        joined = "".join(self.pieces)
        self.pieces = []
        self._has_text = self._has_text or bool(joined.strip())
        *lines, line = (self._line + joined).split("\n")
        for whole in lines:
            self._is_fenced ^= _is_fence(whole)
        self._line = line[-2_000:]


def _is_fence(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))
