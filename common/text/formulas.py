"""LaTeX in Markdown: delimiters for markdown-it, and conversion to MathML."""

import html
import re
import unicodedata
from contextlib import suppress
from typing import Any
from xml.etree.ElementTree import Element, tostring

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

# A formula beyond these limits is shown as its source: MathML is about twenty times as long.
MAX_FORMULA_CHARACTERS = 4_000
MAX_TEXT_FORMULA_CHARACTERS = 20_000
MAX_TEXT_MATHML_CHARACTERS = 128_000
MAX_EM = 20.0
# Displayed formulas up to this length fit on every phone.
MAX_NARROW_CHARACTERS = 24

_CLOSES = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_IS_DISPLAYED = {"$$", "\\["}
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
# Definitions can expand exponentially: 30 of them, each using the previous one twice, are a billion symbols.
_DEFINITION = re.compile(r"\\(?:def|newcommand|newenvironment|DeclareMathOperator)(?![a-zA-Z])")
# Environments that latex2mathml would render as letters, mapped to a similar one that it knows.
_ENVIRONMENT = re.compile(r"(\\(?:begin|end))\s*\{([a-z]+\*?)\}")
_SIMILAR_ENVIRONMENT = {
    "aligned": "align*",
    "dcases": "cases",
    "eqnarray": "align*",
    "eqnarray*": "align*",
    "equation": "matrix",
    "equation*": "matrix",
    "flalign": "align*",
    "flalign*": "align*",
    "gather": "matrix",
    "gather*": "matrix",
    "gathered": "matrix",
    "multline": "matrix",
    "multline*": "matrix",
}
_LENGTH = re.compile(r"([+-]?[\d.]+)([a-z]*)")
_EM = {"em": 1.0, "ex": 0.5, "pt": 0.1, "px": 0.0625, "": 1.0}
_LENGTHS = {"width", "height", "depth", "lspace", "rspace", "voffset", "minsize", "maxsize"}

# Colours, whose contrast is not checked, and links, styles and classes are not allowed.
MATHML_ATTRIBUTES: dict[str, set[str]] = {
    "math": {"display", "alttext", "tabindex"},
    "menclose": {"notation"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "minsize", "maxsize", "movablelimits", "lspace", "rspace", "largeop", "accent"},
    "mover": {"accent"},
    "mpadded": {"width", "height", "depth", "lspace", "voffset"},
    "mspace": {"width", "height", "depth"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"columnalign", "columnlines", "rowlines", "columnspacing", "rowspacing", "displaystyle"},
    "mtd": {"columnalign"},
    "munder": {"accentunder"},
}
MATHML_TAGS = {
    *MATHML_ATTRIBUTES,
    *("mrow", "mn", "mtext", "msqrt", "mroot", "msub", "msup", "msubsup", "munderover"),
    *("mtr", "mphantom", "mmultiscripts", "mprescripts", "none"),
}


