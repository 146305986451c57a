from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

for kind in (OpenAIChatModel, OpenAIResponsesModel):
    assert Agent(kind("echo")).run_sync("one two").output.strip() == "one two", kind
    agent = Agent(kind("caller"))

    @agent.tool_plain
    def weather(city: str) -> str:
        """Return the weather."""
        return f"sunny in {city}"

    assert agent.run_sync("one").output.strip() == "sunny in Town 1", kind
