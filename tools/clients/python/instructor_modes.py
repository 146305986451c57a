import instructor
import openai
from pydantic import BaseModel


class Weather(BaseModel):
    city: str


ASKED = [{"role": "user", "content": "one two"}]
for mode in (instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA):
    client = instructor.from_openai(openai.OpenAI(), mode=mode)
    messages = [{"role": "user", "content": '{"city":"Oslo"}'}]
    assert client.create(model="echo", messages=messages, response_model=Weather, max_retries=0).city == "Oslo", mode
