import { type DataObject, getPath } from '#contract';
import { objectsAt, otherVariables, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Progress, Vendor } from '../vendor.ts';

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
      candidate_count: { type: 'integer', minimum: 1, description: 'Answers to one prompt. Default: 1.' },
      max_output_tokens: variableFields.maxTokens,
      temperature: variableFields.temperature,
      top_p: variableFields.topP,
      top_k: variableFields.topK,
      stop_sequences: variableFields.stops,
      extra_payload: variableFields.extra,
    },
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
    const candidates = objectsAt(answer, 'candidates');
    const stop = candidates[0]
      ? textAt(candidates[0], 'finishReason')
      : textAt(answer, 'promptFeedback', 'blockReason');
    return {
      candidates: candidates.map((candidate) => textsIn(objectsAt(candidate, 'content', 'parts'), 'text')),
      usage: tokensAt(answer, 'usageMetadata', 'totalTokenCount'),
      stop,
    };
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
  const tokens = (name: string) => tokensAt(response, 'usageMetadata', name);
  return {
    deltas,
    usage: {
      prompt: tokens('promptTokenCount'),
      completion: tokens('candidatesTokenCount'),
      total: tokens('totalTokenCount'),
    },
  };
}
