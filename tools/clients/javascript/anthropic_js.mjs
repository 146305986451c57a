import assert from "node:assert";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic();
const asked = { max_tokens: 99, messages: [{ role: "user", content: "one two" }] };
const message = await client.messages.create({ model: "echo", ...asked });
assert.equal(message.content[0].text, "one two ");
const streamed = await client.messages.stream({ model: "thinker", ...asked }).finalMessage();
assert.deepEqual(streamed.content.map(({ type }) => type), ["thinking", "text"]);
const input_schema = { type: "object", properties: { city: { type: "string" } } };
const called = await client.messages
  .stream({ model: "caller", ...asked, tools: [{ name: "weather", input_schema }] })
  .finalMessage();
assert.deepEqual(called.content.map(({ input }) => input.city), ["Town 0", "Town 1"]);
assert((await client.messages.countTokens({ model: "echo", messages: asked.messages })).input_tokens > 0);
