import { request as requestOfNode } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { RoundTrip } from '../../plugins/backend/http/client/http1/round-trip.ts';

/** A response as parsed. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
  /** Error message; empty for a complete response. */
  readonly error: string;
  /** True when the connection can be reused. */
  readonly isReusable: boolean;
}

/** Conditions under which a response is read. */
export interface Reading {
  /** Method of the request. Default: GET. */
  readonly method?: string;
  /** True when the connection ends after the bytes. Default: it stays open. */
  readonly ends?: boolean;
  /** True when the bytes arrive before the request has been sent. */
  readonly isEarly?: boolean;
}

/** Reads the bytes of a response with the gateway's client, one chunk at a time. */
export async function readResponse(pieces: readonly Buffer[], how: Reading = {}): Promise<ReadResponse> {
  const { method = 'GET', ends = false, isEarly = false } = how;
  const outcome = {
    status: 0,
    headers: [] as readonly string[],
    body: '',
    trailers: [] as readonly string[],
    error: 'unfinished',
    isReusable: false,
  };
  const socket = { write: () => true, cork() {}, uncork() {}, pause() {}, resume() {} };
  const connection = {
    socket,
    host: 'a',
    finished: (isReusable: boolean) => {
      outcome.isReusable = isReusable;
    },
  };
  const sending = { origin: 'http://a', path: '/', method, headers: [], body: null, length: undefined, isLast: false };
  const trip: RoundTrip = new RoundTrip(connection as never, sending, {
    onRequestStart() {},
    onRequestSent() {},
    onResponseStarted() {},
    onResponseStart: (_controller, status) => {
      outcome.status = status;
      outcome.headers = trip.head!.list;
    },
    onResponseData: (_controller, chunk) => {
      outcome.body += chunk.toString('latin1');
    },
    onResponseEnd: () => {
      outcome.error = '';
      outcome.trailers = trip.rawTrailers ?? [];
    },
    onResponseError: (_controller, error) => {
      outcome.error = error.message;
    },
  });
  trip.send();
  if (!isEarly) await turn();
  const buffer = Buffer.alloc(64 * 1024, 'stale bytes of another connection\r\n\r\n');
  for (const piece of pieces) {
    piece.copy(buffer);
    trip.read(buffer, piece.length);
  }
  if (ends) trip.closed(null);
  return outcome;
}

/** Splits a text at the offsets. */
export function cut(text: string, offsets: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  const ends = [...new Set([...offsets, bytes.length])].filter((end) => end > 0).sort((one, other) => one - other);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** Reads the same response with the Node.js client; null when it is rejected. */
export function readByNode(text: string): Promise<{ status: number; body: string } | 'extensions' | null> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        done();
      },
    });
    const request = requestOfNode({ createConnection: () => socket, host: 'a' });
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => response.complete && resolve({ status: response.statusCode ?? 0, body }));
      response.on('close', () => setImmediate(resolve, null));
      response.on('error', () => {});
    });
    request.on('error', (error) => resolve(/chunk extensions/.test(error.message) ? 'extensions' : null));
    request.on('upgrade', () => resolve(null));
    request.end(() => {
      socket.push(Buffer.from(text, 'latin1'));
      socket.push(null);
    });
  });
}
