import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A point parsed from a line. */
export interface Point {
  readonly measurement: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, number>>;
  /** Names of fields that are integers. */
  readonly integers: readonly string[];
  readonly seconds: number;
}

/** Parses line protocol strictly: a backslash escapes a comma, an equals sign or a space. */
export function parseLines(body: string): Point[] {
  if (!body.endsWith('\n')) throw new Error('the last line does not end');
  return body.slice(0, -1).split('\n').map(parseLine);
}

function parseLine(line: string): Point {
  const [key, values, seconds, ...more] = splitAt(line, ' ');
  if (more.length > 0 || !/^\d{10}$/.test(seconds ?? '')) throw new Error(`no point: ${line}`);
  const [measurement, ...tags] = splitAt(key!, ',');
  const integers: string[] = [];
  const pairOf = (pair: string): [string, string] => {
    const [name, value, ...others] = splitAt(pair, '=');
    if (!name || !value || others.length > 0) throw new Error(`no pair: ${pair} in ${line}`);
    return [plain(name), plain(value)];
  };
  const fields = splitAt(values!, ',').map((pair) => {
    const [name, value] = pairOf(pair);
    if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?i?$/.test(value)) throw new Error(`no value: ${pair} in ${line}`);
    if (value.endsWith('i')) integers.push(name);
    return [name, Number.parseFloat(value)] as const;
  });
  return {
    measurement: plain(measurement!),
    tags: Object.fromEntries(tags.map(pairOf)),
    fields: Object.fromEntries(fields),
    integers,
    seconds: Number(seconds),
  };
}

function splitAt(text: string, mark: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') {
      piece += text.slice(at, at + 2);
      at += 1;
    } else if (text[at] === mark) {
      pieces.push(piece);
      piece = '';
    } else piece += text[at];
  }
  return [...pieces, piece];
}

function plain(text: string): string {
  return text.replace(/\\([,= ])/g, '$1');
}

interface Write {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly points: readonly Point[];
}

/**
 * A fake InfluxDB that parses writes and responds as configured.
 * @param tls PEM files for HTTPS.
 */
export async function startReceiver(tls?: { readonly cert: string; readonly key: string }) {
  const writes: Write[] = [];
  const pings: string[] = [];
  const state = { respond: (response: ServerResponse): unknown => response.writeHead(204).end() };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url, headers } = request;
    if (method === 'GET') {
      pings.push(url!);
      response.writeHead(204).end();
      return;
    }
    writes.push({ url: url!, headers, points: parseLines(await text(request)) });
    state.respond(response);
  };
  const server = (tls ? createSecureServer(tls, receive) : createServer(receive)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    writes,
    pings,
    state,
    connections: () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
