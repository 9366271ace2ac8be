import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Destination } from './address.ts';

/** A request to the admin API. */
export interface AdminRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Absolute path, such as `/v1/status`. */
  readonly path: string;
  /** Parameters that are undefined or false are omitted. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Client of one admin port. */
export interface AdminClient {
  /** @throws Unreachable. */
  ask(request: AdminRequest): Promise<AdminResponse>;
  /**
   * Opens an endless response stream. The caller must read it; stopping, or the signal, ends it.
   * @throws Unreachable, also while reading, when the connection breaks; Refused.
   */
  open(request: AdminRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export interface AdminClientOptions {
  readonly address: Destination;
  readonly token: string | null;
  /** CA certificate that signed the port's certificate, as PEM. */
  readonly ca: string | undefined;
}

/** Connection timeout, in milliseconds. */
const CONNECT_MS = 5_000;
/** Response timeout, in milliseconds: a change waits in a queue, and for all workers to become ready. */
const ANSWER_MS = 180_000;
/** Idle timeout of a stream, in milliseconds. The gateway sends a heartbeat every 15 s. */
const SILENCE_MS = 50_000;

export function createAdminClient({ address, token, ca }: AdminClientOptions): AdminClient {
  // The HTTP client is loaded only by commands that need it.
  const loading = import('got').then(({ default: got }) => got);
  const urlOf = ({ path, query = {} }: AdminRequest): string => `${address.base}${path}${queryOf(query)}`;
  const optionsOf = ({ method = 'GET', headers, body }: AdminRequest) => ({
    method,
    headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
    ...(ca !== undefined && { https: { certificateAuthority: ca } }),
    enableUnixSockets: true,
    // Redirects are not followed, because the token must be sent only to this address.
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

/** Converts connection errors. @throws Unreachable for any failure of the connection. */
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

/** A response from an admin port. */
export interface AdminResponse {
  readonly status: number;
  /** The body as received. */
  readonly text: string;
}

/** The admin port did not respond; the message gives the reason. */
export class Unreachable extends Error {
  constructor(cause: Error) {
    super(cause.message || (cause as NodeJS.ErrnoException).code || cause.name, { cause });
  }
}

/** The admin port returned a problem, or an unexpected response. */
export class Refused extends Error {
  readonly response: AdminResponse;

  constructor(response: AdminResponse) {
    super(`returned status ${response.status}`);
    this.response = response;
  }
}

/** Exit codes of a command. Code 2, for a usage error, belongs to the command line itself. */
export const exitCodes = { ok: 0, refused: 1, unreachable: 3, stale: 4 } as const;

/** Returns the exit code for a response. */
export function exitCodeOf({ status }: AdminResponse): number {
  if (status === 412) return exitCodes.stale;
  return isRefusal(status) ? exitCodes.refused : exitCodes.ok;
}

export function isRefusal(status: number): boolean {
  return status < 200 || status > 299;
}
