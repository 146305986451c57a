import os

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

os.environ |= {"ARENA_BASE_URL": os.environ["OPENAI_BASE_URL"], "ARENA_API_KEY": os.environ["ARENA_TOKEN"]}
for model in ("openai-api/arena/echo",):
    task = Task(dataset=[Sample(input="one two", target="two")], solver=generate(), scorer=includes())
    [log] = eval(task, model=model, display="none", log_dir="logs")
    assert log.status == "success", log.error or log
    assert log.results.scores[0].metrics["accuracy"].value == 1
