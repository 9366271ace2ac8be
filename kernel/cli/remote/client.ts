import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Destination } from './address.ts';

/** A call of the admin API. */
export interface AdminRequest {
  readonly method?: 'GET' | 'POST';
  /** From the root, `/v1/status`. */
  readonly path: string;
  /** Those that are undefined or false are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Talks to one admin port. */
export interface AdminClient {
  /** @throws Unreachable. */
  ask(request: AdminRequest): Promise<AdminResponse>;
  /**
   * Opens an answer without end. To be read; leaving it, or the signal, ends it.
   * @throws Unreachable, also while it is read, when it breaks off; Refused.
   */
  open(request: AdminRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export interface AdminClientOptions {
  readonly address: Destination;
  readonly token: string | null;
  /** Authority that signed the port's certificate, as PEM. */
  readonly ca: string | undefined;
}

/** Longest wait for a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** Longest wait for an answer, in milliseconds: a change waits its turn, and for all workers to get ready. */
const ANSWER_MS = 180_000;
/** Longest silence of a stream, in milliseconds: the gateway says something every 15 s. */
const SILENCE_MS = 50_000;

export function createAdminClient({ address, token, ca }: AdminClientOptions): AdminClient {
  // Loaded by the commands that need it only.
  const loading = import('got').then(({ default: got }) => got);
  const urlOf = ({ path, query = {} }: AdminRequest): string => `${address.base}${path}${queryOf(query)}`;
  const optionsOf = ({ method = 'GET', headers, body }: AdminRequest) => ({
    method,
    headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
    ...(ca !== undefined && { https: { certificateAuthority: ca } }),
    enableUnixSockets: true,
    // The token is for this address alone.
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { connect: CONNECT_MS, response: ANSWER_MS },
  });
  return {
    async ask(request) {
      const got = await loading;
      return translated(async () => {
        const { statusCode, body } = await got(urlOf(request), optionsOf(request));
        return { status: statusCode, text: body };
      });
    },
    async open(request, signal) {
      const { timeout, ...options } = optionsOf(request);
      const got = await loading;
      const stream = got.stream(urlOf(request), { ...options, signal, timeout: { ...timeout, socket: SILENCE_MS } });
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      stream.once('response', ({ statusCode }) => resolve(statusCode));
      stream.once('error', reject);
      const status = await translated(() => promise);
      if (status !== 200) throw new Refused({ status, text: await translated(() => text(stream)) });
      return piecesOf(stream);
    },
  };
}

async function* piecesOf(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw new Unreachable(error as Error);
  }
}

/** @throws Unreachable for what went wrong on the way. */
async function translated<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new Unreachable(error as Error);
  }
}

function queryOf(query: NonNullable<AdminRequest['query']>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== false) given.set(name, String(value));
  }
  return given.size === 0 ? '' : `?${given}`;
}

/** What an admin port answered. */
export interface AdminResponse {
  readonly status: number;
  /** The body as it came. */
  readonly text: string;
}

/** The admin port did not answer; says why. */
export class Unreachable extends Error {
  constructor(cause: Error) {
    super(cause.message || (cause as NodeJS.ErrnoException).code || cause.name, { cause });
  }
}

/** The admin port answered with a problem, or with something else than it was asked for. */
export class Refused extends Error {
  readonly response: AdminResponse;

  constructor(response: AdminResponse) {
    super(`returned status ${response.status}`);
    this.response = response;
  }
}

/** What a command ends with. Code 2, for a call that cannot be understood, is the command line's own. */
export const exitCodes = { ok: 0, refused: 1, unreachable: 3, stale: 4 } as const;

/** The exit code that an answer leads to. */
export function exitCodeOf({ status }: AdminResponse): number {
  if (status === 412) return exitCodes.stale;
  return isRefusal(status) ? exitCodes.refused : exitCodes.ok;
}

export function isRefusal(status: number): boolean {
  return status < 200 || status > 299;
}
