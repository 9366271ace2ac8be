import { createHash } from 'node:crypto';
import { CallError, type Data, isObject, type Site } from '#contract';
import { jsonCaller } from '../lib/json-caller.ts';
import type { Embedder } from './embedder.ts';
import type { EmbedderConfig } from './schema.ts';

const code = 'SEMANTIC_CACHE_EMBEDDING';

/** An embedder that calls a server with the embeddings API of OpenAI. @throws ConfigError for an unusable URL. */
export function serverEmbedder(
  site: Site<unknown>,
  config: EmbedderConfig & { readonly url: string },
  at: string,
): Embedder {
  const { url, model, credentials, timeout: timeoutMs, vector_dimension: dimensions } = config;
  const send = jsonCaller(site, { url, at: `${at}/url`, credentials, timeoutMs, code });
  const key = JSON.stringify([url, model ?? null, dimensions ?? null]);
  return {
    identity: createHash('sha256').update(key).digest('base64'),
    async embed(text, call) {
      const vector = vectorOf(await send(model === undefined ? { input: text } : { input: text, model }, call));
      if (!vector) throw new CallError(code, 'the response contains no vector');
      return vector;
    },
  };
}

/** The first vector of a response; null without one. */
function vectorOf(response: Data): Float32Array | null {
  const list = isObject(response) ? response['data'] : undefined;
  const first = Array.isArray(list) ? list[0] : undefined;
  const numbers = isObject(first) ? first['embedding'] : undefined;
  if (!Array.isArray(numbers) || !numbers.every((value) => typeof value === 'number')) return null;
  return Float32Array.from(numbers);
}
