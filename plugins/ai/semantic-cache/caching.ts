import { createHash } from 'node:crypto';
import {
  type Call,
  type Data,
  type EndpointSite,
  getKey,
  isObject,
  meterOf,
  type PipeRequest,
  type Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { chatSlot } from '../lib/chat.ts';
import { parsedBody, type RequestPart, requestPart, wholeBody } from '../lib/request-part.ts';
import { textOfContent } from './content.ts';
import type { Embedder } from './embedder.ts';
import type { Responses } from './responses.ts';
import type { CacheConfig } from './schema.ts';
import { replyOf, storing } from './stored.ts';
import { encode } from './vectors.ts';

/** Fields of a body that determine the model or the format of its response. */
const ofTheForm = [
  'model',
  'stream',
  'stream_options',
  'n',
  'tools',
  'tool_choice',
  'response_format',
  'format',
] as const;

/** A request that may be answered with a stored response. */
interface Wanted {
  /** Hash of the request parts that must be equal for requests to share a response. */
  readonly variant: string;
  readonly text: string;
}

type Result = 'hit' | 'miss' | 'bypass' | 'failed';

/** Answers requests with the stored response of a request with nearly the same meaning. @param place unique in the configuration. */
export function caching(
  site: EndpointSite<CacheConfig>,
  embedder: Embedder,
  responses: Responses,
  place: Data,
): Wrap<PipeRequest> {
  const { max_distance: distance, ttl: ttlMs } = site.config;
  const content = contentPart(site);
  const variants = site.config.key_variants.map((source, index) => requestPart(site, source, `/key_variants/${index}`));
  for (const [index, part] of variants.entries()) checkHeader(site, part, `/key_variants/${index}`);
  const record = recorderOf(site);
  const warn = limitedWarning(site.log.at('[SemanticCache]'), site.use('clock'));
  const readsBody = content.readsBody || variants.some((part) => part.readsBody);

  const questionOf = async (request: PipeRequest, call: Call): Promise<Wanted | null> => {
    const control = request.client.headers.getAll('cache-control').join();
    if (/\b(?:no-store|no-cache)\b/i.test(control)) return null;
    const bytes = request.body ? await request.body.bytesToParse() : undefined;
    if (bytes && /\S/.test(request.headers.get('content-encoding') ?? '')) return null;
    const body = readsBody || bytes ? parsedBody(bytes) : undefined;
    const text = textOfContent(content.of(request, body));
    if (text === null) return null;
    const values = variants.map((part) => part.of(request, body) ?? null);
    const chat = call.get(chatSlot);
    const form = ofTheForm.map((name) => (isObject(body) ? (getKey(body, name) ?? null) : null));
    const rest = { params: unlessContent(content, 'req_params', request.params), query: queryOf(content, request) };
    const key = [
      place,
      embedder.identity,
      request.method,
      values,
      form,
      rest,
      chat ? [chat.model, chat.streams] : null,
    ];
    return { variant: hash(JSON.stringify(key)), text };
  };

  const answer = async (request: PipeRequest, call: Call, next: () => Reply | Promise<Reply>): Promise<Reply> => {
    const question = await questionOf(request, call);
    if (!question) {
      record?.('bypass');
      return next();
    }
    const { variant, text: whole } = question;
    const asked = { variant, text: hash(whole) };
    const same = await responses.same(asked, call);
    if (same !== null) return hit(same);
    let vector: string;
    try {
      vector = encode(await embedder.embed(whole, call));
    } catch (error) {
      if (call.reason) throw call.reason;
      warn(() => `a request bypasses the cache: ${(error as Error).message}`);
      record?.('failed');
      return next();
    }
    const near = await responses.near(asked, vector, distance, call);
    if (near !== null) return hit(near);
    record?.('miss');
    const reply = await next();
    storing(reply, (response) => {
      const failed = (error: Error) => warn(() => `a response is not stored: ${error.message}`);
      Promise.resolve(responses.keep(asked, vector, response, ttlMs)).catch(failed);
    });
    return reply;
  };

  const hit = (stored: string): Reply => {
    record?.('hit');
    return replyOf(stored);
  };

  return (next) => async (request, call) => {
    let isForwarded = false;
    try {
      return await answer(request, call, () => {
        isForwarded = true;
        return next(request, call);
      });
    } catch (error) {
      if (isForwarded) throw error;
      const failure = toCallError(call.reason ?? error);
      if (call.reason || failure.code === 'PAYLOAD_TOO_LARGE') throw failure;
      warn(() => `a request bypasses the cache: ${failure.message}`);
      return next(request, call);
    }
  };
}

function contentPart(site: EndpointSite<CacheConfig>): RequestPart {
  const { req_content: source } = site.config;
  if (source === undefined) return wholeBody;
  const part = requestPart(site, source, '/req_content');
  checkHeader(site, part, '/req_content');
  return part;
}

/**
 * Rejects headers that the endpoint does not forward: they would always be absent, so that all callers would share
 * responses. @throws ConfigError SEMANTIC_CACHE_HEADER
 */
function checkHeader(site: EndpointSite<CacheConfig>, { header, source }: RequestPart, at: string): void {
  const { input_headers: listed } = site.endpoint;
  if (header === undefined || listed.some((name) => name === '*' || name.toLowerCase() === header)) return;
  throw site.fault('SEMANTIC_CACHE_HEADER', at, `${source} is never set: the endpoint does not forward the header`, {
    hint: `"input_headers": ${JSON.stringify([...listed, source.slice('req_headers.'.length)])}`,
  });
}

/**
 * Returns the request parts that must be equal for requests to share a response. The part that is compared by meaning
 * is excluded.
 */
function unlessContent(content: RequestPart, kind: string, values: Readonly<Record<string, Data>>): Data {
  const entries = Object.entries(values).filter(([name]) => content.source !== `${kind}.${name}`);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

function queryOf(content: RequestPart, { query }: PipeRequest): Data {
  if (query.size === 0) return null;
  return unlessContent(
    content,
    'req_query_string',
    Object.fromEntries(Array.from(query, ([name]) => [name, [...query.getAll(name)]])),
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Counts requests by their result, if an exporter is configured. */
function recorderOf(site: EndpointSite<unknown>): ((result: Result) => void) | null {
  const counter = meterOf(site)?.counter('semantic_cache.requests', {
    description: 'Number of requests to endpoints and backends with a semantic cache.',
  });
  if (!counter) return null;
  const { endpoint } = site.endpoint;
  return (result) => counter.add(1, { endpoint, result });
}
