import { deepEqual, equal, match } from 'node:assert/strict';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openRaw, sendRaw, statusesOf } from './raw.ts';

const get = 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const told = 'HTTP/1.1 100 Continue\r\n\r\n';

describe('a client that waits to be told to go on', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    backend = await startBackend(json({}));
    const several = [{ url_pattern: '/1' }, { url_pattern: '/2' }];
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/' }] },
        { endpoint: '/whole', method: 'POST', backend: several },
        { endpoint: '/pass', method: 'POST', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
        { endpoint: '/small', method: 'POST', backend: several, extra_config: { proxy: { max_payload: 10 } } },
      ],
    });
    ({ port } = await gateway.listen());
  });
  beforeEach(() => {
    (backend.requests as unknown[]).length = 0;
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

  for (const [name, path] of [
    ['is read', '/whole'],
    ['streams through', '/pass'],
  ] as const) {
    it(`is told so when its body ${name}`, async () => {
      const client = await openRaw(port);
      client.write(head(path, 5));
      await client.until((received) => received === told);
      client.write(`hello${get}`);
      deepEqual(statusesOf(await client.ended()), [100, 200, 200]);
      const [seen] = backend.requests;
      deepEqual([seen!.body.toString(), seen!.headers.expect], ['hello', undefined]);
    });
  }

  for (const [name, path, length, status] of [
    ['there is no endpoint', '/none', 5, 404],
    ['the declared length is over the limit', '/small', 11, 413],
  ] as const) {
    it(`is refused instead when ${name}, and its connection ends`, async () => {
      const received = await sendRaw(port, head(path, length));
      deepEqual(statusesOf(received), [status]);
      match(received, /\r\nConnection: close\r\n/i);
      equal(backend.requests.length, 0);
    });
  }
});
