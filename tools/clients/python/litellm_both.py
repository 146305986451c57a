import os

import litellm

ASKED = [{"role": "user", "content": "one two"}]
OPENAI = {"model": "openai/echo", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["ARENA_TOKEN"]}
ANTHROPIC = {"model": "anthropic/echo", "api_base": os.environ["ARENA_URL"], "api_key": os.environ["ARENA_TOKEN"]}
for target in (OPENAI, ANTHROPIC):
    assert litellm.completion(messages=ASKED, **target).choices[0].message.content.strip() == "one two"
    chunks = litellm.completion(messages=ASKED, stream=True, **target)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks).strip() == "one two"
assert litellm.responses(input="one two", **OPENAI).output[0].content[0].text == "one two "
