import os

from smolagents import OpenAIServerModel

model = OpenAIServerModel(model_id="echo", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["ARENA_TOKEN"])
answer = model.generate([{"role": "user", "content": [{"type": "text", "text": "one two"}]}])
assert answer.content.strip() == "one two"
stream = model.generate_stream([{"role": "user", "content": [{"type": "text", "text": "one two"}]}])
assert "".join(part.content or "" for part in stream).strip() == "one two"
