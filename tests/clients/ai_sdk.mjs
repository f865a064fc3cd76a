// Asks the AI SDK one case through one of its providers, and prints what it gives as a line of JSON.
import { readFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const asks = JSON.parse(readFileSync(0, "utf8"));
const [endpoint, name] = process.argv.slice(2);
const compatible = { name: "syntagma", baseURL: asks.URL, apiKey: asks.KEY, supportsStructuredOutputs: true };
const providers = {
  "/v1/chat/completions": createOpenAICompatible(compatible),
  // What its provider for OpenAI speaks unless it is told otherwise.
  "/v1/responses": createOpenAI({ baseURL: asks.URL, apiKey: asks.KEY }),
  "/v1/messages": createAnthropic({ baseURL: asks.URL, apiKey: asks.KEY }),
};
const model = (named = asks.MODEL) => providers[endpoint](named);
const common = { model: model(), temperature: 0, maxOutputTokens: 100, maxRetries: 0 };
const schema = z.object({ minutes: z.number().int() });
const tools = { set_timer: tool({ description: "Set a timer", inputSchema: schema }) };
const callOf = (calls) => ({ name: calls[0].toolName, arguments: calls[0].input });
const called = async (toolChoice) =>
  callOf((await generateText({ ...common, prompt: asks.QUESTION, tools, toolChoice })).toolCalls);

const failure = async (fields) => {
  try {
    await generateText({ ...common, prompt: asks.QUESTION, ...fields });
  } catch (error) {
    return { known: APICallError.isInstance(error), status: error.statusCode, message: error.message };
  }
  return null;
};

const cases = {
  chat: async () => (await generateText({ ...common, prompt: asks.GREETING })).text,
  stream: async () => {
    const pieces = [];
    for await (const piece of streamText({ ...common, prompt: asks.GREETING }).textStream) pieces.push(piece);
    return pieces;
  },
  auto: () => called("auto"),
  required: () => called("required"),
  named: () => called({ type: "tool", toolName: "set_timer" }),
  streamed_call: async () => callOf(await streamText({ ...common, prompt: asks.QUESTION, tools }).toolCalls),
  // With a function, the SDK calls it and feeds its result back.
  result: async () => {
    const given = [];
    const execute = async (input) => {
      given.push(input);
      return asks.RESULT;
    };
    const set_timer = tool({ description: "Set a timer", inputSchema: schema, execute });
    const asked = { ...common, prompt: asks.QUESTION, tools: { set_timer }, stopWhen: stepCountIs(3) };
    return { text: (await generateText(asked)).text, given };
  },
  structured: async () => {
    const output = Output.object({ schema: z.object({ name: z.string(), hour: z.number().int() }) });
    return (await generateText({ ...common, prompt: asks.REMINDER, output })).output;
  },
  errors: async () => [await failure({ prompt: asks.TOO_LONG }), await failure({ model: model("nobody") })],
};

console.log(JSON.stringify(await cases[name]()));
