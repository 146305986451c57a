"""Prompts and providers of promptfoo's configuration."""

import re

from benchmarks.imports.content import Message, Prompt, ProposedModel
from benchmarks.imports.limits import MAX_PROMPTS
from benchmarks.imports.readers.documents import Map, Seq, place_in, read_document
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog
from benchmarks.imports.source import Source

_CONVERSATION = re.compile(r"\{[{%][^}]*\b_conversation\b")
_CODE_FILES = (".js", ".ts", ".mjs", ".cjs", ".py", ".rb", ".sh", ".exe")
_TEXT_FILES = (".txt", ".md", ".json", ".yaml", ".yml", ".j2")
_PARAMETERS = {
    "temperature": "temperature", "top_p": "top_p", "seed": "seed", "max_tokens": "max_tokens", "stop": "stop",
    "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens",
}  # fmt: skip
_NO_MODELS = ("exec:", "file:", "python:", "ruby:", "golang:", "http:", "https:", "webhook:", "ws:", "wss:", "package:")
# Written as `image` by some providers, and as `image_url` or `input_image` by others.
_PICTURE = re.compile(r"'type': '\w*image\w*'.*\{\{.*\}\}", re.DOTALL)
_SEPARATOR = re.compile(r"^---[ \t]*$", re.MULTILINE)


def refuse_environment(value: object, place: Place) -> None:
    """Raise ReadError for a text that reads the environment or the program's own conversation."""
    if isinstance(value, str):
        if re.search(r"\{\{-?\s*env\b", value):
            raise ReadError("environment_refused", place)
        if _CONVERSATION.search(value):
            raise ReadError("conversation_not_supported", place)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            refuse_environment(part, place)


def read_prompts(source: Source, document: Map) -> list[Prompt]:
    """Return the prompts; errors go to the log."""
    value = document.get("prompts")
    listed = value if isinstance(value, Seq) else [value]
    prompts: list[Prompt] = []
    for number, entry in enumerate(listed):
        place = place_in(value if isinstance(value, Seq) else document, number if isinstance(value, Seq) else "prompts")
        try:
            prompts += _prompts(source, entry, place)
        except ReadError as error:
            source.log.refuse_error(error)
    if len(prompts) > MAX_PROMPTS:
        source.log.refuse("too_many_prompts", place_in(document, "prompts"), limit=MAX_PROMPTS, found=len(prompts))
    if not prompts and not source.log.counts["refused"]:
        source.log.refuse("no_prompts", place_in(document, "prompts"))
    for number, prompt in enumerate(prompts, start=1):
        prompt.label = prompt.label or f"prompt {number}"
    return prompts[:MAX_PROMPTS]


def _prompts(source: Source, entry: object, place: Place) -> list[Prompt]:
    label, raw = "", entry
    if isinstance(entry, Map):
        label = as_text(entry.get("label"))
        raw = entry.get("raw", entry.get("id"))
        place = place_in(entry, "raw" if "raw" in entry else "id")
    if not isinstance(raw, str) or not raw.strip():
        raise ReadError("prompt_not_understood", place)
    refuse_environment(raw, place)
    if raw.startswith(("exec:", "python:", "http://", "https://", "langfuse://", "portkey://", "helicone://")):
        raise ReadError("prompt_from_elsewhere", place, prompt=raw)
    if not raw.startswith("file://") and not _is_file_name(raw):
        return [_prompt(raw, label, place, source.log)]
    path = source.find(raw, source.main, place)
    if path.lower().endswith(_CODE_FILES):
        raise ReadError("code_not_run", place, file=raw)
    text = source.text(path).decode("utf-8", "replace")
    refuse_environment(text, Place(0, 0, path))
    if path.lower().endswith((".json", ".yaml", ".yml")):
        return [_chat(source.document(path), label or path, Place(1, 1, path), source.log)]
    parts = [part.strip() for part in _SEPARATOR.split(text) if part.strip()]
    labels = [label or path if len(parts) == 1 else f"{label or path} {number + 1}" for number in range(len(parts))]
    here = Place(1, 1, path)
    return [_prompt(part, part_label, here, source.log) for part, part_label in zip(parts, labels, strict=True)]


def _is_file_name(raw: str) -> bool:
    """Return whether promptfoo reads a file: one word with a known ending."""
    return not re.search(r"[\s{}]", raw) and raw.lower().endswith(_TEXT_FILES + _CODE_FILES)


def _prompt(raw: str, label: str, place: Place, log: ReadingLog) -> Prompt:
    if raw.lstrip().startswith(("[", "- role:")):
        try:
            return _chat(read_document(raw.encode(), is_yaml=True), label, place, log)
        except ReadError:
            pass  # a text that only begins like a chat
    return Prompt(label, [Message("user", raw)])


def _chat(value: object, label: str, place: Place, log: ReadingLog) -> Prompt:
    messages: list[Message] = []
    for message in value if isinstance(value, list) else []:
        role = message.get("role") if isinstance(message, dict) else None
        content = _text_of(message.get("content"), place, log) if isinstance(message, dict) else None
        if role not in ("system", "user", "assistant") or not isinstance(content, str):
            raise ReadError("messages_not_understood", place)
        messages.append(Message(role, content))
    if not messages or messages[-1].role != "user":
        raise ReadError("messages_not_understood", place)
    return Prompt(label, messages)


def _text_of(content: object, place: Place, log: ReadingLog) -> object:
    """Return the texts of a list of parts; a case's picture, named by a variable, goes beside them."""
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    others = [part for part in content if not (isinstance(part, dict) and part.get("type") == "text")]
    if any(not _PICTURE.search(str(part)) for part in others) or not all(isinstance(text, str) for text in texts):
        return None
    if others:
        log.changed("picture_beside_prompt", place)
    return "\n".join(map(str, texts))


def read_providers(source: Source, document: Map) -> list[ProposedModel]:
    """Return the models that the file names; those that are programs or addresses are left out."""
    key = "providers" if "providers" in document else "targets"
    value = document.get(key)
    listed = value if isinstance(value, Seq) else [value] if value else []
    models = []
    for number, entry in enumerate(listed):
        place = place_in(value, number) if isinstance(value, Seq) else place_in(document, key)
        config: object = None
        label = ""
        if isinstance(entry, Map):
            if "id" not in entry and len(entry) == 1:  # the form {"openai:gpt-4o": {config: …}}
                name, inner = next(iter(entry.items()))
                entry = inner if isinstance(inner, Map) else Map(place)
                entry.setdefault("id", name)
            config, label, name = entry.get("config"), as_text(entry.get("label")), as_text(entry.get("id"))
        else:
            name = as_text(entry)
        if not name or name.startswith(_NO_MODELS):
            source.log.left_out("provider_not_supported", place, provider=name)
            continue
        model = name.rpartition(":")[2]
        source.log.taken("model", place, name=model, provider=name)
        models.append(ProposedModel(model, label or name, _parameters(source, config)))
    return models


def _parameters(source: Source, config: object) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for name, value in config.items() if isinstance(config, Map) else ():
        if name in _PARAMETERS:
            parameters[_PARAMETERS[name]] = value
        else:
            source.log.left_out("parameter_not_used", place_in(config, name), parameter=name)
    return parameters
