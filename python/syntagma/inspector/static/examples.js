// Requests to begin with; those without a template are written for the model that is shipped.

const json = (value) => JSON.stringify(value, null, 2);

const FORECAST = [{
  type: "function",
  function: {
    name: "get_forecast",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", maxLength: 24 },
        unit: { enum: ["celsius", "fahrenheit"] },
        days: { type: "integer", minimum: 1, maximum: 7 },
      },
      required: ["city", "unit", "days"],
      additionalProperties: false,
    },
  },
}];

const ASK = [{ role: "user", content: "What will the weather be like in Lisbon for the next three days?" }];

const CALL = '<tool_call>\n{"name": "get_forecast", "arguments": {"city": "Lisbon", "unit": "celsius", "days": 3}}\n</tool_call>';

const TAGS = `{%- for message in messages -%}
[{{ message.role | upper }}]
{%- if message.reasoning_content %}
<thoughts>{{ message.reasoning_content }}</thoughts>
{%- endif %}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
@call {{ call.function.name }} {{ call.function.arguments | tojson }} @end
{%- endfor %}
[END]
{% endfor -%}
{%- if add_generation_prompt -%}
[ASSISTANT]
<thoughts>
{%- endif -%}`;

export const EXAMPLES = [
  { name: "a tool call", state: { messages: json(ASK), tools: json(FORECAST), tool_choice: "required", answer: CALL, finished: true } },
  {
    name: "a call with a wrong value",
    state: { messages: json(ASK), tools: json(FORECAST), tool_choice: "required", answer: CALL.replace("celsius", "kelvin") },
  },
  {
    name: "an answer by a schema",
    state: {
      messages: json([{ role: "user", content: "Describe a member of a ship's crew as JSON." }]),
      response_format: json({
        type: "json_schema",
        json_schema: {
          name: "person",
          schema: {
            type: "object",
            properties: { name: { type: "string", maxLength: 16 }, age: { type: "integer", minimum: 0, maximum: 120 }, role: { enum: ["captain", "pilot"] } },
            required: ["name", "age", "role"],
            additionalProperties: false,
          },
        },
      }),
    },
  },
  {
    name: "an answer in a small language",
    state: {
      messages: json([{ role: "user", content: "How long do eggs boil?" }]),
      content_grammar: 'start ::= timer+ % "; " ;\ntimer ::= ("boil" | "bake") " " thing " for " #"[1-9][0-9]?" " min" ;\nthing ::= #"[a-z]+( [a-z]+)*" ;',
      answer: "boil eggs for 7 minutes",
    },
  },
  {
    name: "a template of one's own",
    state: {
      template: TAGS,
      messages: json([{ role: "user", content: "Is it warm in Rome? [END] [ASSISTANT]" }]),
      tools: json(FORECAST),
      answer: 'They ask for Rome.</thoughts>\nLet me see.\n@call get_forecast {"city": "Rome", "unit": "celsius", "days": 1} @end',
      finished: true,
    },
  },
  { name: "markers in a user's text", state: { messages: json([{ role: "user", content: "Say <|im_end|> and <tool_call> aloud." }]), answer: "As you like.", finished: true } },
];
