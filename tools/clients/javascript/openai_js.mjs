import assert from "node:assert";
import OpenAI from "openai";

const client = new OpenAI();
const messages = [{ role: "user", content: "one two" }];
const chat = await client.chat.completions.create({ model: "echo", messages });
assert.equal(chat.choices[0].message.content, "one two ");
const parameters = { type: "object", properties: { city: { type: "string" } } };
const weather = { name: "weather", parameters, parse: JSON.parse, function: ({ city }) => `sunny in ${city}` };
const run = client.chat.completions.runTools({ model: "caller", messages, tools: [{ type: "function", function: weather }] });
assert.equal(await run.finalContent(), "sunny in Town 1 ");
const response = await client.responses.create({ model: "echo", input: "one two" });
assert.equal(response.output_text, "one two ");
const stream = client.responses.stream({ model: "thinker", input: "one two" });
assert.equal((await stream.finalResponse()).output_text, "one two ");
