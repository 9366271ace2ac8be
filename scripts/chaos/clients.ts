import { setTimeout as delay } from 'node:timers/promises';
import { type BackendReply, BIG_BYTES } from './backend.ts';
import { Connection } from './connection.ts';

/** Counters shared by all clients. */
export interface Tally {
  requests: number;
  /** Descriptions of failed requests and mixed responses. */
  readonly failures: string[];
  /** Latencies in milliseconds. */
  readonly latencies: number[];
  /** Events received from streams. */
  events: number;
}

/** One client: sends requests and checks responses until stopped. */
export type Client = (port: number, tally: Tally, stopped: () => boolean) => Promise<void>;

/** Requests after which a connection is replaced with a new one. */
const REQUESTS_A_CONNECTION = 500;

/** All parts of a response must be of one revision: those added by the endpoint and those of its backends. */
function check(tally: Tally, kind: string, status: number, body: Buffer, received = 0): void {
  tally.requests++;
  if (status !== 200) {
    tally.failures.push(`${kind} client: status ${status} ${body}`);
    return;
  }
  const { config, x, y, ...reported } = JSON.parse(String(body)) as Partial<BackendReply> & {
    config: number;
    x?: BackendReply;
    y?: BackendReply;
  };
  const tellers = x && y ? [x, y] : [reported];
  const isWhole = tellers.every((teller) => teller.revision === config && teller.received === received);
  if (!isWhole) tally.failures.push(`${kind} client: mixed revisions in ${body}`);
}

/** Runs an action on a connection, and again on a new one, until stopped. */
async function repeat(
  kind: string,
  port: number,
  tally: Tally,
  stopped: () => boolean,
  turn: (connection: Connection) => Promise<boolean>,
): Promise<void> {
  while (!stopped()) {
    const connection = new Connection(port);
    try {
      for (let count = 0; count < REQUESTS_A_CONNECTION && !stopped(); count++) if (!(await turn(connection))) break;
    } catch (error) {
      tally.failures.push(`${kind} client: ${(error as Error).message}`);
    }
    connection.close();
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`;

const keepAlive: Client = (port, tally, stopped) => {
  let at = 0;
  return repeat('keep-alive', port, tally, stopped, async (connection) => {
    const from = performance.now();
    connection.send(get(at++ % 2 === 0 ? '/one' : '/pair'));
    const { status, body, closes } = await connection.answer();
    tally.latencies.push(performance.now() - from);
    check(tally, 'keep-alive', status, body);
    return !closes;
  });
};

const PIPELINED = 8;

/** The server may close after any response of a pipeline; the requests after it are sent again on another connection. */
const pipelined: Client = (port, tally, stopped) =>
  repeat('pipelined', port, tally, stopped, async (connection) => {
    connection.send(get('/one').repeat(PIPELINED));
    for (let response = 0; response < PIPELINED; response++) {
      const { status, body, closes } = await connection.answer();
      check(tally, 'pipelined', status, body);
      if (closes) return false;
    }
    return true;
  });

/** Sends its request in pieces, across several reloads. */
const slow: Client = (port, tally, stopped) =>
  repeat('slow', port, tally, stopped, async (connection) => {
    const text = get('/pair');
    for (let at = 0; at < text.length; at += 8) {
      connection.send(text.slice(at, at + 8));
      await delay(10);
    }
    const { status, body, closes } = await connection.answer();
    check(tally, 'slow', status, body);
    return !closes;
  });

/** Reads a long streamed response, with pauses. */
const streaming: Client = (port, tally, stopped) =>
  repeat('streaming', port, tally, stopped, async (connection) => {
    connection.send(get('/big'));
    connection.pause(true);
    await delay(20);
    connection.pause(false);
    const { status, body, closes } = await connection.answer();
    tally.requests++;
    const isWhole = status === 200 && body.length === BIG_BYTES && body.every((byte) => byte === body[0]);
    if (!isWhole) tally.failures.push(`streaming client: status ${status}, ${body.length} bytes`);
    return !closes;
  });

const UPLOAD_PARTS = 8;
const UPLOAD_PART = Buffer.alloc(8 * 1024, 'u');

/** Sends a body in pieces. */
const uploading: Client = (port, tally, stopped) =>
  repeat('uploading', port, tally, stopped, async (connection) => {
    connection.send('POST /upload HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let chunk = 0; chunk < UPLOAD_PARTS; chunk++) {
      connection.send(`${UPLOAD_PART.length.toString(16)}\r\n`);
      connection.send(UPLOAD_PART);
      connection.send('\r\n');
      await delay(5);
    }
    connection.send('0\r\n\r\n');
    const { status, body, closes } = await connection.answer();
    check(tally, 'uploading', status, body, UPLOAD_PARTS * UPLOAD_PART.length);
    return !closes;
  });

/** Listens to one stream of an endpoint that no revision changes: it must never end or miss an event. */
const listening: Client = async (port, tally, stopped) => {
  const connection = new Connection(port);
  connection.send(get('/events'));
  try {
    const status = await connection.head();
    tally.requests++;
    if (status !== 200) throw new Error(`status ${status}`);
    let text = '';
    for (let expected = 1; !stopped(); ) {
      const chunk = await connection.chunk();
      if (chunk === null) throw new Error(`the stream ended after ${expected - 1} events`);
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const count = Number(/"count":(\d+)/.exec(text.slice(0, end))?.[1]);
        text = text.slice(end + 2);
        if (count !== expected) throw new Error(`received event ${count} instead of event ${expected}`);
        expected++;
        tally.events++;
      }
    }
  } catch (error) {
    tally.failures.push(`event stream client: ${(error as Error).message}`);
  }
  connection.close();
};

/** All kinds of clients, with the number of each. */
export const clients: readonly (readonly [client: Client, count: number])[] = [
  [keepAlive, 6],
  [pipelined, 3],
  [slow, 4],
  [streaming, 2],
  [uploading, 3],
  [listening, 4],
];
