from openai import OpenAI
from pydantic import BaseModel


class City(BaseModel):
    name: str


WEATHER = {
    "name": "weather", "description": "Return the weather.", "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}  # fmt: skip
client = OpenAI()
ASKED = [{"role": "user", "content": "one two"}]
assert client.chat.completions.create(model="echo", messages=ASKED).choices[0].message.content == "one two "
with client.chat.completions.stream(model="echo", messages=ASKED) as stream:
    assert stream.get_final_completion().choices[0].message.content == "one two "
parsed = client.chat.completions.parse(
    model="echo", messages=[{"role": "user", "content": '{"name":"Oslo"}'}], response_format=City
)
assert parsed.choices[0].message.parsed == City(name="Oslo")
tool = {"type": "function", "function": WEATHER}
with client.chat.completions.stream(model="caller", messages=ASKED, tools=[tool]) as stream:
    calls = stream.get_final_completion().choices[0].message.tool_calls
assert [call.function.arguments for call in calls] == ['{"city": "Town 0"}', '{"city": "Town 1"}']
assert client.responses.create(model="echo", input="one two").output_text == "one two "
with client.responses.stream(model="thinker", input="one two") as stream:
    assert stream.get_final_response().output_text == "one two "
assert client.responses.parse(model="echo", input='{"name":"Oslo"}', text_format=City).output_parsed == City(
    name="Oslo"
)
called = client.responses.create(model="caller", input="one", tools=[{"type": "function", **WEATHER}])
results = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"} for call in called.output]
again = client.responses.create(
    model="caller", input=[*ASKED, *called.output, *results], tools=[{"type": "function", **WEATHER}]
)
assert again.output_text == "sunny "
assert "echo" in [model.id for model in client.models.list()]
