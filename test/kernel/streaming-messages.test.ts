import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { getKey, type MessageHook, Reply } from '#contract';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../kernel/contract/internal.ts';
import { frame } from '../plugins/encoding/frames.ts';
import { type Answering, rememberingSinks, startBackend, type TestBackend } from '../support/gateway.ts';
import { type Acts, startPlugged } from '../support/plugged.ts';
import { eventually, openStream, type StreamedResponse } from '../support/stream-client.ts';

const json = { ':content-type': 'application/json' };

/** Drops messages of level debug. */
const noDebug: MessageHook = (data) => (getKey(data, 'level') === 'debug' ? null : data);

const note =
  (mark: string): MessageHook =>
  (data) => ({ ...data, seen: `${getKey(data, 'seen') ?? ''}${mark}` });

const hooked: Acts = {
  endpoint: {
    noDebug: { readsData: true, message: noDebug },
    mark: { message: note('E') },
    reader: { readsData: true },
  },
  backend: {
    noDebug: { readsData: true, message: noDebug },
    mark: { message: note('B') },
    path: { message: (data, request, call) => ({ ...data, path: request.client.path, left: call.remainingMs > 0 }) },
    fails: {
      message: (data) => {
        if (getKey(data, 'bad') !== undefined) throw new Error('cannot work on that');
        return data;
      },
    },
    queue: { protocol: { call: () => Reply.data({}) } },
  },
};

