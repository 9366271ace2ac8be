import { METHODS } from 'node:http';
import { isHopByHop } from '#contract';
import { bodyOf, headersOf, MASKED, type Recorded, readHar, targetOf } from '../har.ts';
import type { Mock } from '../mock.ts';
import { forAnyHost, mocksOf } from '../recording.ts';
import type { TestRequest, TestResponse } from '../test.ts';

/** A recorded request that can be repeated, with the responses of its backends. */
export interface RecordedRequest {
  /** Endpoint that served the request, for example `GET /users/{id}`; the path for a request without an endpoint. */
  readonly endpoint: string;
  readonly request: TestRequest;
  /** The recorded response; without a body if it was omitted. */
  readonly response: Omit<TestResponse, 'body'> & { readonly body: Uint8Array | null };
  readonly mocks: readonly Mock[];
  /** The same responses for the other hosts of each backend, which were not called in the recording. */
  readonly mocksOfOtherHosts: readonly Mock[];
  /** Number of calls by method and URL without query. */
  readonly calls: ReadonlyMap<string, number>;
  /** Time of the request, in milliseconds since 1970. */
  readonly at: number;
  /** ID of the recording. */
  readonly id: string;
  /** IDs that the recorded gateway gave the request, as far as the recording contains them. */
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
}

/** The requests of a recording. */
export interface Traffic {
  readonly requests: readonly RecordedRequest[];
  /** Number of requests that cannot be repeated: a body or a response was omitted, or calls were not recorded. */
  readonly incomplete: number;
}

/**
 * Reads a recording of telemetry/recorder: client entries, each with the backend calls that have the same ID.
 * @throws ConfigError TEST_RECORDING.
 */
export function readTraffic(path: string): Traffic {
  return trafficOf(readHar(path, ''));
}

/** The requests in the entries of a recording. */
export function trafficOf(recorded: readonly Recorded[]): Traffic {
  const entries = recorded.filter(({ _sluice: link }) => link !== undefined);
  const byId = Map.groupBy(entries, ({ _sluice: link }) => link!.id);
  const requests: RecordedRequest[] = [];
  let incomplete = 0;
  for (const group of byId.values()) {
    const client = group.find(({ _sluice: link }) => link!.backend === undefined);
    const calls = group.filter(({ _sluice: link }) => link!.backend !== undefined);
    if (client && isComplete(client, calls)) requests.push(toRequest(client, calls));
    else incomplete++;
  }
  return { requests, incomplete };
}

/**
 * Reads the requests of any HAR file that can be repeated, without their responses.
 * @throws ConfigError TEST_RECORDING.
 */
export function readRequests(path: string): TestRequest[] {
  const clients = readHar(path, '').filter(({ _sluice: link }) => link?.backend === undefined);
  return clients.filter(({ request }) => METHODS.includes(request.method)).map(({ request }) => sentRequest(request));
}

function isComplete(client: Recorded, calls: readonly Recorded[]): boolean {
  const { method } = client.request;
  const { omitted, omitted_calls: omittedCalls = 0 } = client._sluice!;
  const areComplete = calls.every(({ _sluice: link }) => link!.omitted?.response === undefined);
  return METHODS.includes(method) && omitted?.request === undefined && omittedCalls === 0 && areComplete;
}

/** Headers that the sandbox sets itself, or that would change the form of the response. */
const unsent: ReadonlySet<string> = new Set(['content-length', 'accept-encoding', 'content-encoding', 'expect']);

function toRequest(client: Recorded, calls: readonly Recorded[]): RecordedRequest {
  const { request, response, startedDateTime, _sluice: link } = client;
  const sent = sentRequest(request);
  const counts = new Map<string, number>();
  for (const call of calls) count(counts, `${call.request.method} ${call.request.url}`);
  const mocks = mocksOf(calls);
  const hasBody = link!.omitted?.response === undefined;
  const received = bodyOf(response.content);
  const { endpoint } = link!;
  return {
    endpoint: typeof endpoint === 'string' ? endpoint : `${request.method} ${sent.path.replace(/\?.*$/s, '')}`,
    request: sent,
    response: { status: response.status, headers: headersOf(response.headers), body: hasBody ? received : null, ms: 0 },
    mocks,
    mocksOfOtherHosts: forAnyHost(mocks),
    calls: counts,
    at: Date.parse(startedDateTime) || 0,
    id: link!.id,
    requestId: headerOf('x-request-id', [response, ...calls.map((call) => call.request)]),
    traceId: headerOf(
      'traceparent',
      calls.map((call) => call.request),
    )?.split('-')[1],
  };
}

/** The value of a header in the first of several messages that contains it. */
function headerOf(header: string, messages: readonly Pick<Recorded['request'], 'headers'>[]): string | undefined {
  for (const { headers } of messages) {
    const found = headers.find(({ name, value }) => name.toLowerCase() === header && value !== MASKED);
    if (found) return found.value;
  }
  return undefined;
}

function sentRequest({ method, url, headers, postData }: Recorded['request']): TestRequest {
  return { method, path: targetOf(url), headers: sentHeaders(headers), body: postData?.text ? bodyOf(postData) : null };
}

/** Counts a call by its method and URL without query. */
export function count(counts: Map<string, number>, call: string, times = 1): void {
  const key = call.replace(/\?.*$/s, '');
  counts.set(key, (counts.get(key) ?? 0) + times);
}

type Pairs = Recorded['request']['headers'];

function sentHeaders(pairs: Pairs): Record<string, string> {
  const kept = pairs.filter(({ name }) => !isHopByHop(name.toLowerCase()) && !unsent.has(name.toLowerCase()));
  return Object.fromEntries(kept.map(({ name, value }) => [name.toLowerCase(), value]));
}
