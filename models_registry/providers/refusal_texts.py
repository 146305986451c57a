"""Meaning of providers' error texts: two groups of words near each other."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

MAX_DEPTH, MAX_TEXTS, MAX_CHARACTERS = 8, 100, 4_000
# Maximum distance of the nearest words of two groups.
NEAR_CHARACTERS = 90

# Fields that repeat the request are not read: a prompt could imitate an error.
_ECHOES = frozenset(
    {"input", "inputs", "prompt", "messages", "content", "flagged_input", "failed_generation", "request", "body",
     "received", "stack", "traceback", "url"}
)  # fmt: skip
_CODE_KEYS = frozenset({"code", "type", "status", "error_code", "errorcode", "__type", "status_code", "error_type"})
_STATUS_KEYS = ("code", "status", "status_code", "http_status", "error_code")
_PARAMETER_KEYS = ("param", "parameter", "loc")

# Words of codes and types, and the status that they mean.
_STATUS_OF_WORDS = {
    "ratelimit": 429, "ratelimited": 429, "ratelimiterror": 429, "ratelimitexceeded": 429, "toomanyrequests": 429,
    "resourceexhausted": 429, "throttlingexception": 429, "throttling": 429, "invalidapikey": 401,
    "authenticationerror": 401, "unauthenticated": 401, "unauthorized": 401, "insufficientquota": 402,
    "insufficientbalance": 402, "billingerror": 402, "paymentrequired": 402, "permissionerror": 403,
    "permissiondenied": 403, "forbidden": 403, "accessdeniedexception": 403, "notfounderror": 404, "modelnotfound": 404,
    "requesttoolarge": 413, "overloadederror": 529, "overloaded": 529, "unavailable": 503, "unavailableerror": 503,
    "serviceunavailable": 503, "modelnotreadyexception": 503, "timeout": 504, "timeouterror": 504,
    "deadlineexceeded": 504, "gatewaytimeout": 504, "badgateway": 502, "servererror": 500, "internal": 500,
    "internalerror": 500, "internalservererror": 500, "apierror": 500, "invalidrequesterror": 400,
    "badrequesterror": 400, "badrequest": 400, "invalidargument": 400, "validationexception": 400,
    "invalidparametererror": 400, "validationerror": 422, "unprocessableentity": 422,
}  # fmt: skip


@dataclass
class Refusal:
    """Error of a provider."""

    text: str = ""  # in lower case
    codes: list[str] = field(default_factory=list)  # and types
    status: int = 0  # of the body
    parameter: str = ""  # as the provider names it
    is_json: bool = False

    @property
    def words(self) -> str:
        """Text and codes, whose underscores are blanks."""
        return " ".join([self.text, *(code.replace("_", " ").lower() for code in self.codes)])

    def has_code(self, *codes: str) -> bool:
        return any(_compact(code) in map(_compact, self.codes) for code in codes)


def read(body: object) -> Refusal:
    """Return the error in a body or event: a text, perhaps JSON, or parsed JSON."""
    parsed = _parsed(body) if isinstance(body, str) else body
    refusal = Refusal(is_json=isinstance(parsed, dict | list))
    texts = list(islice(_walk(parsed, refusal, "", 0), MAX_TEXTS))
    refusal.text = " ".join(texts)[:MAX_CHARACTERS].lower()
    refusal.status = refusal.status or next(
        (_STATUS_OF_WORDS[word] for word in map(_compact, refusal.codes) if word in _STATUS_OF_WORDS), 0
    )
    return refusal


def _parsed(body: str) -> object:
    start = body.strip()[:1]
    if start not in ("{", "["):
        return re.sub(r"<[^>]*>", " ", body[: 10 * MAX_CHARACTERS]) if start == "<" else body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _walk(value: object, refusal: Refusal, key: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, part in list(value.items())[:MAX_TEXTS]:
            if str(name).lower() not in _ECHOES:
                yield from _walk(part, refusal, str(name).lower(), depth + 1)
    elif isinstance(value, list):
        if key == "loc":
            refusal.parameter = refusal.parameter or next(
                (part for part in value if isinstance(part, str) and part != "body"), ""
            )
            yield " ".join(map(str, value[:MAX_DEPTH]))
            return
        for part in value[:MAX_TEXTS]:
            yield from _walk(part, refusal, key, depth + 1)
    elif isinstance(value, str):
        text = value[:MAX_CHARACTERS]
        inner = _parsed(text)
        if not isinstance(inner, str):  # routers put the body of the server behind them into a text
            yield from _walk(inner, refusal, key, depth + 1)
        elif key in _CODE_KEYS and " " not in text:
            if text.isascii() and text.isdigit() and len(text) == 3:
                refusal.status = refusal.status or int(text)
            else:
                refusal.codes.append(text)
        elif key in _PARAMETER_KEYS:
            refusal.parameter = refusal.parameter or text
        elif text:
            yield text
    elif isinstance(value, int) and not isinstance(value, bool) and key in _STATUS_KEYS and 400 <= value < 600:
        refusal.status = refusal.status or value


def _compact(code: str) -> str:
    return re.sub(r"[^a-z]", "", code.lower().rpartition(".")[2].rpartition("#")[2])


def _group(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words))


def _near(first: str, second: str) -> re.Pattern[str]:
    between = rf".{{0,{NEAR_CHARACTERS}}}?"
    return re.compile(f"{first}{between}{second}|{second}{between}{first}", re.DOTALL)


# --- Too long --------------------------------------------------------------------------------------------------------
_LENGTHS = _group(
    r"\btokens?\b", r"\blength\b", r"\bcontext\b", r"\binputs?\b", r"\bprompts?\b", r"\bmessages?\b", r"\bsequence\b",
    r"\bconversation\b", r"\bcharacters\b", r"\bwindow\b", r"\bn_ctx\b", r"\bmodel len\b", r"\btext\b",
    "上下文", "输入", "长度", "提示", "トークン", "入力",
    "プロンプト", "コンテキスト", "토큰", "입력", r"\beingabe\b", r"\bkontext",
    r"\banfrage\b", r"\bentr[ée]e\b", r"\bcontexte\b", r"\brequ[êe]te\b", r"\bentrada\b", r"\bcontexto\b",
    r"\bmensaje\b", r"\bmessaggio\b", r"\bcontesto\b", r"контекст", r"запрос", r"токен",
)  # fmt: skip
_LIMITS = _group(
    r"\bexceed\w*", r"\btoo (?:long|large|many|big|much)\b", r"\bmax(?:imum)?\b", r"\blimit(?:s|ed|ation)?\b",
    r"\b(?:longer|larger|greater|bigger|more) than\b", r"\bsurpass\w*", r"\bover(?:flow\w*| the| its)\b",
    r"\bat most\b",
    r"\b(?:reduce|shorten|truncate|decrease)\b", r"\b(?:does not|doesn't|do not|cannot|can't|won't|not) fit\b",
    r"\bless than\b", r"\bshould be \[", r"<=", r"≤", r"\bno more than\b", r"\bup to \d", r"\bbeyond\b",
    r"\bout of (?:range|bounds)\b",
    "超过", "超出", "过长", "太长", "最大", "限制", "超え", "長すぎ", "上限", "초과", r"\bzu (?:lang|groß|viele)\b",
    r"überschr\w+", r"\btrop (?:long|grand|de)", r"dépass\w+", r"\bexced\w+", r"\bsupera\w*", r"\bdemasiad\w+",
    r"\btroppo\b", r"превы\w+", r"слишком (?:длин|больш|мног)\w*", r"\bmaximal\w*", r"\bmáxim\w+",
)  # fmt: skip
_TOO_LONG = _near(_LENGTHS, _LIMITS)
# Limits of other things, and pydantic's beginning of every sentence about any field.
_OTHER_LIMITS = _any(
    r"\binput should be\b",
    r"\bmax(?:imum)?(?: number of)? (?:retries|attempts|concurren\w+|connections|redirects)[^.,;]*",
    r"\b(?:dead ?line|time ?out|time limit|rate[ -]?limit|quota|budget|concurrency(?: limit)?|retries|attempts"
    r"|queue(?: size)?|request timeout|spend(?:ing)? limit)s?\b[^.,;:]{0,25}?\b(?:exceeded|reached|hit|limit)",
    r"\bexceeded (?:the |your |its )?(?:dead ?line|time ?out|rate|quota|current quota|budget|retry)[^.,;]*",
    r"\b(?:access|api|auth\w*|bearer|security|session|refresh|csrf|id) tokens?\b",
    r"\btoken (?:is |has )?(?:invalid|expired|missing|revoked)", r"\bstop sequences?\b[^.]*",
)  # fmt: skip
# Names of parameters: “max_tokens” is neither a number of tokens nor a maximum.
_IDENTIFIER = re.compile(r"\b(?:max|min|top|best|stop|num|presence|frequency|repetition|n)_[a-z_]+\b")
_CONTEXT_IDENTIFIERS = re.compile(r"\bmax_model_len\b|\bmax_(?:input|prompt|total|seq|context)\w*\b|\bn_ctx\b")
_PATH = re.compile(r"\b(?:invalid|value of|field|at) [`'\"]([\w\[\].]+)[`'\"]")
_PATH_OF_PROMPT = re.compile(r"\b(?:messages?|content|contents|input|prompt|text|parts)(?:\[\d+\])?$")
_TOO_LARGE = re.compile(
    r"\b(?:request|payload|entity|body|content)(?: entity| body| payload| size)?(?: is| was)? too (?:large|long|big)\b"
)
_RATE = _any(
    r"\brate[ _-]?limit", r"\btoo many (?:requests|concurrent)", r"\bper (?:second|minute|min|hour|day)\b",
    r"\b[rt]p[smhd]\b", r"\btry again (?:in|later)", r"\bretry (?:in|after)", r"\bthrottl", r"\bslow down\b",
    "请求过于频繁", r"\bresource(?: has been)? exhausted", r"\bconcurren",
)  # fmt: skip
_REQUESTED = re.compile(r"\blimit:?\s*([\d,]+)\b.*?\brequested:?\s*([\d,]+)\b", re.DOTALL)


def is_single_request_too_large(refusal: Refusal) -> bool:
    if match := _REQUESTED.search(refusal.text):
        limit, requested = (int(number.replace(",", "") or 0) for number in match.groups())
        return requested > limit
    return bool(_RATE.search(refusal.words) and re.search(r"\brequest too large\b", refusal.text))


def is_rate(refusal: Refusal) -> bool:
    return bool(_RATE.search(refusal.words))


_LONG_CODES = (
    "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "ContextWindowExceededError",
    "request_too_large", "prompt_too_long", "input_too_long",
)  # fmt: skip


def is_too_long(refusal: Refusal) -> bool:
    if refusal.has_code(*_LONG_CODES):
        return True
    if (path := _PATH.search(refusal.text)) and not _PATH_OF_PROMPT.search(path[1]):
        return False
    if re.search(r"\bimages?\b|\bpictures?\b", refusal.text) and not re.search(r"\btokens?\b", refusal.text):
        return False
    if _is_about_cap(refusal):
        return False
    text = _CONTEXT_IDENTIFIERS.sub("context length", refusal.words)
    text = _OTHER_LIMITS.sub(" ", _IDENTIFIER.sub(" ", text))
    return bool(_TOO_LARGE.search(text) or _TOO_LONG.search(text))


_CAP = re.compile(r"\bmax_(?:completion_|output_|new_)?tokens\b")


def _is_about_cap(refusal: Refusal) -> bool:
    """Return whether the cap alone is too large, not together with the prompt."""
    if not (_CAP.search(refusal.text) or _CAP.search(refusal.parameter)):
        return False
    rest = _CAP.sub(" ", refusal.text)
    return not re.search(r"\bcontext\b|\bprompts?\b|\binputs?\b|\bmessages?\b", rest.replace("input should be", ""))


# --- Filtered --------------------------------------------------------------------------------------------------------
_FILTERED = _any(
    "content[ _-]?(?:filter|polic(?:y|ies)|moderation|violation|risk|management polic)", r"\bcontent exists risk\b",
    r"\b(?:usage|safety|acceptable[ -]use|moderation|community|responsible[ -]?ai)\W+(?:polic\w+|system|filters?"
    r"|reasons?|guidelines|checks?|rules|concerns|standards|classifiers?|violation)",
    r"\bsafety (?:block|issue|policy)", r"\bviolat\w+.{0,60}?\b(?:polic\w+|terms|guidelines|rules|standards|law)",
    r"\bresponsibleaipolicy", r"\bmoderat(?:ion|ed|or)\b", r"\bflagged\b", r"\binappropriate\b",
    r"\bguard ?rails?\b", r"\bprohibited (?:content|use)", r"\bprohibited_content", r"\bdisallowed content",
    r"\b(?:unsafe|harmful|offensive|sensitive|nsfw|illegal|explicit|violent) (?:content|material|information"
    r"|input|prompt|text|words?|category)",
    r"\bjailbreak", r"\bdata[ _]inspection", r"\bnew_sensitive", r"\bcensor(?:ed|ship)",
    r"\b(?:may|might|could) (?:contain|be) (?:sensitive|unsafe|harmful|inappropriate|offensive)",
    r"\b(?:prompt|input|content|response|output|completion|question|text|message|answer"
    r"|generation)s?\b.{0,50}?\b(?:was|were|has been|have been|is|are|got)? ?blocked",
    r"\bblocked (?:by|due to|because|for).{0,40}?\b(?:safety|filter|polic|guard|moderat|content|harm|prompt"
    r"|recitation)",
    r"\bblock_?reason", r"\bhigh[ -]risk (?:content|prompt|input|request)", r"\bcyber[ _]?polic",
    "敏感", "违规", "违反",
    "不当", "不安全", "有害", "不適切", "安全审核", "内容审核", "유해", "부적절",
    r"\bunangemessen", r"\binappropri[ée]", r"\binapropiad",
    r"\binapropriad", r"\brichtlinien\b.{0,40}?\b(?:verst|verletz)",
    r"\b(?:enfreint|viole)\b.{0,60}\b(?:r[èe]gles|politique)",
    r"\b(?:viola|infringe)\b.{0,60}\b(?:pol[ií]tica|normas)", "недопустим", "неприемлем",
)  # fmt: skip
# Words of filters that speak of something else.
_NO_FILTER = _any(
    r"\b(?:ip|account|organi[sz]ation|user|key|country|region|access|address|you)\b[^.]{0,40}?\b(?:is |are |was "
    r"|has been |have been )?(?:blocked|flagged|banned)",
    r"\bcloudflare\b", r"\bfirewall\b", r"\bdata polic", r"\bprivacy polic", r"\bunknown (?:field|name|parameter)",
    r"\bsafety_?settings\b", r"\bmoderation model\b", r"\bguardrail (?:id|identifier|version|config\w*)\b",
)  # fmt: skip


_FILTER_CODES = (
    "content_filter", "content_policy_violation", "content_management_policy", "prompt_blocked",
    "data_inspection_failed", "guardrail", "moderation_error", "safety", "prohibited_content", "sensitive",
)  # fmt: skip


def is_filtered(refusal: Refusal) -> bool:
    if refusal.has_code(*_FILTER_CODES):
        return True
    words = refusal.words.replace("_", " ") + " " + refusal.words
    return bool(_FILTERED.search(_NO_FILTER.sub(" ", words)))


# --- Account, model, address ------------------------------------------------------------------------------------------
_ACCOUNT = _near(
    _group(r"\bcredits?\b", r"\bbalance\b", r"\bbilling\b", r"\bquota\b", r"\bfunds?\b", r"\bpayments?\b", "余额",
           "欠费",
           r"\bsubscription\b", r"\bplan\b", r"\bguthaben\b", r"\bsolde\b", r"\bsaldo\b", r"\bspend(?:ing)? limit\b"),
    _group(r"\binsufficient\b", r"\btoo low\b", r"\bexceeded\b", r"\bexhausted\b", r"\bdepleted\b", r"\brequired\b",
           r"\bnot enough\b", r"\bno (?:remaining|more|active)\b", r"\boverdue\b", r"\bpast due\b", r"\barrears?\b",
           r"\bused up\b", r"\brun out\b", r"\bran out\b", r"\bnegative\b", r"\bupgrade\b", r"\bout of\b",
           r"\btop up\b",
           r"\binactive\b", r"\bexpired\b", r"\breached\b", r"\bhard limit\b", "不足", "充值", r"\baufgebraucht\b",
           r"\binsuffisant", r"\binsuficiente", r"\bpurchase\b", r"\badd (?:a )?payment"),
)  # fmt: skip


_ACCOUNT_CODES = (
    "insufficient_quota", "insufficient_balance", "billing_not_active", "billing_hard_limit_reached", "billing_error",
    "payment_required", "arrearage", "insufficient_credits",
)  # fmt: skip


def is_account(refusal: Refusal) -> bool:
    if refusal.has_code(*_ACCOUNT_CODES):
        return True
    if refusal.has_code("unsupported_parameter", "context_length_exceeded"):
        return False
    names_pause = re.search(r"\bretry (?:in|after)|\btry again in|\bper (?:second|minute|min|hour|day)\b", refusal.text)
    return not names_pause and bool(_ACCOUNT.search(refusal.text))


_MODEL = _any(
    r"\bmodels?\b.{0,80}?(?:\bnot (?:be )?(?:found|exist|available|loaded|deployed|served|accessible|ready"
    r"|supported)\b|\bdoes ?n[o']t exist|\bunavailable\b|\bdeprecated\b|\bdecommissioned\b"
    r"|\bretired\b|\bdiscontinued\b|\bunknown\b|\bshut ?down\b|\bend of life\b)",
    r"\b(?:no|unknown|invalid|unrecognized|nonexistent) (?:such )?(?:models?|deployment|engine)\b",
    r"\bno models? loaded",
    r"\bno (?:endpoints|providers?|allowed providers|deployment) (?:found|available|are available)",
    r"\bload a model\b", r"\bdeployment\b.{0,60}?\bdoes not exist", r"\baccess to (?:the |this )?model\b",
    r"\bmodel[ _]not[ _]found\b", "模型不存在", r"\bnot a (?:valid|known|chat) model\b",
    r"\bnot have access\b.{0,40}?\bmodel\b", r"\bdoes not support chat\b",
    r"\bmodel\b.{0,60}?\b(?:is not|isn't) (?:a )?(?:valid|known|available)", r"\btry pulling\b",
)  # fmt: skip


def is_unknown_model(refusal: Refusal) -> bool:
    return refusal.has_code(*_MODEL_CODES) or bool(_MODEL.search(refusal.text))


_MODEL_CODES = (
    "model_not_found", "ModelNotFound", "DeploymentNotFound", "model_not_available", "model_decommissioned",
    "model_not_supported", "invalid_model",
)  # fmt: skip
