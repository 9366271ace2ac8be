import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Operations } from '#kernel';
import { isLong } from '../../support/budget.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { normalize } from '../../support/known.ts';
import { openRaw, type RawClient } from './raw.ts';

/** Time in which a limit of 10 seconds must have closed a connection, on a busy machine. */
const LATEST_MS = 25_000;

describe('a gateway with default limits', function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  const clients: RawClient[] = [];

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
    const endpoint = (path: string, more: object = {}) => ({
      endpoint: path,
      method: 'POST',
      backend: [{ host: [backend.url], url_pattern: '/' }],
      ...more,
    });
    const extractor = { 'validation/json-schema': { type: 'object' } };
    gateway = await startGateway({
      use_h2c: true,
      endpoints: [endpoint('/parsed', { extra_config: extractor }), endpoint('/passing', { output_encoding: 'no-op' })],
    });
    ({ port } = await gateway.listen());
  });
  after(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await gateway.close();
    await backend.close();
  });

  const open = async (): Promise<RawClient> => {
    const client = await openRaw(port);
    clients.push(client);
    return client;
  };

  it('closes connections without data or with slow headers after 10 seconds', async () => {
    const begun = performance.now();
    const [silent, slow] = [await open(), await open()];
    slow.write('GET / HTTP/1.1\r\nHost: a\r\n');
    const drip = setInterval(() => slow.write('X-More: a\r\n'), 500);
    const [first, second] = await Promise.all([silent.ended(), slow.ended()]).finally(() => clearInterval(drip));
    const took = performance.now() - begun;
    equal(first, '');
    match(second, /^(?:HTTP\/1\.1 408 .*)?/);
    ok(took >= 9_000 && took < LATEST_MS, `${took} ms`);
  });

  if (isLong) {
    it('closes idle connections after 2 minutes', async () => {
      const client = await open();
      client.write('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until((received) => received.includes('404'));
      const begun = performance.now();
      await client.ended();
      const took = performance.now() - begun;
      ok(took >= 110_000 && took < 150_000, `${took} ms`);
    }).timeout(180_000);
  }

  it('rejects headers of more than 1 MB with 431', async () => {
    const client = await open();
    client.write(`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(1_000_000)}\r\n\r\n`);
    match(await client.ended(), /^HTTP\/1\.1 431 /);
  });

  it('rejects bodies of more than 1 MiB with 413 where a component parses them', async () => {
    const body = JSON.stringify({ a: 'b'.repeat(1024 * 1024) });
    const send = async (path: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    deepEqual([await send('/parsed'), await send('/passing')], [413, 200]);
  });

  it('announces a header limit of 1 MB to HTTP/2 clients', async () => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const [settings] = (await once(session, 'remoteSettings')) as [{ maxHeaderListSize?: number }];
    session.destroy();
    equal(settings.maxHeaderListSize, 1_000_000);
  });

  it('accepts 20,000 connections, and 100,000 requests on each', () => {
    const { config } = normalize({ version: 3 });
    deepEqual([config.max_connections, config.max_requests_per_connection], [20_000, 100_000]);
  });
});
