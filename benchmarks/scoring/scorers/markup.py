"""XML and fenced code."""

import msgspec

from benchmarks.scoring.extraction import fenced_blocks
from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided

_ALIASES = {
    "py": "python", "python3": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "shell": "bash",
    "c++": "cpp", "c#": "csharp", "rs": "rust", "rb": "ruby", "yml": "yaml", "golang": "go", "postgresql": "sql",
}  # fmt: skip


class XmlSettings(Settings, frozen=True):
    """elements: paths from the root, such as `analysis/topic`, that must be there in any namespace."""

    elements: tuple[str, ...] = ()


class IsXml(Scorer):
    """Parses in the child; a document type or an entity makes the answer wrong."""

    name = "is_xml"
    version = "2"
    settings = XmlSettings
    needs_child = True

    def load(self) -> None:
        import defusedxml.ElementTree  # noqa: F401

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        from xml.etree.ElementTree import ParseError

        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import fromstring

        assert isinstance(settings, XmlSettings)
        try:
            root = fromstring(answer.text.strip(), forbid_dtd=True)
        except (ParseError, DefusedXmlException, ValueError) as error:
            return decided(False, str(error))
        paths = {path: path.strip("/").split("/") for path in settings.elements}
        missing = [
            path
            for path, (head, *rest) in paths.items()
            if root.tag.rpartition("}")[2] != head
            or (rest and root.find("/".join(f"{{*}}{tag}" for tag in rest)) is None)
        ]
        return decided(not missing, f"missing: {', '.join(missing)}" if missing else "")


class CodeSettings(Settings, frozen=True):
    """language: the fence's tag; empty: any fence."""

    language: str = ""


class ContainsCode(Scorer):
    """Finds a closed code fence with content and the language's tag."""

    name = "contains_code"
    settings = CodeSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, CodeSettings)
        wanted = _plain_name(settings.language.lower())
        languages = [_plain_name(language) for language, code in fenced_blocks(answer.text) if code.strip()]
        return decided(wanted in languages if wanted else bool(languages), ", ".join(languages))


def _plain_name(language: str) -> str:
    return _ALIASES.get(language, language)


SCORERS: tuple[Scorer, ...] = (IsXml(), ContainsCode())
