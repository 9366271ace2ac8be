import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import type { DataObject } from '../../../kernel/values/data.ts';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { ask } from './ask.ts';

const made = /^[\da-f]{12}-[\da-z]+$/;

describe('request ids', () => {
  async function start(router: object, extra: DataObject = {}) {
    const backend = await startBackend((seen, response) => {
      if (seen.target === '/fails') return void response.writeHead(500).end();
      response.setHeader('X-Request-Id', 'of-the-backend');
      json({ a: 1 })(seen, response);
    });
    const sinks = rememberingSinks();
    const gateway = await startGateway(
      {
        host: [backend.url],
        use_h2c: true,
        extra_config: { router, ...extra },
        endpoints: [
          { endpoint: '/x', backend: [{ url_pattern: '/' }] },
          { endpoint: '/all', input_headers: ['*'], backend: [{ url_pattern: '/' }] },
          { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
          { endpoint: '/echo', method: 'POST', backend: [{ url_pattern: '/' }] },
          { endpoint: '/fails', backend: [{ url_pattern: '/fails' }] },
        ],
      },
      { sinks },
    );
    const { port } = await gateway.listen();
    const close = async () => {
      await gateway.close();
      await backend.close();
    };
    return { backend, gateway, port, lines: sinks.lines, close };
  }

  it('are generated, the same for backend, client and access log', async () => {
    const { backend, port, lines, close } = await start({ request_id: 'X-Request-Id' });
    try {
      for (const path of ['/x', '/all', '/raw']) {
        const { headers } = await ask(port, `GET ${path}`, { headers: { X_Request_Id: 'twin' } });
        const id = String(headers['x-request-id']);
        match(id, made);
        const { headers: sent } = backend.requests.at(-1)!;
        deepEqual([sent['x-request-id'], sent['x_request_id']], [id, undefined], path);
        await until(() => lines.some((line) => line.includes(` | request_id=${id}\n`)));
      }
      for (const path of ['/none', '/__health']) {
        match(String((await ask(port, `GET ${path}`)).headers['x-request-id']), made, path);
      }
    } finally {
      await close();
    }
  });

  it('are replaced unless the client is a trusted proxy', async () => {
    const { backend, port, close } = await start({ request_id: 'X-Request-Id', trusted_proxies: ['10.0.0.0/8'] });
    try {
      const { headers } = await ask(port, 'GET /all', { headers: { 'x-request-id': 'spoofed' } });
      match(String(headers['x-request-id']), made);
      equal(backend.requests[0]!.headers['x-request-id'], headers['x-request-id']);
    } finally {
      await close();
    }
  });

  it('are kept from trusted proxies, unless they are malformed, too long or repeated', async () => {
    const { backend, port, lines, close } = await start({
      request_id: 'X-Request-Id',
      trusted_proxies: ['127.0.0.1'],
      return_error_msg: true,
    });
    try {
      const { headers } = await ask(port, 'GET /x', { headers: { 'X-REQUEST-ID': 'Root=1-67891233:a/b' } });
      equal(headers['x-request-id'], 'Root=1-67891233:a/b');
      equal(backend.requests[0]!.headers['x-request-id'], 'Root=1-67891233:a/b');
      for (const bad of ['a b', 'a"b', 'a,b', 'a|b', '', 'é', 'x'.repeat(129), ['one', 'two']]) {
        const { headers: answered } = await ask(port, 'GET /x', { headers: { 'x-request-id': bad } });
        match(String(answered['x-request-id']), made, String(bad));
      }
      const failed = await ask(port, 'GET /fails', { headers: { 'x-request-id': 'failing-1' } });
      deepEqual([failed.status, failed.headers['x-request-id']], [500, 'failing-1']);
      await until(() => lines.some((line) => /ERROR.*\[ENDPOINT: \/fails\].*\[REQUEST: failing-1\]/.test(line)));
    } finally {
      await close();
    }
  });

  it('are in every error response, regardless of its origin', async () => {
    const settings = { request_id: 'X-Request-Id', path_parameters: 'refuse', max_payload: 3, return_error_msg: true };
    const { port, close } = await start(settings, { 'security/bot-detector': { deny: ['bad'] } });
    try {
      const cases: [request: string, status: number, headers?: Record<string, string>, body?: string][] = [
        ['GET /none', 404],
        ['DELETE /x', 405],
        ['GET /x;a=b', 400],
        ['GET /%2', 400],
        ['GET /fails', 500],
        ['GET /x', 403, { 'User-Agent': 'bad' }],
        ['POST /echo', 413, {}, 'four'],
      ];
      for (const [request, status, headers = {}, body] of cases) {
        const answer = await ask(port, request, { headers, ...(body !== undefined && { body }) });
        deepEqual([answer.status, made.test(String(answer.headers['x-request-id']))], [status, true], request);
      }
    } finally {
      await close();
    }
  });

  it('work over HTTP/2 and with another header name', async () => {
    const { backend, port, close } = await start({ request_id: 'X-Correlation-Id', trusted_proxies: ['127.0.0.1'] });
    const session = connect(`http://127.0.0.1:${port}`);
    try {
      const ids = [];
      for (const given of ['from-proxy', 'with blanks']) {
        const stream = session.request({ ':path': '/x', 'x-correlation-id': given });
        const headers = new Promise<Record<string, unknown>>((resolve) => stream.on('response', resolve));
        stream.end();
        ids.push(String((await headers)['x-correlation-id']));
        await text(stream);
      }
      equal(ids[0], 'from-proxy');
      match(ids[1]!, made);
      deepEqual(
        backend.requests.map(({ headers }) => headers['x-correlation-id']),
        ids,
      );
    } finally {
      session.destroy();
      await close();
    }
  });

  it('are a field of the JSON access log', async () => {
    const logging = { level: 'INFO', stdout: true, access_log_format: 'json' };
    const { port, lines, close } = await start({ request_id: 'X-Request-Id' }, { 'telemetry/logging': logging });
    try {
      const trace = '0af7651916cd43dd8448eb211c80319c';
      const parent = `00-${trace}-b7ad6b7169203331-01`;
      const { headers } = await ask(port, 'GET /x', { headers: { traceparent: parent } });
      await until(() => lines.some((one) => one.includes('"path":"/x"')));
      const line = lines.find((one) => one.includes('"path":"/x"'));
      const { request_id: id, trace_id: traceId } = JSON.parse(String(line)) as Record<string, unknown>;
      deepEqual([id, traceId], [headers['x-request-id'], trace]);
    } finally {
      await close();
    }
  });

  it('are disabled by default', async () => {
    const { backend, port, close } = await start({});
    try {
      const { headers } = await ask(port, 'GET /x', { headers: { 'x-request-id': 'mine' } });
      equal(headers['x-request-id'], undefined);
      equal(backend.requests[0]!.headers['x-request-id'], undefined);
      notEqual(headers['x-gateway'], undefined);
    } finally {
      await close();
    }
  });
});
