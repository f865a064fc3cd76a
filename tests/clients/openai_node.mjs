// Asks openai-node one case at one endpoint, and prints what it gives as a line of JSON.
import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const asks = JSON.parse(readFileSync(0, "utf8"));
const [endpoint, name] = process.argv.slice(2);
const client = new OpenAI({ baseURL: asks.URL, apiKey: asks.KEY, maxRetries: 0 });
const user = (content) => [{ role: "user", content }];
const common = { model: asks.MODEL, temperature: 0 };
const Reminder = z.object({ name: z.string(), hour: z.number().int() });

const chatTool = { type: "function", function: asks.TIMER };
const chat = (content, fields = {}) =>
  client.chat.completions.create({ ...common, messages: user(content), ...fields });
const chatCall = async (tool_choice) => {
  const { message } = (await chat(asks.QUESTION, { tools: [chatTool], tool_choice })).choices[0];
  return message.tool_calls[0].function;
};

const tool = { type: "function", ...asks.TIMER, strict: true };
const respond = (input, fields = {}) => client.responses.create({ ...common, input, ...fields });
const callOf = (response) => response.output.find((item) => item.type === "function_call");
const respondCall = async (tool_choice) => callOf(await respond(asks.QUESTION, { tools: [tool], tool_choice }));

const failure = async (asking) => {
  try {
    await asking;
  } catch (error) {
    return { kind: error.constructor.name, status: error.status, code: error.code, param: error.param };
  }
  return null;
};

const cases = {
  "/v1/chat/completions": {
    chat: async () => (await chat(asks.GREETING)).choices[0].message.content,
    stream: async () => {
      const pieces = [];
      for await (const chunk of await chat(asks.GREETING, { stream: true })) {
        if (chunk.choices[0].delta.content) pieces.push(chunk.choices[0].delta.content);
      }
      return pieces;
    },
    auto: () => chatCall("auto"),
    required: () => chatCall("required"),
    named: () => chatCall({ type: "function", function: { name: "set_timer" } }),
    streamed_call: async () => {
      const stream = client.chat.completions.stream({ ...common, messages: user(asks.QUESTION), tools: [chatTool] });
      return (await stream.finalChatCompletion()).choices[0].message.tool_calls[0].function;
    },
    // The runner calls the function and feeds its result back until the model has an answer.
    result: async () => {
      const given = [];
      const run = (parsed) => {
        given.push(parsed);
        return asks.RESULT;
      };
      const runner = client.chat.completions.runTools({
        ...common,
        messages: user(asks.QUESTION),
        tools: [{ type: "function", function: { ...asks.TIMER, parse: JSON.parse, function: run } }],
      });
      return { text: await runner.finalContent(), given };
    },
    structured: async () => {
      const response_format = zodResponseFormat(Reminder, "reminder");
      const answer = await client.chat.completions.parse({ ...common, messages: user(asks.REMINDER), response_format });
      return answer.choices[0].message.parsed;
    },
    errors: async () => [
      await failure(chat(asks.TOO_LONG)),
      await failure(chat(asks.TOO_LONG, { stream: true })),
      await failure(chat(asks.QUESTION, { model: "nobody" })),
    ],
  },
  "/v1/responses": {
    chat: async () => (await respond(asks.GREETING)).output_text,
    stream: async () => {
      const pieces = [];
      for await (const event of await respond(asks.GREETING, { stream: true })) {
        if (event.type === "response.output_text.delta") pieces.push(event.delta);
      }
      return pieces;
    },
    auto: () => respondCall("auto"),
    required: () => respondCall("required"),
    named: () => respondCall({ type: "function", name: "set_timer" }),
    streamed_call: async () => {
      const stream = client.responses.stream({ ...common, input: asks.QUESTION, tools: [tool] });
      return callOf(await stream.finalResponse());
    },
    result: async () => {
      const first = await respond(asks.QUESTION, { tools: [tool] });
      const call = callOf(first);
      const output = { type: "function_call_output", call_id: call.call_id, output: asks.RESULT };
      const second = await respond([output], { tools: [tool], previous_response_id: first.id });
      return { text: second.output_text, given: [JSON.parse(call.arguments)] };
    },
    structured: async () => {
      const text = { format: zodTextFormat(Reminder, "reminder") };
      return (await client.responses.parse({ ...common, input: asks.REMINDER, text })).output_parsed;
    },
    errors: async () => [
      await failure(respond(asks.TOO_LONG)),
      await failure(respond(asks.TOO_LONG, { stream: true })),
      await failure(respond(asks.QUESTION, { model: "nobody" })),
    ],
  },
};

console.log(JSON.stringify(await cases[endpoint][name]()));
