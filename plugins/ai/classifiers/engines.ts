import { CallError, type Data, type DataObject, isObject, type PipeRequest, type Site } from '#contract';
import type { Candidate } from '../lib/classifiers.ts';
import { type CallWithJson, jsonCaller } from '../lib/json-caller.ts';
import { parsedBody, type RequestPart, requestPart, wholeBody } from '../lib/request-part.ts';
import type { HttpConfig, NotDiamondConfig } from './schema.ts';

const code = 'CLASSIFIER_FAILED';

/** Protocol of a classification server: its requests, and the choice in its responses. */
export interface Engine {
  readonly ask: CallWithJson;
  question(candidates: readonly Candidate[], request: PipeRequest, body: Uint8Array | undefined): Data;
  /** Reads the chosen candidate from a response; undefined if the response contains no valid choice. */
  answer<T extends Candidate>(response: Data, candidates: readonly T[]): T | undefined;
}

/** @throws ConfigError CLASSIFIER_FIELD, REQUEST_PART, and errors for an unusable URL. */
export function notDiamond(site: Site<unknown>, config: NotDiamondConfig, at: string): Engine {
  const { base_url: base, credentials, timeout: timeoutMs, metric, disable_hash_content: isPlain } = config;
  const { tradeoff, cost_quality_tradeoff: balance } = config;
  if (tradeoff !== undefined && balance !== undefined) {
    throw site.fault('CLASSIFIER_FIELD', at, 'tradeoff cannot be combined with cost_quality_tradeoff');
  }
  const url = `${base.replace(/\/+$/, '')}/v2/modelRouter/modelSelect`;
  const part = partOf(site, config.req_content, at);
  const preference: DataObject =
    balance === undefined ? { tradeoff: tradeoff ?? 'cost' } : { cost_quality_tradeoff: balance };
  return {
    ask: jsonCaller(site, { url, at: `${at}/base_url`, credentials, timeoutMs, code }),
    question: (candidates, request, body) => ({
      messages: messagesOf(part.of(request, parsedBody(body))),
      llm_providers: candidates.map(({ vendor, model }) => ({ provider: nameAtNotDiamond(vendor), model })),
      metric,
      hash_content: !isPlain,
      ...preference,
    }),
    answer(response, candidates) {
      const { providers, provider } = isObject(response) ? response : ({} as DataObject);
      const chosen = Array.isArray(providers) ? providers[0] : provider;
      if (!isObject(chosen)) return undefined;
      return candidates.find(
        ({ vendor, model }) => nameAtNotDiamond(vendor) === chosen['provider'] && model === chosen['model'],
      );
    },
  };
}

/** @throws ConfigError REQUEST_PART, and errors for an unusable URL. */
export function ownServer(site: Site<unknown>, config: HttpConfig, at: string): Engine {
  const { url, credentials, timeout: timeoutMs } = config;
  const part = partOf(site, config.req_content, at);
  return {
    ask: jsonCaller(site, { url, at: `${at}/url`, credentials, timeoutMs, code }),
    question: (candidates, request, body) => ({
      content: part.of(request, parsedBody(body)) ?? null,
      providers: candidates.map(({ name, vendor, model }) => ({ name, vendor, model })),
    }),
    answer(response, candidates) {
      const name = isObject(response) ? response['provider'] : undefined;
      return candidates.find((candidate) => candidate.name === name);
    },
  };
}

function partOf(site: Site<unknown>, source: string | undefined, at: string): RequestPart {
  return source === undefined ? wholeBody : requestPart(site, source, `${at}/req_content`);
}

function nameAtNotDiamond(vendor: string): string {
  return vendor === 'gemini' ? 'google' : vendor;
}

/** Messages of a chat; other content becomes the text of one message with the role `user`. */
function messagesOf(content: Data | undefined): Data {
  const messages = isObject(content) ? (content['messages'] ?? content['contents'] ?? content) : content;
  if (
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every((message) => isObject(message) && 'role' in message)
  ) {
    return messages.map((message) => asMessage(message as DataObject));
  }
  if (messages === undefined) throw new CallError(code, 'the request has no content to classify');
  return [{ role: 'user', content: typeof messages === 'string' ? messages : JSON.stringify(messages) }];
}

function asMessage({ role = null, content, text }: DataObject): DataObject {
  return { role, content: content ?? text ?? '' };
}
