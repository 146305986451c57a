from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool


@tool
def weather():
    async def execute(city: str) -> str:
        """Return the weather.

        Args:
            city: Name of the city.
        """
        return "sunny"

    return execute


for provider in ("openai-api/arena", "anthropic"):
    for model, solver, target in (
        ("echo", [generate()], "one two"),
        ("thinker", [generate()], "one two"),
        ("caller", [use_tools(weather()), generate()], "sunny"),
    ):
        task = Task(dataset=[Sample(input="one two", target=target)], solver=solver, scorer=includes())
        [log] = eval(task, model=get_model(f"{provider}/{model}"), display="none")
        assert log.status == "success", log.error
        assert log.results.scores[0].metrics["accuracy"].value == 1, log.samples[0].output.completion
