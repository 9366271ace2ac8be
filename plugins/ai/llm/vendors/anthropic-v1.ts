import type { DataObject } from '#contract';
import type { Turn } from '../../lib/prompt.ts';
import { argumentsOf, type ToolCall, type ToolChoice } from '../../lib/tools.ts';
import { modelVariables, objectAt, objectsAt, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Anthropic's Messages API. */
export const anthropicV1: Vendor = {
  name: 'anthropic',
  version: 'v1',
  needsVariables: true,
  defaultModel: 'claude-haiku-4-5',
  address: () => 'https://api.anthropic.com/v1/messages',
  variables: modelVariables({
    max_tokens: {
      ...variableFields.maxTokens,
      description: 'Maximum number of tokens in a response.',
      default: 1024,
    },
    temperature: variableFields.temperature,
    top_p: variableFields.topP,
    top_k: variableFields.topK,
    stop_sequences: variableFields.stops,
  }),
  parameters: { max_tokens: 'max_tokens', temperature: 'temperature', top_p: 'top_p', stop: 'stop_sequences' },
  headers: (credentials) => [
    ['x-api-key', credentials],
    ['anthropic-version', '2023-06-01'],
  ],
  payload: ({ turns, instructions, tools, choice }, variables) => ({
    model: variables['model'],
    max_tokens: variables['max_tokens'],
    system: instructions,
    messages: turns.map((turn) => ({ role: turn.role, content: contentOf(turn) })),
    tools: tools?.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    tool_choice: toolChoice(choice),
    stop_sequences: variables['stop_sequences'],
    temperature: variables['temperature'],
    top_k: variables['top_k'],
    top_p: variables['top_p'],
  }),
  read(answer) {
    const texts = objectsAt(answer, 'content').filter(({ type }) => type === 'text');
    const prompt = tokensAt(answer, 'usage', 'input_tokens');
    const completion = tokensAt(answer, 'usage', 'output_tokens');
    return {
      candidates: [
        {
          texts: textsIn(texts, 'text'),
          calls: objectsAt(answer, 'content').filter(isCall).map(callOf),
          stop: textAt(answer, 'stop_reason'),
        },
      ],
      usage: { prompt, completion, total: prompt + completion },
    };
  },
  errorCode: (body) => textAt(body, 'error', 'type'),
  stream: {
    encoding: 'sse',
    format: 'anthropic',
    asks: 'payload',
    open() {
      // The first message contains the tokens of the prompt, later messages the tokens of the response so far.
      let prompt = 0;
      const usageOf = (completion: number): Usage => ({ prompt, completion, total: prompt + completion });
      return (event): Progress => {
        switch (event['type']) {
          case 'message_start':
            prompt = tokensAt(event, 'message', 'usage', 'input_tokens');
            return { deltas: [], usage: usageOf(tokensAt(event, 'message', 'usage', 'output_tokens')) };
          case 'content_block_start': {
            const block = objectAt(event, 'content_block');
            const call = { ...callOf(block), key: tokensAt(event, 'index'), arguments: '' };
            return { deltas: isCall(block) ? [{ index: 0, text: '', call }] : [] };
          }
          case 'content_block_delta':
            return { deltas: deltaOf(event) };
          case 'message_delta':
            return {
              deltas: [{ index: 0, text: '', stop: textAt(event, 'delta', 'stop_reason') }],
              usage: usageOf(tokensAt(event, 'usage', 'output_tokens')),
            };
          case 'error':
            return { deltas: [], failure: textAt(event, 'error', 'type') ?? 'error' };
          default:
            return { deltas: [] };
        }
      };
    },
  },
};

function contentOf({ texts, calls, results }: Turn): string | object[] {
  if (texts.length === 1 && calls.length + results.length === 0) return texts[0]!;
  return [
    ...results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
    ...texts.map((text) => ({ type: 'text', text })),
    ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: argumentsOf(call) })),
  ];
}

function toolChoice(choice: ToolChoice | undefined): object | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

function isCall({ type }: DataObject): boolean {
  return type === 'tool_use';
}

function callOf(block: DataObject): ToolCall {
  return {
    id: textAt(block, 'id') ?? '',
    name: textAt(block, 'name') ?? '',
    arguments: JSON.stringify(objectAt(block, 'input')),
  };
}

function deltaOf(event: DataObject): Progress['deltas'] {
  const text = textAt(event, 'delta', 'text');
  const more = textAt(event, 'delta', 'partial_json');
  if (more !== undefined) return [{ index: 0, text: '', call: { key: tokensAt(event, 'index'), arguments: more } }];
  return text === undefined ? [] : [{ index: 0, text }];
}