def add_formula_rules(parser: MarkdownIt) -> None:
    r"""Add inline formulas (`$…$`, `\(…\)`) and displayed ones (`$$…$$`, `\[…\]`) to a parser."""
    parser.inline.ruler.before("escape", "formula", _inline_rule)
    parser.block.ruler.before(
        "fence", "formula", _block_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.add_render_rule("formula", _render)


def to_mathml(source: str, *, displayed: bool) -> str:
    """Return a well-formed, escaped `<math>` with the source in `alttext`.

    Raises ValueError for formulas that cannot be parsed, define commands, or are too long.
    """
    # Imported late: the table of symbols costs 10 MB and 0.3 s, and most processes render no answer.
    from latex2mathml.converter import Converter

    if len(source) > MAX_FORMULA_CHARACTERS or _DEFINITION.search(source):
        raise ValueError("formula is too long or defines commands")
    try:
        math = Converter(display="block" if displayed else "inline").convert_to_element(_replace_environments(source))
        for element in math.iter():
            _clean_element(element)
        math.set("alttext", source.strip())
        if displayed and len(source) > MAX_NARROW_CHARACTERS:
            math.set("tabindex", "0")  # a formula wider than its pane must be scrollable by keyboard
        return tostring(math, encoding="unicode")
    except Exception as error:  # a dozen of its own, IndexError, KeyError, RecursionError …: models write anything
        raise ValueError("not LaTeX") from error


def _replace_environments(source: str) -> str:
    return _ENVIRONMENT.sub(lambda match: f"{match[1]}{{{_SIMILAR_ENVIRONMENT.get(match[2], match[2])}}}", source)


def _clean_element(element: Element) -> None:
    """Resolve the converter's character references; remove other attributes and huge lengths."""
    element.text = element.text and html.unescape(element.text)
    if element.text and element.tag in {"mi", "mn"} and element.get("mathvariant", "normal") != "normal":
        style = element.attrib.pop("mathvariant").upper().replace("BOLD-", "BOLD ")
        element.text = "".join(_styled(character, style) for character in element.text)
    allowed = MATHML_ATTRIBUTES.get(element.tag, set())
    for name, value in list(element.attrib.items()):
        if name not in allowed or (name in _LENGTHS and not _is_short(value)):
            del element.attrib[name]


def _styled(character: str, style: str) -> str:
    """Return the mathematical letter of this style: Chromium ignores the styles of `mathvariant`."""
    letter = re.sub("^(LATIN|GREEK) | LETTER", "", unicodedata.name(character, ""))
    for name in (f"MATHEMATICAL {style} {letter}", f"{style} {letter}"):
        with suppress(KeyError):
            return unicodedata.lookup(name)
    return character


def _is_short(length: str) -> bool:
    match = _LENGTH.fullmatch(length)
    with suppress(ValueError):
        return match is not None and abs(float(match[1])) * _EM.get(match[2], 10.0) <= MAX_EM
    return False


def _inline_rule(state: StateInline, silent: bool) -> bool:
    opens = next((opens for opens in _CLOSES if state.src.startswith(opens, state.pos)), "")
    if not opens:
        return False
    start = state.pos + len(opens)
    end = _find_closing(state.src, start, _CLOSES[opens])
    content = state.src[start:end] if end > start else ""
    if not content.strip() or not _is_formula(state, opens, content, end + len(opens)):
        return False
    if not silent:
        _push(state, opens, content)
    state.pos = end + len(opens)
    return True


def _is_formula(state: StateInline, opens: str, content: str, after: int) -> bool:
    r"""Return False for prices, shell variables and escaped Markdown brackets.

    "$5 and $6", "US$5", "$HOME:$PATH" and "\[text\](address)" are no formulas; "the $n$th" has one.
    """
    following = state.src[after : after + 1]
    if opens == "$":
        before = state.src[state.pos - 1 : state.pos]
        if content[0].isspace() or content[-1].isspace() or "`" in content:
            return False
        return not (before.isalnum() or following.isdigit() or following.isupper())
    return opens != "\\[" or following != "("


def _block_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a displayed formula that spans whole lines, which Markdown would parse as lists and headings."""
    start = state.bMarks[first] + state.tShift[first]
    opens = state.src[start : start + 2]
    if opens not in _IS_DISPLAYED or state.is_code_block(first):
        return False
    # Every line of a paragraph may begin a formula, so the lines are not walked when no formula can end here.
    end = _find_closing(state.src, start + 2, _CLOSES[opens])
    if end < 0 or _BLANK_LINE.search(state.src, start, end):
        return False
    lines = [state.src[start + 2 : state.eMarks[first]]]
    line = first
    while not lines[-1].rstrip().endswith(_CLOSES[opens]):
        line += 1
        if line >= last or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    content = "\n".join(lines).rstrip()[:-2]
    if not content.strip() or _CLOSES[opens] in content:
        return False
    if not silent:
        _push(state, opens, content).block = True
    state.line = line + 1
    return True


def _find_closing(text: str, start: int, closes: str) -> int:
    """Return the index of the closing delimiter, -1 without one; escaped dollars do not close."""
    limit = start + MAX_FORMULA_CHARACTERS
    end = text.find(closes, start, limit)
    while end > 0 and closes.startswith("$") and text[end - 1] == "\\":
        end = text.find(closes, end + 1, limit)
    return end


def _push(state: StateInline | StateBlock, opens: str, content: str) -> Token:
    token = state.push("formula", "math", 0)
    token.content, token.markup = content, opens
    return token


def _render(_renderer: RendererHTML, tokens: list[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    token = tokens[index]
    env["formula_characters"] = env.get("formula_characters", 0) + len(token.content)
    after = "\n" if token.block else ""
    try:
        if env["formula_characters"] > MAX_TEXT_FORMULA_CHARACTERS:
            raise ValueError("the text has too many formulas")
        if env.get("mathml_characters", 0) > MAX_TEXT_MATHML_CHARACTERS:
            raise ValueError("the text has too much MathML")
        mathml = to_mathml(token.content, displayed=token.markup in _IS_DISPLAYED)
        env["mathml_characters"] = env.get("mathml_characters", 0) + len(mathml)
        return mathml + after
    except ValueError:
        source = html.escape(f"{token.markup}{token.content}{_CLOSES[token.markup]}")
        return f'<code class="formula">{source}</code>{after}'
