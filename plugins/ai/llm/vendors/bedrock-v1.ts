import type { DataObject } from '#contract';
import { objectsAt, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Converse of Amazon Bedrock. The model stands in the address alone. */
export const bedrockV1: Vendor = {
  name: 'bedrock',
  version: 'v1',
  needsVariables: true,
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
  payload: ({ turns, instructions }, variables) => ({
    messages: turns.map(({ role, texts }) => ({ role, content: texts.map((text) => ({ text })) })),
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
      { texts: textsIn(objectsAt(answer, 'output', 'message', 'content'), 'text'), stop: textAt(answer, 'stopReason') },
    ],
    usage: usageOf(answer),
  }),
  // As in `ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/`.
  errorCode: (body, headers) => headers.get('x-amzn-errortype')?.split(':', 1)[0] ?? textAt(body, '__type'),
  stream: {
    encoding: 'eventstream',
    asks: { path: '/converse', becomes: '/converse-stream' },
    open: () => readFrame,
  },
};

/** What a frame is follows from its fields. */
function readFrame(frame: DataObject): Progress {
  const text = textAt(frame, 'delta', 'text');
  if (text !== undefined) return { deltas: [{ index: 0, text }] };
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
