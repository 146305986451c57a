"""The part of a request that a provider does not accept, as its error names it."""

import re

from models_registry.providers.refusal_texts import Refusal

# Parts that are no parameters.
SYSTEM, SYSTEM_PLACE, DEVELOPER, ALTERNATION, AFTER_TOOL = (
    "system", "system in the middle", "developer", "alternation", "user after tool",
)  # fmt: skip
TEXT_PARTS, NULL_CONTENT, IMAGES, NO_REASONING, REASONING = (
    "text parts", "null content", "images", "missing reasoning", "reasoning",
)  # fmt: skip

_NO = (
    r"(?:not (?:be )?(?:supported|enabled|allowed|permitted|accepted|available|valid|implemented|one of)"
    r"|n[o']t support|unsupported"
    r"|unexpected|unknown|unrecognized|invalid|only (?:support\w*|allow\w*|accept\w*)|disabled|forbidden|must not"
    r"|cannot|can't"
    r"|does not (?:accept|allow|recognize))"
)
_MISSING = (
    r"(?:\bmissing\b|\brequired?\b|\bmust be (?:passed|provided|sent|returned|set)|\bmust (?:also )?(?:contain|have)\b"
    r"|\bpass(?:ed)? (?:it )?back|\bneed(?:s|ed)?\b|\babsent\b|\bnot found\b|\bwithout\b)"
)
_EXTRA = rf"(?:{_NO}|\bextra (?:inputs?|fields?))"
_SHAPES = [
    (NO_REASONING, re.compile(
        rf"\breasoning(?:_content)?\b.{{0,60}}?{_MISSING}|{_MISSING}.{{0,60}}?\breasoning(?:_content)?\b"
    )),
    (REASONING, re.compile(
        rf"\breasoning_content\b.{{0,60}}?{_EXTRA}|{_EXTRA}.{{0,60}}?\breasoning_content\b"
        rf"|\bassistant\W+reasoning\b.{{0,60}}?{_EXTRA}"
    )),
    (AFTER_TOOL, re.compile(
        r"\brole:? ['\"`]?user['\"`]? (?:\w+ ){0,3}after (?:\w+ ){0,2}['\"`]?tool\b"
        r"|\bafter (?:a |the )?['\"`]?tool['\"`]? .{0,40}?\bassistant\b"
        r"|\btool\b.{0,40}?\bfollowed by (?:an? )?['\"`]?assistant"
    )),
    (SYSTEM_PLACE, re.compile(
        r"\bsystem\b['\"`]? (?:\w+ ){0,3}(?:must|should|can only|may only|has to|only) .{0,30}?"
        r"\b(?:beginning|first|start)\b"
        r"|\b(?:multiple|more than one|only one|single) system (?:message|prompt|role)"
    )),
    (ALTERNATION, re.compile(
        r"\broles? (?:must|should|need to|have to) (?:be )?alternat|\balternat\w+ (?:between|user|roles)"
        r"|\bconsecutive (?:\w+ )?"
        r"(?:user|assistant|messages|roles)|\b(?:same|identical) role\b|\bmultiple \w+ messages in a row"
    )),
    (DEVELOPER, re.compile(
        rf"\bdeveloper\b['\"`]? (?:role|message)s?.{{0,30}}?{_NO}|{_NO}.{{0,30}}?\brole:? ?['\"`]?developer\b"
        rf"|['\"`]developer['\"`] (?:is |was )?(?:a |an )?{_NO}|\brole ['\"`]?developer['\"`]?.{{0,20}}?{_NO}"
    )),
    (SYSTEM, re.compile(
        rf"\bsystem\b['\"`]? ?(?:role|message|prompt|instruction)s?.{{0,40}}?{_NO}"
        rf"|{_NO}.{{0,40}}?(?:\brole:? ?['\"`]?system\b"
        rf"|['\"`]?\bsystem\b['\"`]? (?:role|message|prompt|instruction))|['\"`]system['\"`] (?:is |was )?{_NO}"
        rf"|\brole ['\"`]?system['\"`]?.{{0,20}}?{_NO}|\bdeveloper instruction.{{0,20}}?{_NO}"
    )),
    (NULL_CONTENT, re.compile(
        r"\bcontent\b.{0,60}?(?:<nil>|\bnull\b|\bnone\b|\bnil\b|\bis required\b|\bmust not be empty)|(?:\bnull\b"
        r"|\bnone\b).{0,40}?\bcontent\b"
    )),
    (TEXT_PARTS, re.compile(
        r"\bcontent\b.{0,60}?(?:valid string|be a (?:string|text)|(?:of type|expected"
        r"|type:?) (?:a )?['\"`]?(?:string|str)\b)"
        r"|\barray\b.{0,80}?\bcontent\b.{0,40}?\bstring\b|\bsequence, expected a string\b|\bcan only concatenate str\b"
        r"|\bexpected a string\b.{0,30}?\bcontent\b"
    )),
    (IMAGES, re.compile(
        rf"\b(?:images?|vision|multi-?modal|image_url|pictures?|mmproj)\b.{{0,50}}?{_NO}"
        rf"|{_NO}.{{0,50}}?\b(?:images?|vision|multi-?modal|image_url"
        r"|pictures?)\b|\bimages?\b.{0,60}?\b(?:exceed\w*|too (?:large|big|many)|at most|maximum)\b"
        r"|\b(?:at most|maximum(?: of)?|no more than) \d+ images?\b"
    )),
    ("tools", re.compile(
        rf"\b(?:tools?|functions?|tool[ _]use|tool[ _]calls?|function[ _]calling)\b.{{0,40}}?{_NO}"
        rf"|{_NO}.{{0,40}}?\b(?:tools|tool[ _]use|function"
        r"[ _]calling)\b|\brequires --enable-auto-tool-choice|['\"`]tools['\"`]:? array too long"
    )),
    ("response_format", re.compile(
        rf"\b(?:response_format|json[ _]?(?:schema|object|mode)|structured outputs?"
        rf"|guided decoding)\b.{{0,60}}?(?:{_NO}|unavailable)"
        rf"|(?:{_NO}|unavailable).{{0,40}}?\b(?:response_format|json[ _]?(?:schema|object|mode)|structured outputs?)\b"
    )),
]  # fmt: skip

