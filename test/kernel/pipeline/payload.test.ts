import { deepEqual, equal } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('gzip request bodies', () => {
  let backend: TestBackend;
  let gateway: Gateway;

  beforeEach(async () => {
    backend = await startBackend(json({}));
  });
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const send = async (payload: Buffer, proxy: object, backends: object[] = [{ url_pattern: '/' }]) => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/x', method: 'POST', extra_config: { proxy }, backend: backends }],
    });
    const headers = { 'content-encoding': 'gzip', 'content-type': 'text/x' };
    return gateway.inject({ method: 'POST', url: '/x', headers, payload });
  };

  it('are decompressed if configured, without a Content-Encoding afterwards', async () => {
    equal((await send(gzipSync('plain'), { decompress_gzip: true })).statusCode, 200);
    const [seen] = backend.requests;
    deepEqual(
      [seen!.body.toString(), seen!.headers['content-encoding'], seen!.headers['content-type']],
      ['plain', undefined, 'text/x'],
    );
  });

  it('are forwarded unchanged if not configured', async () => {
    const packed = gzipSync('plain');
    equal((await send(packed, {})).statusCode, 200);
    const [seen] = backend.requests;
    deepEqual(
      [seen!.body, seen!.headers['content-encoding'], seen!.headers['content-length']],
      [packed, 'gzip', String(packed.length)],
    );
  });

  it('are counted by their decompressed size', async () => {
    const response = await send(gzipSync('x'.repeat(1000)), { decompress_gzip: true, max_payload: 100 }, [
      { url_pattern: '/1' },
      { url_pattern: '/2' },
    ]);
    deepEqual([response.statusCode, response.body, backend.requests.length], [413, '', 0]);
  });

  it('that are invalid are answered with 400', async () => {
    const response = await send(Buffer.from('no gzip'), { decompress_gzip: true }, [
      { url_pattern: '/1' },
      { url_pattern: '/2' },
    ]);
    deepEqual([response.statusCode, response.body, backend.requests.length], [400, '', 0]);
  });

  it('that are invalid are answered with 400 by an endpoint with a single backend too', async () => {
    const response = await send(Buffer.from('no gzip'), { decompress_gzip: true });
    deepEqual([response.statusCode, response.body], [400, '']);
  });
});

describe('a request body of undeclared length above the limit', () => {
  it('is answered with 413 before any backend receives the request', async () => {
    const backend = await startBackend(json({}));
    const gateway = await startGateway({
      host: [backend.url],
      extra_config: { router: { max_payload: 10 } },
      endpoints: [{ endpoint: '/x', method: 'POST', backend: [{ url_pattern: '/' }] }],
    });
    const { port } = await gateway.listen();
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('more than ten bytes'));
        controller.close();
      },
    });
    const response = await fetch(`http://127.0.0.1:${port}/x`, {
      method: 'POST',
      body: chunks,
      duplex: 'half',
    } as RequestInit);
    equal(response.status, 413);
    equal(backend.requests.length, 0);
    await gateway.close();
    await backend.close();
  });
});
