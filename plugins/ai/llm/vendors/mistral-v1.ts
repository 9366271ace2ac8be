import type { Data, DataObject } from '#contract';
import type { Turn } from '../../lib/prompt.ts';
import type { ToolCall } from '../../lib/tools.ts';
import {
  modelVariables,
  noCandidate,
  objectAt,
  objectsAt,
  textAt,
  textsIn,
  tokensAt,
  variableFields,
} from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Mistral's Chat Completions API. */
export const mistralV1: Vendor = {
  name: 'mistral',
  version: 'v1',
  needsVariables: true,
  defaultModel: 'mistral-small-latest',
  address: () => 'https://api.mistral.ai/v1/chat/completions',
  variables: modelVariables({
    max_tokens: variableFields.maxTokens,
    temperature: variableFields.temperature,
    top_p: variableFields.topP,
    stop: {
      anyOf: [{ type: 'string', minLength: 1 }, variableFields.stops],
      description: 'Stop sequence or list of stop sequences: texts that end the response.',
    },
    n: { type: 'integer', minimum: 1, description: 'Number of candidates per prompt. Default: 1.' },
    random_seed: {
      type: 'integer',
      description: 'Sampling seed: the same seed gives the same response. Default: random.',
    },
    safe_prompt: {
      type: 'boolean',
      description: "Prepends the vendor's safety prompt to the conversation. Default: false.",
    },
  }),
  parameters: {
    max_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    stop: 'stop',
    n: 'n',
    seed: 'random_seed',
  },
  headers: (credentials) => [['Authorization', `Bearer ${credentials}`]],
  payload: ({ turns, instructions, tools, choice }, variables) => ({
    model: variables['model'],
    messages: [
      ...(instructions === undefined ? [] : [{ role: 'system', content: instructions }]),
      ...turns.flatMap(messagesOf),
    ],
    tools: tools?.map((tool) => ({ type: 'function', function: tool })),
    tool_choice:
      typeof choice === 'object' ? { type: 'function', function: choice } : choice === 'required' ? 'any' : choice,
    max_tokens: variables['max_tokens'],
    n: variables['n'],
    random_seed: variables['random_seed'],
    safe_prompt: variables['safe_prompt'],
    stop: variables['stop'],
    temperature: variables['temperature'],
    top_p: variables['top_p'],
  }),
  read(answer) {
    const candidates = objectsAt(answer, 'choices').map((choice) => ({
      texts: textsOf(objectAt(choice, 'message')),
      calls: objectsAt(choice, 'message', 'tool_calls').map(callOf),
      stop: textAt(choice, 'finish_reason'),
    }));
    return { candidates: candidates.length > 0 ? candidates : [noCandidate], usage: usageOf(answer) };
  },
  errorCode: (body) => body['code'] ?? textAt(body, 'type') ?? textAt(body, 'error', 'type'),
  stream: { encoding: 'sse', asks: 'payload', format: 'openai', open: () => readChunk },
};

function messagesOf({ role, texts, calls, results }: Turn): object[] {
  const content = texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text }));
  const toolCalls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return [
    ...results.map(({ id, name, text }) => ({ role: 'tool', tool_call_id: id, name, content: text })),
    ...(texts.length + calls.length > 0
      ? [{ role, content: texts.length > 0 ? content : '', ...(calls.length > 0 && { tool_calls: toolCalls }) }]
      : []),
  ];
}

function callOf(call: DataObject): ToolCall {
  return {
    id: textAt(call, 'id') ?? '',
    name: textAt(call, 'function', 'name') ?? '',
    arguments: textAt(call, 'function', 'arguments') ?? JSON.stringify(objectAt(call, 'function', 'arguments')),
  };
}

/** Reads the content: either a text, or a list of texts and other parts. */
function textsOf(message: DataObject): readonly string[] {
  const content: Data | undefined = message['content'];
  if (typeof content === 'string') return content === '' ? [] : [content];
  return textsIn(
    objectsAt(message, 'content').filter(({ type }) => type === 'text'),
    'text',
  );
}

function readChunk(chunk: DataObject): Progress {
  const calls = objectsAt(chunk, 'choices').flatMap((choice) =>
    objectsAt(choice, 'delta', 'tool_calls').map((call, at) => ({
      index: tokensAt(choice, 'index'),
      text: '',
      call: { key: typeof call['index'] === 'number' ? call['index'] : at, ...callOf(call) },
    })),
  );
  const texts = objectsAt(chunk, 'choices').map((choice) => ({
    index: tokensAt(choice, 'index'),
    text: textsOf(objectAt(choice, 'delta')).join(''),
    stop: textAt(choice, 'finish_reason'),
  }));
  const deltas = [...calls, ...texts];
  if (!Object.hasOwn(chunk, 'usage')) return { deltas };
  return { deltas, usage: usageOf(chunk) };
}

function usageOf(answer: DataObject): Usage {
  const usage = objectAt(answer, 'usage');
  return {
    prompt: tokensAt(usage, 'prompt_tokens'),
    completion: tokensAt(usage, 'completion_tokens'),
    total: tokensAt(usage, 'total_tokens'),
  };
}
