import assert from "node:assert";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const baseURL = `${process.env.ARENA_URL}/v1`;
const apiKey = process.env.ARENA_TOKEN;
const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
const weather = tool({ description: "Weather", inputSchema, execute: async ({ city }) => `sunny in ${city}` });
for (const provider of [createOpenAICompatible({ name: "arena", baseURL, apiKey }), createAnthropic({ baseURL, apiKey })]) {
  const { text } = await generateText({ model: provider("echo"), prompt: "one two" });
  assert.equal(text.trim(), "one two");
  let streamed = "";
  for await (const part of streamText({ model: provider("thinker"), prompt: "one two" }).textStream) streamed += part;
  assert.equal(streamed.trim(), "one two");
  const called = await generateText({
    model: provider("caller"), prompt: "one", tools: { weather }, stopWhen: stepCountIs(3),
  });
  assert.equal(called.text.trim(), "sunny in Town 1");
}
