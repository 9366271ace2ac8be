import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { atService, type Catalogue, definePlugin } from '#contract';
import { startGateway } from '../../../kernel/index.ts';
import type { Sample, SampleBatch, Skipped } from '../../../kernel/server/exchange/sample.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { until } from '../../support/conditions.ts';
import { json, type SeenRequest, startBackend, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { ask as askHttp2, Secure } from './secure.ts';

type Running = Awaited<ReturnType<typeof startGateway>>;

/** A catalog with Koa middleware that sets a header on each response. */
const layered: Catalogue = {
  ...catalogue,
  plugins: {
    ...catalogue.plugins,
    'acme/layer': async () => ({
      plugin: definePlugin({
        name: 'acme/layer',
        description: 'Sets a header.',
        places: [
          atService({ type: 'object', properties: {} }, () => ({
            readsReply: true,
            middleware: async (context, next) => {
              await next();
              context.set('X-Layer', '1');
            },
          })),
        ],
      }),
    }),
  },
};

describe('samples of requests', () => {
  let backend: TestBackend;
  let gateway: Running;
  let port: number;
  let answer: (seen: SeenRequest, response: ServerResponse) => void;
  let samples: Sample[];
  let skipped: Record<keyof Skipped, number>;

  before(async () => {
    backend = await startBackend((seen, response) => answer(seen, response));
  });
  beforeEach(() => {
    answer = json({ a: 1 });
    samples = [];
    skipped = { busy: 0, incomplete: 0, unsuitable: 0 };
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  const start = async (more: object = {}, extra: object = {}): Promise<void> => {
    const config = {
      version: 3 as const,
      timeout: '20s',
      host: [backend.url],
      endpoints: [
        { endpoint: '/x', input_query_strings: ['*'], backend: [{ url_pattern: '/' }] },
        { endpoint: '/x', method: 'POST', backend: [{ url_pattern: '/' }] },
        { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
      ],
      extra_config: extra,
      ...more,
    };
    gateway = await startGateway(layered, config, { port: 0, sinks: silentSinks });
    ({ port } = await gateway.listen());
  };
  const note = ({ sample, skipped: counts }: SampleBatch): void => {
    if (sample) samples.push(sample);
    for (const reason of ['busy', 'incomplete', 'unsuitable'] as const) skipped[reason] += counts[reason];
  };
  const sample = (settle: () => Promise<void> = async () => {}): void =>
    gateway.processes.sample({
      rate: 1,
      receive(batch) {
        note(batch);
        return settle();
      },
    });
  const sampled = async (count = 1): Promise<Sample> => {
    await until(() => samples.length >= count);
    return samples[count - 1]!;
  };

  it('contain the request as received and the response as sent', async () => {
    await start();
    sample();
    await ask(port, 'GET /x?b=%20', { headers: { 'X-Id': ['1', '2'] } });
    const { revision, request, response } = await sampled();
    deepEqual([revision, request.method, request.url], [1, 'GET', '/x?b=%20']);
    deepEqual(request.headers.slice(0, 4), ['X-Id', '1', 'X-Id', '2']);
    deepEqual([request.address, request.isEncrypted], ['127.0.0.1', false]);
    equal(response.status, 200);
    deepEqual(
      response.headers.find(([name]) => name === 'content-type'),
      ['content-type', 'application/json; charset=utf-8'],
    );
    equal(Buffer.from(response.body!).toString(), '{"a":1}');
  });

  it('contain compressed and streamed bodies as sent', async () => {
    const large = { text: 'a'.repeat(5000) };
    answer = json(large);
    await start();
    sample();
    await ask(port, 'GET /x', { headers: { 'accept-encoding': 'gzip' } });
    const { body } = (await sampled()).response;
    deepEqual(JSON.parse(gunzipSync(body!).toString()), large);
    answer = (_seen, response) => {
      response.write('one ');
      setImmediate(() => response.end('two'));
    };
    await ask(port, 'GET /raw');
    equal(Buffer.from((await sampled(2)).response.body!).toString(), 'one two');
  });

  it('contain headers that Koa middleware sets', async () => {
    await start({}, { 'acme/layer': {} });
    sample();
    await ask(port, 'GET /x');
    const { response } = await sampled();
    ok(response.headers.some(([name, value]) => name === 'x-layer' && value === '1'));
    equal(Buffer.from(response.body!).toString(), '{"a":1}');
  });

  it('are taken of HTTP/2 requests', async () => {
    await start({ use_h2c: true });
    sample();
    const secure = new Secure();
    try {
      await askHttp2(secure.session(port, 'http'), { ':path': '/x' });
      const { request, response } = await sampled();
      deepEqual([request.url, request.headers[0]], ['/x', 'host']);
      equal(Buffer.from(response.body!).toString(), '{"a":1}');
    } finally {
      await secure.close();
      secure.made.remove();
    }
  });

  it('omit bodies above 256 KiB', async () => {
    answer = json({ text: 'a'.repeat(300_000) });
    await start();
    sample();
    await ask(port, 'GET /x', { headers: { 'accept-encoding': 'identity' } });
    equal((await sampled()).response.body, null);
  });

  it('are taken of GET and HEAD requests without a body only', async () => {
    await start();
    sample();
    await ask(port, 'POST /x', { body: '{}' });
    await ask(port, 'GET /x', { body: '{}', headers: { 'content-length': '2' } });
    await ask(port, 'HEAD /x');
    const { request, response } = await sampled();
    deepEqual([request.method, response.body?.length], ['HEAD', 0]);
    equal(samples.length, 1);
    equal(skipped.unsuitable, 1);
  });

  it('are not taken of event streams', async () => {
    answer = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n');
    };
    await start();
    sample();
    await ask(port, 'GET /raw');
    await until(() => skipped.unsuitable === 1);
    deepEqual(samples, []);
  });

  it('are not taken of responses that the client does not wait for', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = () => resolve();
    await start();
    sample();
    const leaving = new AbortController();
    const request = fetch(`http://127.0.0.1:${port}/x`, { signal: leaving.signal }).catch(() => null);
    await promise;
    leaving.abort();
    await request;
    await until(() => skipped.incomplete === 1);
    deepEqual(samples, []);
  });

  it('are limited to 64 whose receiver has not finished', async () => {
    await start();
    const { promise, resolve } = Promise.withResolvers<void>();
    sample(() => promise);
    for (let at = 0; at < 70; at++) await ask(port, 'GET /x');
    await until(() => skipped.busy === 6);
    equal(samples.length, 64);
    resolve();
    await ask(port, 'GET /x');
    await sampled(65);
  });

  it('continue after a receiver has failed', async () => {
    await start();
    sample(() => Promise.reject(new Error('no')));
    for (let at = 0; at < 70; at++) await ask(port, 'GET /x');
    await sampled(70);
    equal(skipped.busy, 0);
  });

  it('end with the order, also for requests in progress', async () => {
    const responses: ServerResponse[] = [];
    answer = (_seen, response) => void responses.push(response);
    await start();
    sample();
    const pending = ask(port, 'GET /x');
    await until(() => responses.length === 1);
    gateway.processes.sample(null);
    json({ a: 1 })(undefined as never, responses[0]!);
    equal((await pending).status, 200);
    answer = json({ a: 1 });
    await ask(port, 'GET /x');
    deepEqual([samples, skipped], [[], { busy: 0, incomplete: 0, unsuitable: 0 }]);
  });
});
