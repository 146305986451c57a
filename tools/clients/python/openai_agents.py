from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI


@function_tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"sunny in {city}"


models = ("caller", OpenAIChatCompletionsModel(model="caller", openai_client=AsyncOpenAI()))
for model in models:  # Responses, and chat completions
    agent = Agent(name="Forecaster", instructions="Be brief.", model=model, tools=[weather])
    assert Runner.run_sync(agent, "How is it?").final_output.strip() == "sunny in Town 1", model
