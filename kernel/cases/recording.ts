import { isHopByHop, type SandboxResponse } from '#contract';
import { bodyOf, MASKED, type Recorded, readHar } from './har.ts';
import type { Mock } from './mock.ts';

/**
 * Reads the requests of a HAR file as mocks: one for each method and URL, with the responses in order of recording.
 * Entries without a response, whose status is 0, are lost connections. Times are not repeated. Of the entries that
 * telemetry/recorder wrote, those of clients and those whose response was omitted are skipped, and masked values of a
 * query match any value.
 * @param pointer of the path, for errors. @throws ConfigError TEST_RECORDING.
 */
export function readRecording(path: string, pointer: string): Mock[] {
  return mocksOf(readHar(path, pointer));
}

/** Converts entries of a recording to mocks, like `readRecording`. */
export function mocksOf(entries: readonly Recorded[]): Mock[] {
  const responses = new Map<string, SandboxResponse[]>();
  for (const { request, response, _sluice: link } of entries) {
    if (link && (link.backend === undefined || link.omitted?.response !== undefined)) continue;
    const key = `${request.method.toUpperCase()} ${request.url.replace(/#.*$/s, '')}`;
    const known = responses.get(key);
    if (known) known.push(toResponse(response));
    else responses.set(key, [toResponse(response)]);
  }
  return [...responses].map(([key, recorded]) => ({
    name: key,
    matches: matcherOf(key),
    responses: recorded,
  }));
}

/**
 * Mocks with the same responses for any host: a backend with several hosts may call another host than in the recording.
 */
export function forAnyHost(mocks: readonly Mock[]): Mock[] {
  return mocks.map(({ name, responses }) => {
    const target = withoutHost(name);
    const matches = matcherOf(target);
    return {
      name: target,
      matches: (request) => request.protocol === 'http' && matches({ ...request, url: withoutHost(request.url) }),
      responses,
    };
  });
}

/** Removes scheme and host from a URL, or from a method followed by a URL. */
function withoutHost(text: string): string {
  return text.replace(/^([A-Z]+ )?\w+:\/\/[^/?#]*/i, '$1');
}

/** End of a query parameter whose value is masked. */
const masked = `=${MASKED}`;

function matcherOf(key: string): Mock['matches'] {
  if (!key.includes(masked)) return ({ method, url }) => `${method} ${url}` === key;
  const expected = key.split(/[?&]/);
  return ({ method, url }) => {
    const parts = `${method} ${url}`.split(/[?&]/);
    return parts.length === expected.length && parts.every((part, at) => isMasked(part, expected[at]!));
  };
}

function isMasked(part: string, expected: string): boolean {
  return expected.endsWith(masked) ? part.startsWith(expected.slice(0, -MASKED.length)) : part === expected;
}

/**
 * HAR files contain decoded bodies, so headers for the encoded body, such as its length and coding, do not apply to
 * them.
 */
const ofWire: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

function toResponse({ status, headers, content }: Recorded['response']): SandboxResponse {
  const body = bodyOf(content);
  const kept = headers.filter(({ name }) => !isHopByHop(name.toLowerCase()) && !ofWire.has(name.toLowerCase()));
  const list = kept.flatMap(({ name, value }) => [name, value]);
  if (status < 200) return { status: 200, headers: [], body: Buffer.alloc(0), delayMs: 0, failure: 'reset' };
  if (status !== 204 && status !== 304) list.push('Content-Length', String(body.length));
  return { status, headers: list, body, delayMs: 0 };
}
