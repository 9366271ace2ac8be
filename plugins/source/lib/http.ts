import got, { type Method, type OptionsInit, type Request, RequestError } from 'got';
import type { SourceAccess } from '#contract';

/** Time limit of a request, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Maximum number of characters of a response that a message quotes. */
const QUOTED = 200;

/** A request to a store. */
export interface StoreRequest {
  readonly method?: Method;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Time limit, in milliseconds. */
  readonly timeoutMs?: number;
  readonly followsRedirects?: boolean;
}

/** Response of a store. */
export interface StoreResponse {
  readonly status: number;
  /** Values by name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** An HTTP client of a store. */
export class StoreHttp {
  readonly #tls: SourceAccess['tls'];
  readonly #maxBytes: number;

  constructor({ tls }: SourceAccess, maxBytes: number) {
    this.#tls = tls;
    this.#maxBytes = maxBytes;
  }

  /** Sends a request and reads the response. @throws Error if the store does not respond, or with more than the maximum size. */
  async send(request: StoreRequest, signal: AbortSignal): Promise<StoreResponse> {
    const stream = this.#open(request, signal, { request: request.timeoutMs ?? TIMEOUT_MS });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > this.#maxBytes) throw new Error(`the response is larger than ${this.#maxBytes} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      throw reworded(error, request.url);
    } finally {
      stream.destroy();
    }
    const { statusCode: status, headers } = stream.response!;
    return { status, headers, body: Buffer.concat(chunks) };
  }

  /** Sends a request whose response arrives in pieces, without a limit of time. @throws Error if the connection is lost. */
  async *follow(request: StoreRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const stream = this.#open(request, signal, { connect: TIMEOUT_MS, secureConnect: TIMEOUT_MS });
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        const { statusCode } = stream.response!;
        if (statusCode !== 200) throw statusError({ status: statusCode, body: chunk });
        yield chunk;
      }
    } catch (error) {
      throw reworded(error, request.url);
    } finally {
      stream.destroy();
    }
  }

  #open(
    { method = 'GET', url, headers = {}, body, followsRedirects = false }: StoreRequest,
    signal: AbortSignal,
    timeout: OptionsInit['timeout'],
  ): Request {
    const { ca, cert, key } = this.#tls;
    return got.stream(url, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body }),
      https: {
        ...(ca !== undefined && { certificateAuthority: ca }),
        ...(cert !== undefined && { certificate: cert }),
        ...(key !== undefined && { key }),
      },
      timeout,
      retry: { limit: 0 },
      followRedirect: followsRedirects,
      throwHttpErrors: false,
      decompress: true,
      signal,
    } as OptionsInit & { isStream?: true }) as Request;
  }
}

/** Error for a status that is not a success. */
export function statusError({ status, body }: Pick<StoreResponse, 'status' | 'body'>): Error {
  const text = Buffer.from(body)
    .toString('utf8', 0, 4 * QUOTED)
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, QUOTED);
  return new Error(text === '' ? `status ${status}` : `status ${status}: ${text}`);
}

/** Errors of the library contain the URL, which may contain a token in its query. */
function reworded(error: unknown, { host }: URL): Error {
  if (!(error instanceof RequestError)) return error as Error;
  const { code, message } = error;
  return new Error(`${host} did not respond: ${code === 'ERR_GOT_REQUEST_ERROR' || !code ? message : code}`, {
    cause: error,
  });
}

/** Reads the JSON object in a response. @throws Error if it is not one. */
export function jsonIn({ body }: Pick<StoreResponse, 'body'>): Record<string, unknown> {
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(body).toString());
  } catch {
    data = null;
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new Error('the response is not a JSON object');
  return data as Record<string, unknown>;
}
