import { deepEqual, equal } from 'node:assert/strict';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { json } from '../../../support/gateway.ts';
import { beginStream, streamed } from '../../../support/models.ts';
import { useChatTestbed } from './setup.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tool = { type: 'function', function: { name: 'weather', description: 'The weather.', parameters: schema } };
const called = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } };
const args = { city: 'Ulm' };
const request = {
  tools: [tool],
  tool_choice: 'required',
  messages: [
    { role: 'user', content: 'Ulm?' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
  ],
};

interface Case {
  /** Tool fields in the vendor's payload. */
  readonly sent: object;
  readonly answer: object;
  readonly messages: readonly { event?: string; data: unknown }[];
}

const cases: Readonly<Record<string, Case>> = {
  openai: {
    sent: {
      input: [
        { role: 'user', content: 'Ulm?' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Ulm"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
      ],
      tools: [{ type: 'function', name: 'weather', description: 'The weather.', parameters: schema, strict: false }],
      tool_choice: 'required',
    },
    answer: {
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"city":"Ulm"}' }],
    },
    messages: [
      {
        data: {
          type: 'response.output_item.added',
          output_index: 1,
          item: { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '' },
        },
      },
      { data: { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"city":' } },
      { data: { type: 'response.function_call_arguments.delta', output_index: 1, delta: '"Ulm"}' } },
      { data: { type: 'response.completed', response: { status: 'completed' } } },
    ],
  },
  mistral: {
    sent: {
      messages: [
        { role: 'user', content: 'Ulm?' },
        { role: 'assistant', content: '', tool_calls: [called] },
        { role: 'tool', tool_call_id: 'c1', name: 'weather', content: 'sunny' },
      ],
      tools: [{ type: 'function', function: { ...tool.function, strict: false } }],
      tool_choice: 'any',
    },
    answer: {
      choices: [{ message: { content: '', tool_calls: [{ ...called, id: 'c2' }] }, finish_reason: 'tool_calls' }],
    },
    messages: [
      { data: { choices: [{ index: 0, delta: { tool_calls: [{ ...called, id: 'c2', index: 0 }] } }] } },
      { data: { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] } },
    ],
  },
  anthropic: {
    sent: {
      messages: [
        { role: 'user', content: 'Ulm?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: args }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'sunny' }] },
      ],
      tools: [{ name: 'weather', description: 'The weather.', input_schema: schema }],
      tool_choice: { type: 'any' },
    },
    answer: { content: [{ type: 'tool_use', id: 'c2', name: 'weather', input: args }], stop_reason: 'tool_use' },
    messages: [
      {
        data: {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 'c2', name: 'weather', input: {} },
        },
      },
      {
        data: {
          type: 'content_block_delta',
          index: 1,
          delta: { type: 'input_json_delta', partial_json: '{"city":"Ulm"}' },
        },
      },
      { data: { type: 'message_delta', delta: { stop_reason: 'tool_use' } } },
    ],
  },
  gemini: {
    sent: {
      contents: [
        { role: 'user', parts: [{ text: 'Ulm?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'weather', args } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'sunny' } } }] },
      ],
      tools: [
        {
          functionDeclarations: [{ name: 'weather', description: 'The weather.', parametersJsonSchema: schema }],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    },
    answer: {
      candidates: [{ content: { parts: [{ functionCall: { name: 'weather', args } }] }, finishReason: 'STOP' }],
    },
    messages: [
      {
        data: {
          candidates: [{ content: { parts: [{ functionCall: { name: 'weather', args } }] }, finishReason: 'STOP' }],
        },
      },
    ],
  },
  bedrock: {
    sent: {
      messages: [
        { role: 'user', content: [{ text: 'Ulm?' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'weather', input: args } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'sunny' }] } }] },
      ],
      toolConfig: {
        tools: [{ toolSpec: { name: 'weather', description: 'The weather.', inputSchema: { json: schema } } }],
        toolChoice: { any: {} },
      },
    },
    answer: {
      output: { message: { content: [{ toolUse: { toolUseId: 'c2', name: 'weather', input: args } }] } },
      stopReason: 'tool_use',
    },
    messages: [
      {
        event: 'contentBlockStart',
        data: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'c2', name: 'weather' } } },
      },
      {
        event: 'contentBlockDelta',
        data: { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":"Ulm"}' } } },
      },
      { event: 'messageStop', data: { stopReason: 'tool_use' } },
    ],
  },
};

describe('ai/chat-completions with tools', () => {
  const suite = useChatTestbed();

  for (const [vendor, { sent, answer, messages }] of Object.entries(cases)) {
    const body = { model: vendor, ...request } as OpenAI.ChatCompletionCreateParamsNonStreaming;

    it(`converts tools, calls and results to the format of ${vendor}, and returns its tool calls`, async () => {
      suite.respond = json(answer);
      const { choices } = await suite.client.chat.completions.create(body);
      const payload = suite.testbed.received();
      deepEqual(Object.fromEntries(Object.keys(sent).map((key) => [key, payload[key]])), sent);
      const [call] = choices[0]!.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
      deepEqual([call!.function, choices[0]!.finish_reason], [called.function, 'tool_calls']);
      equal(call!.id, vendor === 'gemini' ? call!.id : 'c2');
      equal(choices[0]!.message.content, null);
    });

    it(`streams the tool calls of ${vendor}`, async () => {
      suite.respond = (_seen, response) =>
        beginStream(vendor, response).end(Buffer.concat(messages.map((message) => streamed(vendor, message))));
      const stream = suite.client.chat.completions.stream({ ...body, stream: true });
      const { choices } = await stream.finalChatCompletion();
      const [call] = choices[0]!.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
      deepEqual(
        [call!.function.name, call!.function.arguments, choices[0]!.finish_reason],
        ['weather', '{"city":"Ulm"}', 'tool_calls'],
      );
    });
  }

  it('rejects invalid tools and tool calls', async () => {
    for (const [field, wrong] of [
      ['tools', { tools: {} }],
      ['tools[0]', { tools: [{ type: 'web_search' }] }],
      ['tool_choice', { tools: [tool], tool_choice: 'maybe' }],
      ['messages[0].tool_call_id', { messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }],
      ['messages[0].tool_calls[0]', { messages: [{ role: 'assistant', tool_calls: [{ id: 'x' }] }] }],
    ] as const) {
      const body = { model: 'openai', messages: [{ role: 'user', content: 'hi' }], ...wrong };
      const error = await suite.client.chat.completions
        .create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming)
        .catch((failure: APIError) => failure);
      deepEqual([error instanceof APIError && error.status, (error as APIError).param], [400, field]);
    }
  });
});
