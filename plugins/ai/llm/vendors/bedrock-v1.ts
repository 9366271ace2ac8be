import type { DataObject } from '#contract';
import type { Turn } from '../../lib/prompt.ts';
import { argumentsOf, type Tool, type ToolCall, type ToolChoice } from '../../lib/tools.ts';
import { objectAt, objectsAt, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Amazon Bedrock's Converse API. The model is set only in the URL. */
export const bedrockV1: Vendor = {
  name: 'bedrock',
  version: 'v1',
  needsVariables: true,
  defaultModel: 'eu.amazon.nova-lite-v1:0',
  address: (model) => `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${model}/converse`,
  variables: {
    type: 'object',
    properties: {
      max_tokens: variableFields.maxTokens,
      temperature: variableFields.temperature,
      top_p: variableFields.topP,
      top_k: variableFields.topK,
      stop_sequences: variableFields.stops,
      extra_payload: variableFields.extra,
    },
  },
  parameters: { max_tokens: 'max_tokens', temperature: 'temperature', top_p: 'top_p', stop: 'stop_sequences' },
  headers: (credentials) => [['Authorization', `Bearer ${credentials}`]],
  payload: ({ turns, instructions, tools, choice }, variables) => ({
    messages: turns.map((turn) => ({ role: turn.role, content: contentOf(turn) })),
    // Converse does not support "none", so the tools are omitted to prevent tool calls.
    toolConfig: { tools: choice === 'none' ? undefined : tools?.map(specOf), toolChoice: toolChoice(choice) },
    system: instructions === undefined ? undefined : [{ text: instructions }],
    inferenceConfig: {
      maxTokens: variables['max_tokens'],
      temperature: variables['temperature'],
      topP: variables['top_p'],
      stopSequences: variables['stop_sequences'],
    },
    additionalModelRequestFields: { top_k: variables['top_k'] },
  }),
  read: (answer) => ({
    candidates: [
      {
        texts: textsIn(objectsAt(answer, 'output', 'message', 'content'), 'text'),
        calls: objectsAt(answer, 'output', 'message', 'content')
          .filter((block) => Object.hasOwn(block, 'toolUse'))
          .map((block) => callOf(objectAt(block, 'toolUse'))),
        stop: textAt(answer, 'stopReason'),
      },
    ],
    usage: usageOf(answer),
  }),
  // The header contains more than the code, for example
  // `ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/`.
  errorCode: (body, headers) => headers.get('x-amzn-errortype')?.split(':', 1)[0] ?? textAt(body, '__type'),
  stream: {
    encoding: 'eventstream',
    asks: { path: '/converse', becomes: '/converse-stream' },
    open: () => readFrame,
  },
};

function contentOf({ texts, calls, results }: Turn): object[] {
  return [
    ...results.map(({ id, text }) => ({ toolResult: { toolUseId: id, content: [{ text }] } })),
    ...texts.map((text) => ({ text })),
    ...calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: argumentsOf(call) } })),
  ];
}

function specOf({ name, description, parameters }: Tool): object {
  return { toolSpec: { name, description, inputSchema: { json: parameters } } };
}

function toolChoice(choice: ToolChoice | undefined): object | undefined {
  if (choice === undefined || choice === 'none') return undefined;
  if (typeof choice === 'object') return { tool: { name: choice.name } };
  return choice === 'required' ? { any: {} } : { auto: {} };
}

function callOf(use: DataObject): ToolCall {
  return {
    id: textAt(use, 'toolUseId') ?? '',
    name: textAt(use, 'name') ?? '',
    arguments: JSON.stringify(objectAt(use, 'input')),
  };
}

/** Reads a frame. Its type is determined by its fields. */
function readFrame(frame: DataObject): Progress {
  const text = textAt(frame, 'delta', 'text');
  if (text !== undefined) return { deltas: [{ index: 0, text }] };
  const key = tokensAt(frame, 'contentBlockIndex');
  const more = textAt(frame, 'delta', 'toolUse', 'input');
  if (more !== undefined) return { deltas: [{ index: 0, text: '', call: { key, arguments: more } }] };
  if (textAt(frame, 'start', 'toolUse', 'name') !== undefined) {
    const call = { ...callOf(objectAt(frame, 'start', 'toolUse')), key, arguments: '' };
    return { deltas: [{ index: 0, text: '', call }] };
  }
  const stop = textAt(frame, 'stopReason');
  if (stop !== undefined) return { deltas: [{ index: 0, text: '', stop }] };
  if (textAt(frame, 'message') !== undefined) return { deltas: [], failure: 'exception' };
  if (!Object.hasOwn(frame, 'usage')) return { deltas: [] };
  return { deltas: [], usage: usageOf(frame) };
}

function usageOf(message: DataObject): Usage {
  return {
    prompt: tokensAt(message, 'usage', 'inputTokens'),
    completion: tokensAt(message, 'usage', 'outputTokens'),
    total: tokensAt(message, 'usage', 'totalTokens'),
  };
}
