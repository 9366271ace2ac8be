import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Gateway } from '../../kernel/index.ts';
import { frame } from '../plugins/encoding/frames.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../support/gateway.ts';
import { type Acts, startPlugged } from '../support/plugged.ts';
import { eventually, openStream, type StreamedResponse } from '../support/stream-client.ts';

const json = { ':content-type': 'application/json' };
const outputs = ['no-op', 'streaming', 'sse', 'ndjson', 'eventstream'] as const;

/** Two messages of each output. */
const messages: Readonly<Record<(typeof outputs)[number], readonly [Uint8Array, Uint8Array]>> = {
  'no-op': [Buffer.from('one'), Buffer.from('two')],
  streaming: [Buffer.from('one'), Buffer.from('two')],
  sse: [Buffer.from('data: 1\n\n'), Buffer.from('data: 2\n\n')],
  ndjson: [Buffer.from('{"n":1}\n'), Buffer.from('{"n":2}\n')],
  eventstream: [frame(json, '{"n":1}'), frame(json, '{"n":2}')],
};

describe('a streamed response', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let lines: readonly string[];
  /** Backend responses, which the test writes step by step. */
  const responses: ServerResponse[] = [];
  let head: [status: number, headers?: Record<string, string>] = [200];

  const endpoint = (output: string, more: object = {}, backendMore: object = {}) => ({
    endpoint: '/s',
    output_encoding: output,
    timeout: '60s',
    ...more,
    backend: [{ url_pattern: '/', ...backendMore }],
  });

  const start = async (config: object, acts: Acts = {}): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startPlugged({ host: [backend.url], endpoints: [config] }, acts, { sinks, debug: true });
    ({ port } = await gateway.listen());
  };

  const received = async (): Promise<ServerResponse> => {
    await eventually(() => responses.length > 0);
    return responses.shift()!;
  };

  /** Opens a stream of which the backend has sent the headers only. */
  const open = async (headers?: Record<string, string>): Promise<[StreamedResponse, ServerResponse]> => {
    const opening = openStream(port, '/s', headers);
    const source = await received();
    return [await opening, source];
  };

  const logged = (pattern: RegExp): Promise<void> => eventually(() => lines.some((line) => pattern.test(line)));

  beforeEach(async () => {
    head = [200];
    responses.length = 0;
    backend = await startBackend((_seen, response) => {
      response.writeHead(...head).flushHeaders();
      responses.push(response);
    });
  });

  afterEach(async () => {
    mock.timers.reset();
    await backend.close();
    await gateway.close();
  });

  for (const output of outputs) {
    describe(`with the output encoding ${output}`, () => {
      it('sends the headers before the first byte and every message before the next one', async () => {
        await start(endpoint(output));
        const [client, source] = await open();
        equal(client.status, 200);
        const [first, second] = messages[output];
        source.write(first);
        await eventually(() => client.bytes.equals(first));
        source.write(second);
        await eventually(() => client.bytes.equals(Buffer.concat([first, second])));
        source.end();
        equal(await client.ended(), true);
      });

      it('cancels the backend request at once when the client disconnects', async () => {
        await start(endpoint(output));
        const [client, source] = await open();
        const closed = once(source, 'close');
        client.leave();
        await closed;
        await logged(/DEBUG.*client disconnected before the end of the stream/);
        ok(!lines.some((line) => /ERROR|WARNING/.test(line)));
      });

      it('ends at the timeout of the endpoint', async () => {
        mock.timers.enable({ apis: ['setTimeout'] });
        await start(endpoint(output));
        const [client, source] = await open();
        const closed = once(source, 'close');
        source.write(messages[output][0]);
        await eventually(() => client.bytes.equals(messages[output][0]));
        mock.timers.tick(60_000);
        equal(await client.ended(), false);
        ok(client.bytes.equals(messages[output][0]));
        await closed;
        await logged(/WARNING.*stream ended by the timeout of the endpoint/);
        ok(!lines.some((line) => line.includes('ERROR')));
      });

      it('is replaced with 500 and an empty body if the timeout expires before the headers arrive', async () => {
        const silent = await startBackend(() => {});
        await start({ ...endpoint(output, { timeout: '100ms' }), backend: [{ url_pattern: '/', host: [silent.url] }] });
        const client = await openStream(port, '/s');
        equal(await client.ended(), true);
        deepEqual([client.status, client.bytes.length], [500, 0]);
        await silent.close();
      });

      it('breaks the client’s connection if the backend’s breaks', async () => {
        await start(endpoint(output));
        const [client, source] = await open();
        source.write(messages[output][0]);
        await eventually(() => client.bytes.equals(messages[output][0]));
        source.destroy();
        equal(await client.ended(), false);
        await logged(/ERROR.*response ended early: backend/);
      });

      it('forwards any other status with its body', async () => {
        head = [429, { 'Content-Type': 'application/json', 'X-Own': 'yes' }];
        await start(endpoint(output));
        const [client, source] = await open();
        source.end('{"error": "slow down"}');
        equal(await client.ended(), true);
        deepEqual([client.status, client.bytes.toString()], [429, '{"error": "slow down"}']);
        deepEqual([client.headers['content-type'], client.headers['x-own']], ['application/json', 'yes']);
        equal(client.headers['cache-control'], undefined);
      });

      it('is not compressed, even if the client accepts it', async () => {
        await start(endpoint(output, { input_headers: ['Accept-Encoding'] }));
        const [client, source] = await open({ 'Accept-Encoding': 'gzip' });
        source.end(messages[output][0]);
        equal(await client.ended(), true);
        equal(client.headers['content-encoding'], undefined);
        ok(client.bytes.equals(messages[output][0]));
      });

      it('continues over a reload with its original configuration', async () => {
        await start(endpoint(output));
        const [client, source] = await open();
        source.write(messages[output][0]);
        await eventually(() => client.bytes.length > 0);
        await gateway.reload({
          version: 3,
          host: [backend.url],
          endpoints: [{ ...endpoint(output), endpoint: '/new' }],
        });
        equal((await openStream(port, '/s')).status, 404);
        source.end(messages[output][1]);
        equal(await client.ended(), true);
        ok(client.bytes.equals(Buffer.concat(messages[output])));
      });

      it("forwards the backend's headers, without Cache-Control of the gateway", async () => {
        head = [200, { 'Set-Cookie': 'a=1', 'X-Own': 'yes', 'X-Gateway-Completed': 'true' }];
        await start(endpoint(output, { cache_ttl: '1h' }));
        const [client, source] = await open();
        source.end();
        await client.ended();
        deepEqual([client.headers['set-cookie'], client.headers['x-own']], [['a=1'], 'yes']);
        equal(client.headers['x-gateway-completed'], 'false');
        match(client.headers['x-gateway'] as string, /^Version/);
        ok(!client.headers['cache-control']?.includes('max-age'));
      });

      it('counts as in flight until its end, and is then written to the access log', async () => {
        await start(endpoint(output));
        const [client, source] = await open();
        equal(gateway.status.streams, 1);
        ok(!lines.some((line) => line.includes('/s"') && line.includes('200')));
        source.end();
        await client.ended();
        await eventually(() => gateway.status.streams === 0);
        await eventually(() => lines.some((line) => /200/.test(line) && line.includes('/s')));
      });

      it('follows redirects before it begins', async () => {
        const elsewhere = await startBackend((_seen, response) =>
          response.writeHead(302, { Location: backend.url }).end(),
        );
        await start({ ...endpoint(output), backend: [{ url_pattern: '/', host: [elsewhere.url] }] });
        const [client, source] = await open();
        source.end(messages[output][0]);
        await client.ended();
        ok(client.bytes.equals(messages[output][0]));
        await elsewhere.close();
      });

      it('ends when the shutdown time is over', async () => {
        const config = { host: [backend.url], max_shutdown_wait_time: '100ms', endpoints: [endpoint(output)] };
        gateway = await startPlugged(config, {});
        ({ port } = await gateway.listen());
        const [client] = await open();
        await gateway.close();
        equal(await client.ended(), false);
      });

      it('works for an HTTP/1.0 client and closes the connection', async () => {
        await start(endpoint(output));
        const socket = connect(port, '127.0.0.1');
        socket.write('GET /s HTTP/1.0\r\n\r\n');
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk) => {
          text += chunk;
        });
        const source = await received();
        const first = Buffer.from(messages[output][0]).toString('latin1');
        source.write(messages[output][0]);
        await eventually(() => text.endsWith(`\r\n\r\n${first}`));
        source.end();
        await once(socket, 'close');
        ok(!/transfer-encoding/i.test(text));
      });
    });
  }

  for (const output of ['streaming', 'sse', 'ndjson', 'eventstream'] as const) {
    it(`has no Content-Length, even if the backend sent one, with the output encoding ${output}`, async () => {
      const [first] = messages[output];
      head = [200, { 'Content-Length': String(first.length) }];
      await start(endpoint(output));
      const [client, source] = await open();
      source.end(first);
      await client.ended();
      equal(client.headers['content-length'], undefined);
      equal(client.headers['transfer-encoding'], 'chunked');
      ok(client.bytes.equals(first));
    });
  }

  it('ends in time even if the client does not read', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    await start(endpoint('streaming'));
    const socket = connect(port, '127.0.0.1');
    const begun = once(socket, 'readable');
    socket.write('GET /s HTTP/1.1\r\nHost: x\r\n\r\n');
    const source = await received();
    const left = once(source, 'close');
    source.end(Buffer.alloc(32 * 1024 * 1024));
    await begun;
    mock.timers.tick(60_000);
    await logged(/WARNING.*stream ended by the timeout of the endpoint/);
    await left;
    await eventually(() => gateway.status.calls === 0);
    socket.destroy();
  });

  it('clears the timer of its backend when it ends', async () => {
    await start(endpoint('streaming', {}, { timeout: '10s' }));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const idle = timers();
    const [client, source] = await open();
    ok(timers() > idle);
    source.end('x');
    await client.ended();
    await eventually(() => timers() <= idle);
  });

  it("keeps the backend's compression if no component reads it", async () => {
    const packed = gzipSync('data: 1\n\n');
    for (const output of ['no-op', 'streaming']) {
      head = [200, { 'Content-Encoding': 'gzip' }];
      await start(endpoint(output, { input_headers: ['Accept-Encoding'] }));
      const [client, source] = await open({ 'Accept-Encoding': 'gzip' });
      source.end(packed);
      await client.ended();
      equal(client.headers['content-encoding'], 'gzip');
      ok(client.bytes.equals(packed));
      await gateway.close();
    }
  });
});