describe('messages of a stream', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  let lines: readonly string[];
  let respond: Answering;

  const endpoint = (output: string, more: object = {}, backendMore: object = {}) => ({
    host: [backend.url],
    endpoints: [{ endpoint: '/s', output_encoding: output, ...more, backend: [{ url_pattern: '/', ...backendMore }] }],
  });

  const start = async (config: object): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startPlugged(config, hooked, { sinks });
    ({ port } = await gateway.listen());
  };

  /** The stream as the client receives it. */
  const through = async (
    config: object,
    body: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<StreamedResponse & { clean: boolean }> => {
    respond = (_seen, response) => response.writeHead(200, headers).end(body);
    await start(config);
    const client = await openStream(port, '/s');
    return Object.assign(client, { clean: await client.ended() });
  };

  const codesOf = async (config: object): Promise<string[]> => {
    let codes: string[] = [];
    await rejects(startPlugged(config, hooked), (error: ConfigErrors) => {
      ok(error instanceof ConfigErrors);
      codes = error.errors.map(({ code, pointer }) => `${pointer} ${code}`);
      return true;
    });
    return codes;
  };

  beforeEach(async () => {
    backend = await startBackend((seen, response) => respond(seen, response));
  });

  afterEach(async () => {
    await backend.close();
    await gateway?.close();
  });

  it('are filtered by the backend’s deny list', async () => {
    const client = await through(
      endpoint('sse', {}, { deny: ['secret'] }),
      'data: {"a":1,"secret":2}\n\ndata: [DONE]\n\n: ping\n\n',
    );
    equal(client.bytes.toString(), 'data: {"a":1}\n\ndata: [DONE]\n\n: ping\n\n');
  });

  it('are shaped by target, allow, mapping and group', async () => {
    const shaping = { target: 'd', allow: ['a', 'b.c'], mapping: { a: 'x' }, group: 'g' };
    const client = await through(endpoint('ndjson', {}, shaping), '{"d":{"a":1,"b":{"c":2,"e":3}},"z":1}\n[1]\n');
    equal(client.bytes.toString(), '{"g":{"x":1,"b":{"c":2}}}\n[1]\n');
    await gateway.close();
    const framed = await through(endpoint('eventstream', {}, { group: 'g' }), frame(json, '{"a":1}'));
    deepEqual(framed.bytes, frame(json, '{"g":{"a":1}}'));
  });

  it('arrive in order, regardless of the backend’s chunks', async () => {
    const segments = ['{"n":1}\n{"n":2}\n{"n"', ':3}\n'];
    let source: ServerResponse | undefined;
    respond = (_seen, response) => {
      response.write(segments[0]);
      source = response;
    };
    await start(endpoint('ndjson'));
    const client = await openStream(port, '/s');
    await client.until('{"n":2}\n');
    source!.end(segments[1]);
    equal(await client.ended(), true);
    equal(client.bytes.toString(), '{"n":1}\n{"n":2}\n{"n":3}\n');
  });

  it('can be dropped by components of the backend and the endpoint', async () => {
    const stream = 'data: {"level":"debug","n":1}\n\ndata: {"level":"info","n":2}\n\ndata: x\n\n';
    const act = { extra_config: { test: { act: 'noDebug' } } };
    for (const config of [endpoint('sse', act), endpoint('sse', {}, act)]) {
      const client = await through(config, stream);
      equal(client.bytes.toString(), 'data: {"level":"info","n":2}\n\ndata: x\n\n');
      await gateway.close();
    }
  });

  it('are shaped before components see them, first the backend’s, then the endpoint’s', async () => {
    const act = { extra_config: { test: { act: 'mark' } } };
    const client = await through(endpoint('ndjson', act, { ...act, group: 'g' }), '{"a":1}\n');
    equal(client.bytes.toString(), '{"g":{"a":1},"seen":"BE"}\n');
  });

  it('are passed to components with their request and call', async () => {
    const act = { extra_config: { test: { act: 'path' } } };
    const client = await through(endpoint('ndjson', {}, act), '{"a":1}\n');
    equal(client.bytes.toString(), '{"a":1,"path":"/s","left":true}\n');
  });

  it('are dropped if a component fails on them, with one warning', async () => {
    const act = { extra_config: { test: { act: 'fails' } } };
    const client = await through(endpoint('sse', {}, act), 'data: {"bad":1}\n\ndata: {"a":1}\n\ndata: {"bad":2}\n\n');
    equal(client.bytes.toString(), 'data: {"a":1}\n\n');
    equal(client.clean, true);
    equal(lines.filter((line) => line.includes('WARNING') && line.includes('cannot work on that')).length, 1);
  });

  it('cause a warning if the response contains none, such as a JSON response', async () => {
    const warnings = () => lines.filter((line) => line.includes('the response contains no message')).length;
    await through(endpoint('sse'), '{"a":1}', { 'Content-Type': 'application/json' });
    equal(warnings(), 1);
    ok(
      lines.some((line) => line.includes('its Content-Type is application/json, but it is read as text/event-stream')),
    );
    for (const [config, body] of [
      [endpoint('sse'), ''],
      [endpoint('sse'), ': ping\n\n'],
      [endpoint('sse', {}, { allow: ['b'] }), 'data: {"a":1}\n\n'],
      [endpoint('ndjson'), '{"a":1}'],
    ] as const) {
      await gateway.close();
      await through(config, body, { 'Content-Type': 'application/json' });
      equal(warnings(), 0, body);
    }
  });

  it('keep the digits of their numbers', async () => {
    const client = await through(endpoint('sse', {}, { deny: ['x'] }), 'data: {"n":9007199254740993,"x":1}\n\n');
    equal(client.bytes.toString(), 'data: {"n":9007199254740993}\n\n');
  });

  it('are sent with their content type, without caching and buffering', async () => {
    const types = {
      sse: 'text/event-stream',
      ndjson: 'application/x-ndjson',
      eventstream: 'application/vnd.amazon.eventstream',
    };
    for (const [output, type] of Object.entries(types)) {
      const client = await through(endpoint(output), '', { 'Content-Type': 'text/plain', ETag: '"x"' });
      const { headers } = client;
      deepEqual(
        [headers['content-type'], headers['cache-control'], headers['x-accel-buffering'], headers.etag],
        [type, 'no-cache', 'no', undefined],
      );
      await gateway.close();
    }
  });

  it('keep the backend’s own headers about caching and buffering', async () => {
    const own = { 'Cache-Control': 'private', 'X-Accel-Buffering': 'yes' };
    const { headers } = await through(endpoint('sse'), '', own);
    deepEqual([headers['cache-control'], headers['x-accel-buffering']], ['private', 'yes']);
  });

  it('are requested uncompressed, regardless of what the client accepts', async () => {
    await through(endpoint('sse', { input_headers: ['Accept-Encoding'] }), '');
    equal(backend.requests[0]!.headers['accept-encoding'], 'identity');
  });

  it('are decompressed if the backend compresses them anyway', async () => {
    const stream = 'data: {"a":1,"secret":2}\n\n'.repeat(5000);
    const packings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [name, pack] of Object.entries(packings)) {
      const client = await through(endpoint('sse', {}, { deny: ['secret'] }), pack(stream), {
        'Content-Encoding': name,
      });
      equal(client.headers['content-encoding'], undefined);
      equal(client.bytes.toString(), 'data: {"a":1}\n\n'.repeat(5000));
      await gateway.close();
    }
  });

  it('end with an error if they cannot be decompressed', async () => {
    for (const body of [Buffer.from('nonsense'), gzipSync('data: 1\n\n').subarray(0, -4)]) {
      equal((await through(endpoint('sse'), body, { 'Content-Encoding': 'gzip' })).clean, false);
      await eventually(() => lines.some((line) => /ERROR.*body is not valid gzip/.test(line)));
      await gateway.close();
    }
  });

  it('fail with 500 if their compression is unknown', async () => {
    const client = await through(endpoint('sse'), 'x', { 'Content-Encoding': 'secret' });
    deepEqual([client.status, client.bytes.length], [500, 0]);
  });

  it('end with an error at invalid framing, whose place is logged', async () => {
    const bad = frame(json, '{"a":1}');
    bad[bad.length - 1]! ^= 1;
    const good = frame(json, '{"b":1}');
    const long = `{"a":1}\n"${'x'.repeat(1024 * 1024)}"\n`;
    const cases = [
      [
        'eventstream',
        Buffer.concat([good, bad]),
        new RegExp(`ERROR.*wrong checksum of a frame at byte ${good.length}`),
      ],
      ['ndjson', long, /ERROR.*ndjson: message larger than 1048576 bytes at byte 1048584/],
      ['sse', `data: 1\n\ndata: ${long}`, /ERROR.*sse: message larger than 1048576 bytes at byte/],
    ] as const;
    for (const [output, body, line] of cases) {
      equal((await through(endpoint(output), body)).clean, false);
      await eventually(() => lines.some((text) => line.test(text)));
      await gateway.close();
    }
  });

  describe('are rejected in a configuration', () => {
    const act = (name: string) => ({ extra_config: { test: { act: name } } });

    it('if a component needs the whole data', async () => {
      for (const output of ['no-op', 'streaming', 'sse', 'ndjson', 'eventstream']) {
        deepEqual(await codesOf(endpoint(output, act('reader'))), ['/endpoints/0/output_encoding ENDPOINT_NO_DATA']);
      }
    });

    it('if a component reads messages and the output has none', async () => {
      for (const output of ['no-op', 'streaming']) {
        deepEqual(await codesOf(endpoint(output, act('noDebug'))), ['/endpoints/0/output_encoding ENDPOINT_NO_DATA']);
      }
    });

    it('if the backend does not use HTTP', async () => {
      for (const output of ['streaming', 'sse', 'ndjson', 'eventstream']) {
        deepEqual(await codesOf(endpoint(output, {}, act('queue'))), [
          '/endpoints/0/backend/0/extra_config BACKEND_NO_STREAM',
        ]);
      }
    });

    it('are rejected if their endpoint calls several backends, or has a filter that would not run', async () => {
      const flatmap = { extra_config: { proxy: { flatmap_filter: [{ type: 'del', args: ['a'] }] } } };
      for (const output of ['streaming', 'sse', 'ndjson', 'eventstream']) {
        const { host, endpoints } = endpoint(output);
        const two = [{ ...endpoints[0], backend: [{ url_pattern: '/' }, { url_pattern: '/' }] }];
        deepEqual(await codesOf({ host, endpoints: two }), ['/endpoints/0/backend OUTPUT_ONE_BACKEND']);
        deepEqual(await codesOf(endpoint(output, { concurrent_calls: 2 })), [
          '/endpoints/0/concurrent_calls OUTPUT_ONE_CALL',
        ]);
        deepEqual(await codesOf(endpoint(output, { extra_config: { proxy: { sequential: true } } })), [
          '/endpoints/0/extra_config/proxy/sequential OUTPUT_SEQUENTIAL',
        ]);
        deepEqual(await codesOf(endpoint(output, flatmap)), [
          '/endpoints/0/extra_config/proxy/flatmap_filter OUTPUT_FLATMAP',
        ]);
        deepEqual(await codesOf(endpoint(output, {}, flatmap)), [
          '/endpoints/0/backend/0/extra_config/proxy/flatmap_filter OUTPUT_FLATMAP',
        ]);
      }
    });

    it('if a backend has an encoding for streams, such as sse, and its endpoint returns data', async () => {
      deepEqual(await codesOf(endpoint('json', {}, { encoding: 'sse' })), [
        '/endpoints/0/backend/0/encoding ENCODING_UNKNOWN',
      ]);
    });
  });

  it("cause a warning if the service's timeout would end them", async () => {
    gateway = await startPlugged({ ...endpoint('sse', { timeout: '1h' }), write_timeout: '10s' }, hooked);
    ok(gateway.status.warnings.some(({ code }) => code === 'TIMEOUT_CUT'));
  });
});
