import os

from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalChatCompletion

model = LocalChatCompletion(
    base_url=f"{os.environ['OPENAI_BASE_URL']}/chat/completions", model="echo", num_concurrent=1, max_retries=1,
    tokenizer_backend=None,
)  # fmt: skip
chat = model.apply_chat_template([{"role": "user", "content": "one two"}])
request = Instance("generate_until", {}, (chat, {"until": ["\n"]}), 0)
[answer] = model.generate_until([request])
assert "one two" in answer, answer
