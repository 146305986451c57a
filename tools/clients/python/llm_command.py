import os
import subprocess
from pathlib import Path

folder = Path(os.environ["HOME"], "llm")
folder.mkdir()
Path(folder, "extra-openai-models.yaml").write_text(
    f"- model_id: arena\n  model_name: echo\n  api_base: {os.environ['OPENAI_BASE_URL']}\n  api_key_name: arena\n"
)
own = {**os.environ, "LLM_USER_PATH": str(folder)}
subprocess.run(["llm", "keys", "set", "arena", "--value", os.environ["ARENA_TOKEN"]], env=own, check=True)
done = subprocess.run(["llm", "-m", "arena", "one two"], env=own, check=True, capture_output=True, text=True)
assert done.stdout.strip() == "one two", done
