import anthropic

client = anthropic.Anthropic()
ASKED = [{"role": "user", "content": "one two"}]
WEATHER = {
    "name": "weather", "description": "Return the weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}  # fmt: skip
message = client.messages.create(model="echo", max_tokens=99, messages=ASKED)
assert (message.content[0].text, message.stop_reason) == ("one two ", "end_turn")
with client.messages.stream(model="thinker", max_tokens=99, messages=ASKED) as stream:
    assert "".join(stream.text_stream) == "one two "
    assert [block.type for block in stream.get_final_message().content] == ["thinking", "text"]
with client.messages.stream(model="caller", max_tokens=99, messages=ASKED, tools=[WEATHER]) as stream:
    called = stream.get_final_message()
assert [(block.name, block.input) for block in called.content] == [("weather", {"city": f"Town {n}"}) for n in range(2)]
results = [{"type": "tool_result", "tool_use_id": block.id, "content": "sunny"} for block in called.content]
messages = [*ASKED, {"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
again = client.messages.create(model="caller", max_tokens=99, messages=messages, tools=[WEATHER])
assert again.content[0].text == "sunny "
assert client.messages.count_tokens(model="echo", messages=ASKED).input_tokens > 0
assert "echo" in [model.id for model in client.models.list()]
refused = None
try:
    client.messages.create(model="nothing", max_tokens=99, messages=ASKED)
except anthropic.NotFoundError as refusal:
    refused = refusal.body["error"]["type"]
assert refused == "not_found_error"
