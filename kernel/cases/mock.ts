import { BackendError, type SandboxRequest, type SandboxResponse } from '#contract';
import type { Session } from '../sandbox/session.ts';
import type { Frozen } from '../values/frozen.ts';
import { bytesOf } from './body.ts';
import type { MockData, ResponseData } from './schema.ts';
import { type MatchesUrl, urlPattern } from './url-pattern.ts';

/** A mocked server. */
export interface Mock {
  readonly name: string;
  matches(request: SandboxRequest): boolean;
  /** Responses to the first, second and further requests; the last one is repeated. */
  readonly responses: readonly SandboxResponse[];
}

export function compileMock(name: string, { url, method, protocol, response, responses }: MockData): Mock {
  const isUrl: MatchesUrl = urlPattern(url);
  const isMethod = method === undefined ? null : method.toUpperCase();
  return {
    name,
    matches: (request) =>
      (isMethod === null || request.method === isMethod) &&
      (protocol === undefined || request.protocol === protocol) &&
      isUrl(request.url),
    responses: (responses ?? [response!]).map(toResponse),
  };
}

function toResponse({ status, headers, body, delay, failure }: ResponseData): SandboxResponse {
  const list = Object.entries(headers).flat();
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const bytes = body === undefined ? new Uint8Array() : bytesOf(body);
  if (body !== undefined && !names.has('content-type')) {
    list.push('Content-Type', typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json');
  }
  if (!names.has('content-length') && status !== 204 && status !== 304) list.push('Content-Length', `${bytes.length}`);
  return { status, headers: list, body: bytes, delayMs: delay, failure };
}

/** Maximum number of requests to servers whose content is kept for a test. Further ones are counted as failures. */
const MAX_CALLS = 1000;

/** Maximum number of log lines kept for a test. */
const MAX_LINES = 20;

/** The servers of one test: answers requests, and keeps them for the expectations. */
export class MockedServers implements Session {
  readonly calls = new Map<string, SandboxRequest[]>();
  /** Number of requests that no mock answers, by `METHOD URL`. */
  readonly unanswered = new Map<string, number>();
  /** Refused connections, as sentences. */
  readonly refusals = new Set<string>();
  /** The first lines of the log that are warnings or worse. */
  readonly lines: string[] = [];
  readonly #mocks: readonly Mock[];
  readonly #usesNetwork: boolean;

  readonly frozen: Frozen | undefined;

  /**
   * @param usesNetwork whether requests without a mock are sent.
   * @param frozen time and random values. Default: those of the system.
   */
  constructor(mocks: readonly Mock[], usesNetwork: boolean, frozen?: Frozen) {
    this.frozen = frozen;
    this.#mocks = mocks;
    this.#usesNetwork = usesNetwork;
  }

  respond(request: SandboxRequest): SandboxResponse | null {
    const mock = this.#mocks.find((each) => each.matches(request));
    const known = (mock && this.calls.get(mock.name)) ?? [];
    if (mock && known.length < MAX_CALLS) {
      known.push(request);
      this.calls.set(mock.name, known);
      return mock.responses[Math.min(known.length, mock.responses.length) - 1]!;
    }
    if (!mock && this.#usesNetwork) return null;
    const { protocol, method, url } = request;
    const called = `${protocol === 'http' ? '' : `${protocol}: `}${method} ${url.replace(/\?.*$/s, '?…')}`;
    const times = this.unanswered.get(called) ?? 0;
    if (times > 0 || this.unanswered.size < MAX_CALLS) this.unanswered.set(called, times + 1);
    throw new BackendError('TEST_NO_MOCK', mock ? `too many calls: ${called}` : `no mock matches ${called}`);
  }

  refused({ owner, address }: { readonly owner: string; readonly address: string }): void {
    if (this.refusals.size < MAX_LINES) this.refusals.add(address === '' ? owner : `${owner}, to ${address}`);
  }

  logged(line: string, level: string): void {
    if (level === 'INFO' || level === 'DEBUG' || this.lines.length >= MAX_LINES) return;
    this.lines.push(line.trimEnd());
  }
}
