import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { eventually, PATIENCE_MS } from '../eventually.ts';
import { BACKEND_TIMEOUT } from '../patience.ts';
import { reset } from '../stage.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

const lines = fc.constantFrom(
  'GET /a HTTP/1.1',
  'POST /a HTTP/1.1',
  'GET /b?x=1 HTTP/1.1',
  'HEAD /a HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT a:1 HTTP/1.1',
  'GET http://h/a HTTP/1.1',
  'GET /a HTTP/1.0',
  'GET /a',
  'PRI * HTTP/2.0',
  'GET /%00 HTTP/1.1',
  'BREW /a HTTP/1.1',
);
const headers = fc.constantFrom(
  'Host: h',
  'Host: h',
  'Host: h',
  'Content-Length: 4',
  'Content-Length: 0',
  'Content-Length: 4, 4',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Expect: 100-continue',
  'Connection: close',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAARAAAAA',
  'TE: trailers',
  'X-A:',
  ' folded',
  'X\0: a',
  'Content-Type: application/json',
);
const bodies = fc.constantFrom(
  '',
  '',
  'body',
  '4\r\nbody\r\n0\r\n\r\n',
  '4\r\nbo',
  '0\r\nX: y\r\n\r\n',
  'GET /b HTTP/1.1\r\nHost: h\r\n\r\n',
);
const requests = fc
  .tuple(lines, fc.array(headers, { maxLength: 5 }), bodies)
  .map(([line, fields, body]) => `${line}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`);
const inputs = fc.record({
  requests: fc.array(requests, { minLength: 1, maxLength: 4 }),
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
  end: fc.constantFrom('end', 'reset', 'wait'),
});

/** Bytes of HTTP/1.1 clients. */
export const httpServer = defineTarget<Input>({
  name: 'http-server',
  law: 'Regardless of the bytes that a client sends and of how it disconnects, the gateway responds to the next client, and no request stays in flight.',
  boundMs: 200,
  rooms: ['kernel/server/'],
  isGuided: true,
  inputs,
  open,
});

interface Input {
  readonly requests: readonly string[];
  readonly cuts: readonly number[];
  readonly end: string;
}

async function open(): Promise<OpenTarget<Input>> {
  const backend = createServer((message, response) => {
    message.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{"ok":1}'));
    message.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => backend.once('listening', resolve));
  const host = [`http://127.0.0.1:${(backend.address() as AddressInfo).port}`];
  const endpoint = (method: 'GET' | 'POST', path: string, output_encoding: 'json' | 'no-op') => ({
    method,
    endpoint: path,
    output_encoding,
    input_query_strings: ['*'],
    input_headers: ['*'],
    backend: [{ host, url_pattern: path, method, ...(output_encoding === 'no-op' && { encoding: 'no-op' as const }) }],
  });
  const gateway = await createGateway(
    {
      version: 3,
      port: 0,
      listen_ip: '127.0.0.1',
      use_h2c: true,
      timeout: BACKEND_TIMEOUT,
      endpoints: [endpoint('GET', '/a', 'json'), endpoint('POST', '/a', 'no-op'), endpoint('GET', '/b', 'no-op')],
    },
    { sinks: silentSinks },
  );
  const { port } = await gateway.listen();
  return {
    async accept({ requests: list, cuts, end }) {
      await send(port, list.join(''), cuts, end);
      const { status } = await fetch(`http://127.0.0.1:${port}/a`);
      if (status !== 200) throw new Error(`the next client gets ${status}`);
      await eventually(
        () => gateway.status.calls === 0,
        () => `${gateway.status.calls} requests stay in flight`,
      );
    },
    async close() {
      await gateway.close();
      backend.closeAllConnections();
      backend.close();
    },
  };
}

/** Sends bytes in chunks, receives data for a moment, and disconnects. */
function send(port: number, text: string, cuts: readonly number[], end: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const leave = () => (end === 'reset' ? reset(socket) : socket.end());
    socket.on('error', () => {}).once('close', () => resolve());
    socket.resume().once('end', () => socket.end());
    const ends = [...new Set(cuts.map((at) => at % (text.length + 1))), text.length].sort((one, other) => one - other);
    let from = 0;
    const next = (): void => {
      const to = ends.shift();
      if (to === undefined) {
        if (end === 'wait') setTimeout(leave, 20);
        else leave();
        return;
      }
      socket.write(text.slice(from, to), 'latin1', () => setImmediate(next));
      from = to;
    };
    socket.once('connect', next);
    setTimeout(() => socket.destroy(), PATIENCE_MS).unref();
  });
}
