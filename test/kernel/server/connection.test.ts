import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openRaw, sendRaw, statusesOf } from './raw.ts';

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const last = 'Connection: close\r\n';

describe('an HTTP/1.1 connection', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  /** Delayed responses of the backend. */
  let held: ServerResponse[];
  let wake: () => void;

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/hold')) {
        held.push(response);
        wake();
      } else json({ at: seen.target })(seen, response);
    });
    const several = [{ url_pattern: '/1' }, { url_pattern: '/2' }];
    gateway = await startGateway({
      host: [backend.url],
      timeout: '60s',
      extra_config: { router: { max_payload: 1_000_000 } },
      endpoints: [
        { endpoint: '/v/{id}', backend: [{ url_pattern: '/{id}' }] },
        { endpoint: '/hold/{id}', backend: [{ url_pattern: '/hold/{id}' }] },
        { endpoint: '/body', method: 'POST', backend: several },
        { endpoint: '/pass', method: 'POST', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
        {
          endpoint: '/small',
          method: 'POST',
          backend: several,
          extra_config: { proxy: { max_payload: 10 } },
        },
        {
          endpoint: '/hold',
          method: 'POST',
          output_encoding: 'no-op',
          backend: [{ url_pattern: '/hold' }],
        },
        {
          endpoint: '/dead',
          method: 'POST',
          output_encoding: 'no-op',
          backend: [{ url_pattern: '/', host: ['http://127.0.0.1:1'] }],
        },
      ],
    });
    ({ port } = await gateway.listen());
  });

  beforeEach(() => {
    held = [];
    wake = () => {};
    (backend.requests as unknown[]).length = 0;
  });

  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const targets = () => backend.requests.map(({ target }) => target);
  const holding = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        if (held.length >= count) resolve();
      };
      wake();
    });

  describe('with pipelined requests', () => {
    it('answers them in order', async () => {
      const client = await openRaw(port);
      client.write(get('/hold/1') + get('/v/2') + get('/v/3', last));
      await holding(1);
      deepEqual(targets(), ['/hold/1']);
      held[0]!.end('{"at":"held"}');
      const received = await client.ended();
      deepEqual(statusesOf(received), [200, 200, 200]);
      match(received, /held.*\/2.*\/3/s);
      deepEqual(targets(), ['/hold/1', '/2', '/3']);
    });

    it('runs no request after one that closes the connection', async () => {
      const received = await sendRaw(port, get('/v/1', last) + get('/v/2'));
      deepEqual([statusesOf(received), targets()], [[200], ['/1']]);
    });

    it('answers the requests before a malformed one, and rejects the malformed one', async () => {
      const client = await openRaw(port);
      client.write(`${get('/hold/1')}${get('/v/2')}BROKEN\r\n\r\n${get('/v/3')}`);
      await holding(1);
      equal(client.received, '');
      held[0]!.end('{}');
      deepEqual(statusesOf(await client.ended()), [200, 200, 400]);
      deepEqual(targets(), ['/hold/1', '/2']);
    });

    it('answers the requests before one with ambiguous framing, and runs none after it', async () => {
      const ambiguous = get('/v/2', 'Host: b\r\n');
      deepEqual(statusesOf(await sendRaw(port, get('/v/1') + ambiguous + get('/v/3'))), [200, 400]);
      deepEqual(targets(), ['/1']);
    });

    it('runs no request after a body that was rejected unread', async () => {
      const head = 'POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n';
      const client = await openRaw(port);
      client.write(head);
      client.write(`${'x'.repeat(900_000)}${get('/v/1')}`);
      deepEqual([statusesOf(await client.ended()), targets()], [[413], []]);
    });

    it('accepts at most 100 waiting requests', async () => {
      const client = await openRaw(port);
      client.write(get('/hold/1') + get('/v/w').repeat(150));
      await holding(1);
      held[0]!.end('{}');
      const statuses = statusesOf(await client.ended());
      deepEqual([statuses.length, statuses.at(-1)], [102, 503]);
      ok(statuses.slice(0, -1).every((status) => status === 200));
      equal(targets().length, 101);
    });
  });

  describe('with an unread body', () => {
    it('stays open if the rest is short', async () => {
      const client = await openRaw(port);
      client.write('POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
      await client.until((received) => statusesOf(received).length === 1);
      client.write(`hello${get('/v/1', last)}`);
      deepEqual(statusesOf(await client.ended()), [404, 200]);
    });

    it('stays open if the rest is short and chunked', async () => {
      const client = await openRaw(port);
      client.write(`POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
      await client.until((received) => statusesOf(received).length === 1);
      client.write(`0\r\n\r\n${get('/v/1', last)}`);
      deepEqual(statusesOf(await client.ended()), [404, 200]);
    });

    it('is closed after the response if the rest is long', async () => {
      const client = await openRaw(port);
      client.write('POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n');
      const received = await client.ended();
      deepEqual(statusesOf(received), [404]);
      match(received, /\r\nConnection: close\r\n/i);
    });

    it('is closed if the chunks never end, without buffering them', async () => {
      const client = await openRaw(port);
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      client.write('POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      let written = 0;
      const feed = (): void => {
        while (!client.socket.destroyed && client.socket.writable && written < 1_000) {
          written++;
          if (!client.socket.write(chunk)) break;
        }
      };
      client.socket.on('drain', feed);
      feed();
      deepEqual(statusesOf(await client.ended()), [404]);
      ok(written < 1_000, `${written} chunks were taken`);
      equal(gateway.status.calls, 0);
    });

    it('delivers the error response if the backend cannot be reached', async () => {
      const client = await openRaw(port);
      client.write('POST /dead HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf');
      await client.until((received) => statusesOf(received).length === 1);
      deepEqual(statusesOf(client.received), [500]);
      client.write(`${'x'.repeat(99_996)}${get('/v/1', last)}`);
      deepEqual(statusesOf(await client.ended()), [500, 200]);
    });
  });

  describe('with a body above the limit', () => {
    it('is rejected if the length is declared', async () => {
      const received = await sendRaw(port, `POST /small HTTP/1.1\r\nHost: a\r\n${last}Content-Length: 11\r\n\r\n`);
      deepEqual([statusesOf(received), targets()], [[413], []]);
    });

    it('is rejected as soon as the chunks exceed the limit, and can be reused', async () => {
      const client = await openRaw(port);
      client.write('POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n');
      await client.until((received) => statusesOf(received).length === 1);
      client.write(`0\r\n\r\n${get('/v/1', last)}`);
      deepEqual(statusesOf(await client.ended()), [413, 200]);
      deepEqual(targets(), ['/1']);
    });
  });

  it('does not treat trailers as headers', async () => {
    const body = '5\r\nhello\r\n0\r\nContent-Type: text/evil\r\nX-Trailer: y\r\n\r\n';
    const client = await openRaw(port);
    client.write(`POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${last}\r\n${body}`);
    deepEqual(statusesOf(await client.ended()), [200]);
    const [seen] = backend.requests;
    deepEqual(
      [seen!.body.toString(), seen!.headers['content-type'], seen!.headers['x-trailer']],
      ['hello', undefined, undefined],
    );
  });

  it('passes on a large number of headers', async () => {
    const names = Array.from({ length: 900 }, (_none, index) => `x-h${index}`);
    const all = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/all', input_headers: ['*'], backend: [{ url_pattern: '/v' }] }],
    });
    try {
      const { port: own } = await all.listen();
      const received = await sendRaw(own, get('/all', names.map((name) => `${name}: 1\r\n`).join('') + last));
      deepEqual(statusesOf(received), [200]);
      const { rawHeaders } = backend.requests[0]!;
      const seen = new Set(rawHeaders.map((name) => name.toLowerCase()));
      deepEqual(
        names.filter((name) => !seen.has(name)),
        [],
      );
    } finally {
      await all.close();
    }
  });

  it('accepts a header of 900 kB', async () => {
    const received = await sendRaw(port, get('/v/1', `X: ${'x'.repeat(900_000)}\r\n${last}`));
    deepEqual(statusesOf(received), [200]);
  });

  it('serves HTTP/1.0, and closes the connection without Connection: keep-alive', async () => {
    const received = await sendRaw(port, 'GET /v/1 HTTP/1.0\r\n\r\n');
    deepEqual(statusesOf(received), [200]);
    const client = await openRaw(port);
    client.write('GET /v/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    await client.until((text) => statusesOf(text).length === 1);
    client.write('GET /v/2 HTTP/1.0\r\n\r\n');
    deepEqual(statusesOf(await client.ended()), [200, 200]);
  });

  it('accepts empty lines before a request', async () => {
    deepEqual(statusesOf(await sendRaw(port, `\r\n\r\n${get('/v/1', last)}`)), [200]);
  });

  it('accepts an absolute target, which determines the host', async () => {
    deepEqual(statusesOf(await sendRaw(port, get('http://real.test:81/v/1?a=b', last))), [200]);
    deepEqual([targets(), backend.requests[0]!.headers['x-forwarded-host']], [['/1'], 'real.test:81']);
  });

  it('cancels the backend request when the client disconnects', async () => {
    const client = await openRaw(port);
    client.write(get('/hold/1'));
    await holding(1);
    client.socket.destroy();
    await once(held[0]!, 'close');
    equal(held[0]!.writableFinished, false);
  });

  it('survives a client that disconnects in the middle of its request body', async () => {
    const client = await openRaw(port);
    client.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
    const other = await openRaw(port);
    other.write(get('/hold/2'));
    await holding(1);
    client.socket.destroy();
    held[0]!.end('{}');
    await other.until((received) => statusesOf(received).length === 1);
    other.socket.destroy();
    deepEqual(targets(), ['/hold/2']);
  });
});