# More than a shape: a refused value counts, too.
_REFUSED = re.compile(
    rf"{_NO}|\bextra (?:inputs?|fields?|parameters?)\b|\badditional properties\b|\bdeprecated\b|\bno longer\b"
    rf"|\bmust be\b"
    r"|\bshould be\b|\btoo (?:large|small|high|low|big)\b|\bat most\b|\bvalid range\b|\bout of range\b|\bincompatible\b"
    r"|\bno such (?:parameter|field)|\bremove\b|\bcannot both\b|\bunavailable\b"
)
_PARAMETERS = (
    "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k", "min_p", "presence_penalty",
    "frequency_penalty", "repetition_penalty", "repeat_penalty", "random_seed", "seed", "stream_options",
    "include_usage", "response_format", "parallel_tool_calls", "tool_choice", "reasoning_effort",
    "chat_template_kwargs",
    "enable_thinking", "logit_bias", "top_logprobs", "logprobs", "service_tier", "verbosity", "stop", "tools",
)  # fmt: skip
_KNOWN = re.compile(r"(?<![\w.])(" + "|".join(_PARAMETERS) + r")\b")
_ALIASES = {"include_usage": "stream_options", "stop sequences": "stop"}
# Names of other parameters, where servers put them.
_NAMED = re.compile(
    r"\b(?:parameters?|arguments?|fields?|propert(?:y|ies)|name|keys?|inputs?|option)\b[^\w'\"`]{0,6}(?:supplied"
    r"|are not permitted"
    r"|is not permitted)?[^\w'\"`]{0,3}['\"`]?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b"
)
# A value inside of a message or a tool, which has no other form.
_PATH_INSIDE = re.compile(r"\b(?:messages|tools)\[\d+\]\.(?!content\b|role\b)\w")


def refused_part(refusal: Refusal) -> str:
    """Return a parameter's name, or one of this module's parts; "" if the error names none."""
    text = f"{refusal.parameter.lower()} {refusal.text}"
    if _PATH_INSIDE.search(text):
        return ""
    for part, pattern in _SHAPES:
        if pattern.search(text):
            return part
    if not _REFUSED.search(refusal.words):
        return ""
    if "both" in text and "top_p" in text:  # of temperature and top_p the first one stays
        return "top_p"
    # The refused one stands first: “'max_tokens' is not supported. Use 'max_completion_tokens' instead.”
    match = _KNOWN.search(text) or _NAMED.search(text)
    if match is None:
        return ""
    return _ALIASES.get(match[1], match[1])
