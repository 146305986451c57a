import os

import dspy

model = dspy.LM("openai/echo", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["ARENA_TOKEN"], cache=False)
[answer] = model("one two")
assert "one two" in str(answer)
