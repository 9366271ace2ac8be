import type { Data, DataObject } from '#contract';
import {
  noCandidate,
  objectAt,
  objectsAt,
  otherVariables,
  textAt,
  textsIn,
  tokensAt,
  variableFields,
} from '../fields.ts';
import type { Progress, Usage, Vendor } from '../vendor.ts';

/** Mistral's chat completions. */
export const mistralV1: Vendor = {
  name: 'mistral',
  version: 'v1',
  needsVariables: true,
  variables: {
    type: 'object',
    required: ['model'],
    values: otherVariables,
    properties: {
      model: variableFields.model,
      max_tokens: variableFields.maxTokens,
      temperature: variableFields.temperature,
      top_p: variableFields.topP,
      stop: {
        anyOf: [{ type: 'string', minLength: 1 }, variableFields.stops],
        description: 'Stop sequence, or a list of them: texts that end the response.',
      },
      n: { type: 'integer', minimum: 1, description: 'Number of candidates per prompt. Default: 1.' },
      random_seed: { type: 'integer', description: 'Sampling seed: the same seed gives the same response.' },
      safe_prompt: { type: 'boolean', description: 'Prepends the safety prompt of the vendor. Default: false.' },
      extra_payload: variableFields.extra,
    },
  },
  parameters: {
    max_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    stop: 'stop',
    n: 'n',
    seed: 'random_seed',
  },
  headers: (credentials) => [['Authorization', `Bearer ${credentials}`]],
  payload: ({ turns, instructions }, variables) => ({
    model: variables['model'],
    messages: [
      ...(instructions === undefined ? [] : [{ role: 'system', content: instructions }]),
      ...turns.map(({ role, texts }) => ({
        role,
        content: texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text })),
      })),
    ],
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
      stop: textAt(choice, 'finish_reason'),
    }));
    return { candidates: candidates.length > 0 ? candidates : [noCandidate], usage: usageOf(answer) };
  },
  errorCode: (body) => body['code'] ?? textAt(body, 'type') ?? textAt(body, 'error', 'type'),
  stream: { encoding: 'sse', asks: 'payload', isCompletion: true, open: () => readChunk },
};

/** A content is a text, or a list of texts and other things. */
function textsOf(message: DataObject): readonly string[] {
  const content: Data | undefined = message['content'];
  if (typeof content === 'string') return content === '' ? [] : [content];
  return textsIn(
    objectsAt(message, 'content').filter(({ type }) => type === 'text'),
    'text',
  );
}

function readChunk(chunk: DataObject): Progress {
  const deltas = objectsAt(chunk, 'choices').map((choice) => ({
    index: tokensAt(choice, 'index'),
    text: textsOf(objectAt(choice, 'delta')).join(''),
    stop: textAt(choice, 'finish_reason'),
  }));
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
