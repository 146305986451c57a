import os

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

os.environ["ANTHROPIC_API_KEY"] = os.environ["ARENA_TOKEN"]
for kind in (OpenAIChatModel, OpenAIResponsesModel, AnthropicModel):
    assert Agent(kind("echo")).run_sync("one two").output.strip() == "one two", kind
    agent = Agent(kind("caller"))

    @agent.tool_plain
    def weather(city: str) -> str:
        """Return the weather."""
        return f"sunny in {city}"

    assert agent.run_sync("one").output.strip() == "sunny in Town 1", kind
