import type { DataObject } from '#contract';
import type { Turn } from '../../lib/prompt.ts';
import type { ToolCall } from '../../lib/tools.ts';
import { modelVariables, objectAt, objectsAt, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Delta, Progress, Usage, Vendor } from '../vendor.ts';

/** OpenAI's Responses API. */
export const openaiV1: Vendor = {
  name: 'openai',
  version: 'v1',
  needsVariables: true,
  defaultModel: 'gpt-5.4-mini',
  address: () => 'https://api.openai.com/v1/responses',
  variables: modelVariables({
    max_output_tokens: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum number of tokens in a response. 0 disables the limit. Default: unlimited.',
    },
    temperature: variableFields.temperature,
    top_p: variableFields.topP,
    truncation: {
      type: 'string',
      enum: ['auto', 'disabled'],
      description:
        'Handling of input longer than the context window: `auto` drops the middle, `disabled` fails. Default: disabled.',
    },
  }),
  // The Responses API does not support stop sequences, so the gateway cuts off the text.
  parameters: { max_tokens: 'max_output_tokens', temperature: 'temperature', top_p: 'top_p' },
  headers: (credentials) => [['Authorization', `Bearer ${credentials}`]],
  payload: ({ text, turns, instructions, tools, choice }, variables) => ({
    model: variables['model'],
    input: text ?? turns.flatMap(itemsOf),
    tools: tools?.map((tool) => ({ type: 'function', ...tool })),
    tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.name } : choice,
    instructions,
    max_output_tokens: variables['max_output_tokens'] || undefined,
    temperature: variables['temperature'],
    top_p: variables['top_p'],
    truncation: variables['truncation'],
  }),
  read(answer) {
    const messages = objectsAt(answer, 'output').filter(({ type }) => type === 'message');
    const stop = textAt(answer, 'incomplete_details', 'reason') ?? textAt(answer, 'status');
    const candidates = messages.map((message) => ({
      stop,
      texts: textsIn(
        objectsAt(message, 'content').filter(({ type }) => type === 'output_text'),
        'text',
      ),
    }));
    const [first = { texts: [], stop }, ...others] = candidates;
    const calls = objectsAt(answer, 'output').filter(isCall).map(callOf);
    return { candidates: [{ ...first, calls }, ...others], usage: usageOf(answer) };
  },
  errorCode: (body) => textAt(body, 'error', 'code') ?? textAt(body, 'error', 'type'),
  stream: { encoding: 'sse', asks: 'payload', open: () => readEvent },
};

function itemsOf({ role, texts, calls, results }: Turn): object[] {
  const content = texts.length === 1 ? texts[0] : texts.map(typed(role));
  return [
    ...results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
    ...(texts.length > 0 ? [{ role, content }] : []),
    ...calls.map(({ id, name, arguments: text }) => ({ type: 'function_call', call_id: id, name, arguments: text })),
  ];
}

function isCall({ type }: DataObject): boolean {
  return type === 'function_call';
}

function callOf(item: DataObject): ToolCall {
  return {
    id: textAt(item, 'call_id') ?? '',
    name: textAt(item, 'name') ?? '',
    arguments: textAt(item, 'arguments') ?? '',
  };
}

function typed(role: 'user' | 'assistant') {
  return (text: string) => ({ type: role === 'user' ? 'input_text' : 'output_text', text });
}

function readEvent(event: DataObject): Progress {
  const { type } = event;
  if (type === 'response.output_text.delta') return { deltas: [{ index: 0, text: textAt(event, 'delta') ?? '' }] };
  const key = tokensAt(event, 'output_index');
  if (type === 'response.output_item.added') {
    const item = objectAt(event, 'item');
    return { deltas: isCall(item) ? [{ index: 0, text: '', call: { ...callOf(item), key, arguments: '' } }] : [] };
  }
  if (type === 'response.function_call_arguments.delta') {
    return { deltas: [{ index: 0, text: '', call: { key, arguments: textAt(event, 'delta') ?? '' } }] };
  }
  if (type === 'error') return { deltas: [], failure: textAt(event, 'code') ?? 'error' };
  const response = objectAt(event, 'response');
  if (type === 'response.failed') {
    return { deltas: [], usage: usageOf(response), failure: textAt(response, 'error', 'code') ?? 'failed' };
  }
  if (type !== 'response.completed' && type !== 'response.incomplete') return { deltas: [] };
  const last: Delta = { index: 0, text: '', stop: textAt(response, 'incomplete_details', 'reason') ?? 'stop' };
  return { deltas: [last], usage: usageOf(response) };
}

function usageOf(response: DataObject): Usage {
  const usage = objectAt(response, 'usage');
  return {
    prompt: tokensAt(usage, 'input_tokens'),
    completion: tokensAt(usage, 'output_tokens'),
    total: tokensAt(usage, 'total_tokens'),
  };
}
