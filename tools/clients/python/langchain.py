import os
import sys

sys.path.pop(0)  # This file has the name of the package.
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    """Return the weather."""
    return f"sunny in {city}"


for options in ({}, {"use_responses_api": True}):
    given = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["ARENA_TOKEN"], **options}
    echo = ChatOpenAI(model="echo", **given)
    assert echo.invoke("one two").text.strip() == "one two"
    assert "".join(chunk.text for chunk in echo.stream("one two")).strip() == "one two"
    calls = ChatOpenAI(model="caller", **given).bind_tools([weather]).invoke("one").tool_calls
    assert [call["args"] for call in calls] == [{"city": "Town 0"}, {"city": "Town 1"}]
