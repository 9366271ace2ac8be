import { randomUUID } from 'node:crypto';
import { type DataObject, getPath } from '#contract';
import type { Turn } from '../../lib/prompt.ts';
import { argumentsOf, type Tool, type ToolCall, type ToolChoice } from '../../lib/tools.ts';
import { objectAt, objectsAt, otherVariables, textAt, textsIn, tokensAt, variableFields } from '../fields.ts';
import type { Delta, Progress, Usage, Vendor } from '../vendor.ts';

/** Google's generateContent API. */
export const geminiV1beta: Vendor = {
  name: 'gemini',
  version: 'v1beta',
  needsVariables: false,
  defaultModel: 'gemini-3.5-flash',
  address: (model) => `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent`,
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
  payload: ({ turns, instructions, tools, choice }, variables) => ({
    contents: turns.map((turn) => ({ role: turn.role === 'assistant' ? 'model' : turn.role, parts: partsOf(turn) })),
    tools: tools && [{ functionDeclarations: tools.map(declarationOf) }],
    toolConfig: { functionCallingConfig: callingOf(choice) },
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
      calls: callsOf(candidate),
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

function partsOf({ texts, calls, results }: Turn): object[] {
  return [
    ...results.map(({ name, text }) => ({ functionResponse: { name, response: { output: text } } })),
    ...texts.map((text) => ({ text })),
    ...calls.map((call) => ({ functionCall: { name: call.name, args: argumentsOf(call) } })),
  ];
}

function declarationOf({ name, description, parameters }: Tool): object {
  return { name, description, parametersJsonSchema: parameters };
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

function callingOf(choice: ToolChoice | undefined): object | undefined {
  if (choice === undefined) return undefined;
  return typeof choice === 'object' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : { mode: modes[choice] };
}

/** Reads the tool calls. Gemini's calls have no IDs, so the gateway generates them. */
function callsOf(candidate: DataObject): ToolCall[] {
  return objectsAt(candidate, 'content', 'parts').flatMap((part) => {
    const name = textAt(part, 'functionCall', 'name');
    if (name === undefined) return [];
    return [{ id: `call_${randomUUID()}`, name, arguments: JSON.stringify(objectAt(part, 'functionCall', 'args')) }];
  });
}

function readResponse(response: DataObject): Progress {
  const failure = textAt(response, 'error', 'status');
  if (failure !== undefined) return { deltas: [], failure };
  const blocked = textAt(response, 'promptFeedback', 'blockReason');
  const calls = objectsAt(response, 'candidates').flatMap((candidate) =>
    callsOf(candidate).map((call) => ({
      index: tokensAt(candidate, 'index'),
      text: '',
      call: { ...call, key: call.id },
    })),
  );
  const texts = objectsAt(response, 'candidates').map((candidate) => ({
    index: tokensAt(candidate, 'index'),
    text: textsIn(objectsAt(candidate, 'content', 'parts'), 'text').join(''),
    stop: textAt(candidate, 'finishReason'),
  }));
  const deltas: Delta[] = [...calls, ...texts];
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
