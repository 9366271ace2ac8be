import { request as requestOfNode } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { RoundTrip } from '../../plugins/backend/http/client/http1/round-trip.ts';

/** What has become of a response. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
  /** Empty for a response that is complete. */
  readonly error: string;
  /** The connection can carry another request. */
  readonly isReusable: boolean;
}

/** Reads a response by the client of the gateway; its connection ends behind it. @param cuts offsets where a read ends. */
export async function readInPieces(text: string, cuts: readonly number[]): Promise<ReadResponse> {
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
  const sending = {
    origin: 'http://a',
    path: '/',
    method: 'GET',
    headers: [],
    body: null,
    length: undefined,
    isLast: false,
  };
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
  await turn();
  const bytes = Buffer.from(text, 'latin1');
  const buffer = Buffer.alloc(64 * 1024, 'stale bytes of another connection\r\n\r\n');
  const ends = [...new Set(cuts), bytes.length].sort((one, other) => one - other);
  let from = 0;
  for (const end of ends) {
    if (end === from) continue;
    bytes.copy(buffer, 0, from, end);
    trip.read(buffer, end - from);
    from = end;
  }
  trip.closed(null);
  return outcome;
}

/** Reads the same response by Node's client; null where it is refused. */
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
