import { type DataObject, getPath } from '#contract';
import { objectsAt, otherVariables, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Google's generateContent. */
export const geminiV1beta: Vendor = {
  name: 'gemini',
  version: 'v1beta',
  needsVariables: false,
  variables: {
    type: 'object',
    values: otherVariables,
    default: {},
    properties: {
      candidate_count: { type: 'integer', minimum: 1, description: 'Number of candidates per prompt. Default: 1.' },
      max_output_tokens: variableFields.maxTokens,
      temperature: variableFields.temperature,
      top_p: variableFields.topP,
      top_k: variableFields.topK,
      stop_sequences: variableFields.stops,
      extra_payload: variableFields.extra,
    },
  },
  parameters: {
    max_tokens: 'max_output_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    stop: 'stop_sequences',
    n: 'candidate_count',
  },
  headers: (credentials) => [['x-goog-api-key', credentials]],
  payload: ({ turns, instructions }, variables) => ({
    contents: turns.map(({ role, texts }) => ({
      role: role === 'assistant' ? 'model' : role,
      parts: texts.map((text) => ({ text })),
    })),
    systemInstruction: instructions === undefined ? undefined : { parts: [{ text: instructions }] },
    generationConfig: {
      candidateCount: variables['candidate_count'],
      maxOutputTokens: variables['max_output_tokens'],
      stopSequences: variables['stop_sequences'],
      temperature: variables['temperature'],
      topK: variables['top_k'],
      topP: variables['top_p'],
    },
  }),
  read(answer) {
    const candidates = objectsAt(answer, 'candidates').map((candidate) => ({
      texts: textsIn(objectsAt(candidate, 'content', 'parts'), 'text'),
      stop: textAt(candidate, 'finishReason'),
    }));
    const blocked = { texts: [], stop: textAt(answer, 'promptFeedback', 'blockReason') };
    return { candidates: candidates.length > 0 ? candidates : [blocked], usage: usageOf(answer) };
  },
  errorCode: (body) => textAt(body, 'error', 'status') ?? getPath(body, ['error', 'code']),
  stream: {
    encoding: 'sse',
    asks: { path: ':generateContent', becomes: ':streamGenerateContent', query: 'alt=sse' },
    open: () => readResponse,
  },
};

function readResponse(response: DataObject): Progress {
  const failure = textAt(response, 'error', 'status');
  if (failure !== undefined) return { deltas: [], failure };
  const blocked = textAt(response, 'promptFeedback', 'blockReason');
  const deltas = objectsAt(response, 'candidates').map((candidate) => ({
    index: tokensAt(candidate, 'index'),
    text: textsIn(objectsAt(candidate, 'content', 'parts'), 'text').join(''),
    stop: textAt(candidate, 'finishReason'),
  }));
  if (blocked !== undefined) deltas.push({ index: 0, text: '', stop: blocked });
  if (!Object.hasOwn(response, 'usageMetadata')) return { deltas };
  return { deltas, usage: usageOf(response) };
}

function usageOf(response: DataObject): Usage {
  const tokens = (name: string) => tokensAt(response, 'usageMetadata', name);
  return {
    prompt: tokens('promptTokenCount'),
    completion: tokens('candidatesTokenCount'),
    total: tokens('totalTokenCount'),
  };
}
