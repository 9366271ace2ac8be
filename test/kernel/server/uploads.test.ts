import { equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Gateway } from '../../../kernel/sluice.ts';
import { until } from '../../support/conditions.ts';
import { json, type TestBackend } from '../../support/gateway.ts';
import { openRaw, type RawClient, statusesOf } from './raw.ts';
import { ask, Secure } from './secure.ts';

const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')]);
/** Number of bytes that exceeds the system's buffers between two ends of a local connection. */
const IN_FLIGHT_BYTES = 32 * 1024 * 1024;

/** Writes as long as the other end accepts data. @returns the number of bytes. */
async function writeOnAndOn(to: Writable, bytes: Uint8Array): Promise<number> {
  let written = 0;
  const over = new AbortController();
  to.once('close', () => over.abort());
  while (to.writable) {
    written += bytes.length;
    if (!to.write(bytes)) await once(to, 'drain', { signal: over.signal }).catch(() => {});
  }
  return written;
}

describe('an upload that never ends', () => {
  let secure: Secure;
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    secure = new Secure();
    backend = await secure.backend(json({}));
    const several = [{ url_pattern: '/1' }, { url_pattern: '/2' }];
    const schema = { 'validation/json-schema': { type: 'object' } };
    const limit = { proxy: { max_payload: 1e12, decompress_gzip: true } };
    ({ gateway, port } = await secure.listen({
      host: [backend.url],
      timeout: '50ms',
      extra_config: { router: { max_payload: 0 } },
      use_h2c: true,
      endpoints: [
        { endpoint: '/several', method: 'POST', backend: several },
        { endpoint: '/schema', method: 'POST', extra_config: schema, backend: [{ url_pattern: '/' }] },
        { endpoint: '/measured', method: 'POST', extra_config: limit, backend: [{ url_pattern: '/' }] },
        { endpoint: '/ok', timeout: '60s', backend: [{ url_pattern: '/' }] },
      ],
    }));
  });
  beforeEach(() => {
    (backend.requests as unknown[]).length = 0;
  });
  after(async () => {
    await secure.close();
    secure.made.remove();
  });

  const post = async (path: string, headers = ''): Promise<RawClient> => {
    const client = await openRaw(port);
    client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`);
    return client;
  };

  for (const path of ['/several', '/schema', '/measured']) {
    it(`to ${path} is answered at the deadline, and its connection is closed`, async () => {
      const client = await post(path);
      const written = writeOnAndOn(client.socket, CHUNK);
      await client.until((received) => statusesOf(received).length === 1);
      const before = client.socket.bytesWritten;
      equal(statusesOf(await client.ended())[0], 500);
      ok((await written) - before < IN_FLIGHT_BYTES);
      equal(gateway.status.calls, 0);
      equal(backend.requests.length, 0);
    });

    it(`to ${path} over HTTP/2 is answered at the deadline, and its stream is closed`, async () => {
      const session = secure.session(port, 'http');
      const stream = session.request({ ':path': path, ':method': 'POST' });
      stream.on('error', () => {});
      void writeOnAndOn(stream, CHUNK);
      const [{ ':status': status }] = (await once(stream, 'response')) as [{ ':status': number }];
      equal(status, 500);
      await until(() => stream.closed);
      stream.destroy();
      equal((await ask(session, { ':path': '/ok' })).headers[':status'], 200);
      equal(backend.requests.length, 1);
    });
  }

  it('in gzip is answered at the deadline, and its connection is closed', async () => {
    const client = await post('/measured', 'Content-Encoding: gzip\r\n');
    const gzip = createGzip({ level: 0 });
    gzip.on('data', (bytes: Buffer) => {
      client.write(`${bytes.length.toString(16)}\r\n`);
      client.write(bytes);
      client.write('\r\n');
      if (client.socket.writableNeedDrain) {
        gzip.pause();
        client.socket.once('drain', () => gzip.resume());
      }
    });
    client.socket.once('close', () => gzip.destroy());
    void writeOnAndOn(gzip, CHUNK);
    match(await client.ended(), /^HTTP\/1\.1 500 /);
    equal(backend.requests.length, 0);
  });

  it('that ends soon after the response keeps its connection open for the next request', async () => {
    const client = await post('/several');
    client.write(CHUNK);
    await client.until((received) => statusesOf(received).length === 1);
    client.write(CHUNK);
    client.write('0\r\n\r\nGET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    equal(statusesOf(await client.ended())[1], 200);
  });
});
