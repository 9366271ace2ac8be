import { equal } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { Operations } from '#kernel';
import { requestFrames } from '../../../kernel/server/http2/h2c-frames.ts';
import { type Chance, chanceFrom } from '../../support/chance.ts';
import { until } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from './ask.ts';

const ROUNDS = 400;
const SEED = 20260711;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const SETTINGS = Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0);
/** Without a flow-control window, the body of every response waits. */
const NO_WINDOW = Buffer.of(0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0);
const HTTP2_ERRORS = [0, 2, 7, 8] as const;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Head of a request. @param open whether a body follows. */
function head(stream: number, method: string, path: string, headers: readonly string[], open: boolean): Buffer {
  const bytes = requestFrames({ method, path, authority: 'a.test', rawHeaders: headers });
  bytes.writeUInt32BE(stream, 5);
  if (open) bytes[4] = bytes[4]! & ~1;
  return bytes;
}

/** A request without a host name, which is rejected. */
const nameless = (stream: number): Buffer => frame(1, 5, stream, Buffer.of(0x82, 0x86, 0x84));
const reset = (stream: number, code: number): Buffer => frame(3, 0, stream, Buffer.of(0, 0, 0, code));
const data = (stream: number, last: boolean): Buffer => frame(0, last ? 1 : 0, stream, Buffer.from('hello'));

type Conversation = (stream: number) => readonly Buffer[];
const expecting = ['content-length', '10', 'expect', '100-continue'];
const conversations: readonly Conversation[] = [
  (stream) => [nameless(stream)],
  (stream) => [head(stream, 'GET', '/none', [], false)],
  (stream) => [head(stream, 'GET', '/large', [], false)],
  (stream) => [head(stream, 'HEAD', '/large', [], false)],
  (stream) => [head(stream, 'GET', '/packed', ['accept-encoding', 'gzip'], false)],
  (stream) => [head(stream, 'GET', '/large', ['content-length', 'x'], false)],
  (stream) => [head(stream, 'POST', '/merged', expecting, true), data(stream, false), data(stream, true)],
  (stream) => [head(stream, 'POST', '/none', expecting, true), data(stream, true)],
  (stream) => [head(stream, 'POST', '/large', ['content-length', '10'], true), data(stream, false), data(stream, true)],
];

/** One client with some requests. Each can be reset after any of its frames, and the connection can end after any byte. */
async function converse(port: number, chance: Chance): Promise<void> {
  const frames: Buffer[] = [PREFACE, chance.below(2) === 0 ? SETTINGS : NO_WINDOW];
  for (let stream = 1; stream <= 1 + 2 * chance.below(4); stream += 2) {
    const said = chance.pick(conversations)(stream);
    const kept = said.slice(0, 1 + chance.below(said.length));
    frames.push(...kept);
    if (chance.below(4) > 0) frames.push(reset(stream, chance.pick(HTTP2_ERRORS)));
  }
  const bytes = Buffer.concat(frames);
  const end = chance.below(3) === 0 ? chance.below(bytes.length) : bytes.length;
  const pause = chance.below(2) === 0 ? end : chance.below(end + 1);
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.resume();
  socket.write(bytes.subarray(0, pause));
  for (let turns = chance.below(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  socket.write(bytes.subarray(pause, end));
  for (let turns = chance.below(6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  chance.pick(farewells)(socket);
  await closed;
}

const farewells: readonly ((socket: Socket) => void)[] = [
  (socket) => void socket.resetAndDestroy(),
  (socket) => void socket.destroy(),
  (socket) => void socket.end(() => socket.destroy()),
];

describe('HTTP/2 clients that reset and disconnect at any moment', () => {
  const middleware = async (_context: unknown, next: () => Promise<unknown>): Promise<void> => void (await next());
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend((seen, response) => {
      response.writeHead(200, { 'Content-Type': seen.target === '/large' ? 'text/plain' : 'application/json' });
      response.end(seen.target === '/large' ? Buffer.alloc(200_000) : JSON.stringify({ a: 'a'.repeat(5000) }));
    });
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  for (const [where, service] of [
    ['without middleware', {}],
    ['behind Koa middleware', { middleware }],
    ['behind Koa middleware that reads replies', { middleware, readsReply: true }],
  ] as const) {
    it(`do not end the process or leave requests behind, ${where}`, async () => {
      const host = [backend.url];
      const raw = { output_encoding: 'no-op', backend: [{ url_pattern: '/large', encoding: 'no-op', host }] };
      gateway = await startPlugged(
        {
          use_h2c: true,
          extra_config: { test: {} },
          endpoints: [
            { endpoint: '/large', ...raw },
            { endpoint: '/large', method: 'POST', ...raw },
            { endpoint: '/packed', backend: [{ url_pattern: '/', host }] },
            {
              endpoint: '/merged',
              method: 'POST',
              backend: [
                { url_pattern: '/1', host },
                { url_pattern: '/2', host },
              ],
            },
          ],
        },
        { service },
      );
      const { port } = await gateway.listen();
      const chance = chanceFrom(SEED);
      for (let round = 0; round < ROUNDS; round += 8) {
        await Promise.all(Array.from({ length: 8 }, () => converse(port, chance)));
      }
      equal((await ask(port, 'GET /packed')).status, 200);
      await until(() => gateway.status.calls === 0 && gateway.status.streams === 0);
    });
  }
});
