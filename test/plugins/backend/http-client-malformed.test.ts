import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import type { Reply } from '#contract';
import { until } from '../../support/conditions.ts';
import { Bench, connectionFree, errorOf, send, textOf } from './http-client.ts';

const good = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const chunked = '2\r\nok\r\n0\r\n\r\n';

describe('backend/http/client with malformed responses', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  /** A server whose first response is malformed. It counts its connections. */
  async function broken(response: string, end: boolean) {
    const calls = { connections: 0, second: '' };
    const known = new Set<unknown>();
    const origin = await bench.serveRaw((socket) => {
      if (!known.has(socket)) calls.connections += 1;
      const first = known.size === 0;
      known.add(socket);
      socket.write(first ? response : good);
      if (first && end) socket.end();
    });
    return { origin, calls };
  }

  async function fails(reply: Reply): Promise<void> {
    if (reply.failed) match(errorOf(reply).code, /^BACKEND_(?:MALFORMED|RESET)$/);
    else await rejects(textOf(reply), { code: /^BACKEND_(?:MALFORMED|RESET)$/ });
  }

  for (const [what, response, end] of [
    ['has an unknown transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok', false],
    [
      'applies another coding after chunking',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunked}`,
      false,
    ],
    ['applies a coding before chunking', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, x\r\n\r\n${chunked}`, false],
    ['is chunked twice', `HTTP/1.1 200 OK\r\n${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n${chunked}`, false],
    ['has an empty Transfer-Encoding', `HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n${chunked}`, false],
    ['has a misspelled chunked coding', `HTTP/1.1 200 OK\r\nTransfer-Encoding: "chunked"\r\n\r\n${chunked}`, false],
    ['has the same Content-Length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok', false],
    ['has a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok', false],
    ['has an oversized Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 9007199254740993\r\n\r\nok', false],
    ['has a status of two digits', 'HTTP/1.1 20 X\r\nContent-Length: 2\r\n\r\nok', false],
    ['has a status below 100', 'HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nok', false],
    ['has a status above 599', 'HTTP/1.1 600 X\r\nContent-Length: 2\r\n\r\nok', false],
    ['is not HTTP', 'hello there, this is not HTTP\r\n\r\n', false],
    ['has an invalid chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nZZ\r\n', false],
    ['has chunks and a Content-Length', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${good.slice(17)}`, false],
    [
      'has a Content-Length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      false,
    ],
    ['has two Content-Lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok', false],
    ['has a negative Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok', false],
    ['has a line break in a header name', 'HTTP/1.1 200 OK\r\nX-\nA: 1\r\nContent-Length: 2\r\n\r\nok', false],
    ['has a zero byte in a header', 'HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nok', false],
    ['ends before its body does', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok', true],
    ['ends in the middle of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok', true],
    ['ends before its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n', true],
    ['ends within its headers', 'HTTP/1.1 200 OK\r\nContent-Le', true],
    ['has endless headers', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(2_000_000)}`, false],
    [
      'switches protocols without a request',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      false,
    ],
  ] as const) {
    it(`rejects a response that ${what}, and does not reuse its connection`, async () => {
      const { origin, calls } = await broken(response, end);
      const gate = await bench.client();
      await fails(await send(gate, { origin }));
      await connectionFree();
      equal(await textOf(await send(gate, { origin })), 'ok');
      equal(calls.connections, 2);
    });
  }

  for (const [what, rest] of [
    ['bytes', 'garbage'],
    ['a second response', 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'],
  ] as const) {
    it(`does not reuse a connection with ${what} after the response`, async () => {
      const { origin, calls } = await broken(good + rest, false);
      const gate = await bench.client();
      equal(await textOf(await send(gate, { origin })), 'ok');
      equal(await textOf(await send(gate, { origin })), 'ok');
      await connectionFree();
      equal(await textOf(await send(gate, { origin })), 'ok');
      equal(calls.connections > 1, true);
    });
  }

  it('ignores the body of a 204 instead of parsing it as the next response', async () => {
    const { origin } = await broken(
      'HTTP/1.1 204 No Content\r\nContent-Length: 44\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison',
      false,
    );
    const gate = await bench.client();
    equal((await send(gate, { origin })).status, 204);
    await connectionFree();
    equal(await textOf(await send(gate, { origin })), 'ok');
  });

  it('drops the Content-Length of a response that cannot have a body', async () => {
    for (const status of ['204 No Content', '205 Reset Content']) {
      const { origin } = await broken(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok`, false);
      const gate = await bench.client();
      const reply = await send(gate, { origin });
      deepEqual([reply.headers.list, await textOf(reply)], [['X-A', 'b'], '']);
      await connectionFree();
      equal(await textOf(await send(gate, { origin })), 'ok');
    }
  });

  it('closes a connection on which the body of a 205 never ends', async () => {
    let closed = false;
    const origin = await bench.serveRaw((socket) => {
      socket.once('close', () => {
        closed = true;
      });
      socket.write('HTTP/1.1 205 Reset Content\r\nContent-Length: 100\r\n\r\n');
    });
    equal((await send(await bench.client(), { origin })).status, 205);
    await until(() => closed);
  });

  it('ignores the body of a HEAD response instead of parsing it as the next response', async () => {
    const { origin } = await broken(
      `HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`,
      false,
    );
    const gate = await bench.client();
    equal((await send(gate, { origin, method: 'HEAD' })).status, 200);
    await connectionFree();
    equal(await textOf(await send(gate, { origin })), 'ok');
  });

  it('reads a body that is delimited by the end of the connection', async () => {
    const { origin } = await broken('HTTP/1.1 200 OK\r\n\r\nall of it', true);
    equal(await textOf(await send(await bench.client(), { origin })), 'all of it');
  });
});
