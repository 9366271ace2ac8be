import { createHash } from 'node:crypto';
import { type Call, CallError, type Data, definePort, isObject, type Port, type Site } from '#contract';
import { jsonCaller } from '../lib/json-caller.ts';
import type { EmbedderConfig } from './schema.ts';

const code = 'SEMANTIC_CACHE_EMBEDDING';

/** Maximum number of dimensions of a vector. */
const MAX_DIMENSIONS = 8192;

/** Turns texts into vectors. */
export interface Embedder {
  /** Equal for embedders whose vectors can be compared. */
  readonly identity: string;
  /** The vector of a text, with length 1. @throws CallError `SEMANTIC_CACHE_EMBEDDING`, or the call's abort reason. */
  embed(text: string, call: Call): Promise<Float32Array>;
}

/** The embedders of the root, by name. */
export const embedders: Port<ReadonlyMap<string, Embedder>> = definePort('embedders');

/** @throws ConfigError SEMANTIC_CACHE_NAME, SEMANTIC_CACHE_MODEL and the errors of `jsonCaller`. */
export function openEmbedders(site: Site<unknown>, configs: readonly EmbedderConfig[]): ReadonlyMap<string, Embedder> {
  const opened = new Map<string, Embedder>();
  for (const [index, config] of configs.entries()) {
    const at = `/embedders/${index}`;
    const { name } = config;
    if (opened.has(name)) throw site.fault('SEMANTIC_CACHE_NAME', `${at}/name`, `the name "${name}" is used twice`);
    opened.set(name, openEmbedder(site, config, at));
  }
  return opened;
}

function openEmbedder(site: Site<unknown>, config: EmbedderConfig, at: string): Embedder {
  const { url, model, credentials, timeout: timeoutMs, vector_dimension: dimensions, model_path: path } = config;
  if (path !== undefined) {
    throw site.fault(
      'SEMANTIC_CACHE_MODEL',
      `${at}/model_path`,
      'model_path is not supported: the gateway does not run ONNX models',
      {
        hint: 'serve the model with a server that has the embeddings API of OpenAI, and set "url"',
      },
    );
  }
  if (url === undefined) throw site.fault('SEMANTIC_CACHE_MODEL', at, 'an embedder requires "url"');
  const send = jsonCaller(site, { url, at: `${at}/url`, credentials, timeoutMs, code });
  const key = JSON.stringify([url, model ?? null, dimensions ?? null]);
  return {
    identity: createHash('sha256').update(key).digest('base64'),
    async embed(text, call) {
      const response = await send(model === undefined ? { input: text } : { input: text, model }, call);
      const vector = vectorOf(response);
      if (!vector) throw new CallError(code, 'the response contains no vector');
      if (dimensions !== undefined && vector.length !== dimensions) {
        throw new CallError(code, `the vector has ${vector.length} dimensions instead of ${dimensions}`);
      }
      return vector;
    },
  };
}

/** The first vector of a response, with length 1; null without a valid one. */
function vectorOf(response: Data): Float32Array | null {
  const list = isObject(response) ? response['data'] : undefined;
  const first = Array.isArray(list) ? list[0] : undefined;
  const numbers = isObject(first) ? first['embedding'] : undefined;
  if (!Array.isArray(numbers) || numbers.length === 0 || numbers.length > MAX_DIMENSIONS) return null;
  const vector = new Float32Array(numbers.length);
  let square = 0;
  for (const [at, value] of numbers.entries()) {
    if (typeof value !== 'number') return null;
    vector[at] = value;
    square += value * value;
  }
  if (square === 0 || !Number.isFinite(square)) return null;
  const length = Math.sqrt(square);
  for (let at = 0; at < vector.length; at++) vector[at]! /= length;
  return vector;
}
