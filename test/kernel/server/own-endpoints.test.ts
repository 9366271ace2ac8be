import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { Operations } from '#kernel';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { sendRaw, statusesOf } from './raw.ts';

describe('the gateway’s built-in endpoints', () => {
  let gateway: Gateway | null = null;
  let port: number;
  let lines: readonly string[];
  const endpoints = [{ endpoint: '/x', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] }];

  const start = async (config: object, options: object = {}): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    gateway = await startGateway({ endpoints, ...config }, { sinks, ...options });
    ({ port } = await gateway.listen());
  };
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
  });

  const status = async (line: string): Promise<number> => (await ask(port, line)).status;
  const router = (options: object): object => ({ extra_config: { router: options } });

  describe('for readiness', () => {
    const drained = async (path: string): Promise<unknown[]> => {
      const { processes } = gateway as Operations;
      processes.setClosing(true);
      const { status: code, text, headers } = await ask(port, `GET ${path}`);
      processes.setClosing(false);
      return [code, JSON.parse(text), headers.connection];
    };

    it('return ready while the gateway accepts requests, and not ready while it drains', async () => {
      await start({});
      const { status: code, text } = await ask(port, 'GET /__ready');
      deepEqual([code, JSON.parse(text)], [200, { status: 'ok' }]);
      deepEqual(await drained('/__ready'), [503, { status: 'error', reasons: ['draining'] }, 'close']);
      equal(await status('GET /__ready'), 200);
    });

    it('do not affect the health endpoint', async () => {
      await start({});
      equal((await drained('/__health'))[0], 200);
    });

    it('return not ready if a configuration is applied while the gateway drains', async () => {
      await start({});
      await gateway!.reload({ version: 3, endpoints, extra_config: { router: { ready_path: '/readyz' } } });
      equal((await drained('/readyz'))[0], 503);
    });

    it('have the configured path, or can be disabled', async () => {
      await start(router({ ready_path: '/readyz' }));
      deepEqual([await status('GET /readyz'), await status('GET /__ready')], [200, 404]);
      await gateway!.reload({ version: 3, endpoints, ...router({ disable_ready: true }) });
      equal(await status('GET /__ready'), 404);
    });

    it('leave their default path to endpoints if they are moved', async () => {
      const own = [{ ...endpoints[0]!, endpoint: '/__ready' }];
      await rejects(start({ endpoints: own }), /GET \/__ready is reserved for the gateway itself/);
      await start({ endpoints: own, ...router({ disable_ready: true }) });
      equal(await status('GET /__ready'), 500);
    });

    it('cannot have the path of the health endpoint', async () => {
      await rejects(start(router({ ready_path: '/__health' })), /ready_path and health_path are both "\/__health"/);
    });
  });

  describe('for health', () => {
    it('return ok and the time', async () => {
      await start({});
      const response = await ask(port, 'GET /__health');
      const { now, ...rest } = JSON.parse(response.text);
      deepEqual([response.status, rest], [200, { agents: {}, status: 'ok' }]);
      ok(Math.abs(Date.parse(now) - Date.now()) < 60_000);
      match(response.headers['content-type'] as string, /^application\/json/);
      match(response.headers['x-gateway'] as string, /^Version /);
    });

    it('answer GET and HEAD only', async () => {
      await start({});
      const response = await ask(port, 'POST /__health');
      deepEqual([response.status, response.headers.allow], [405, 'GET, HEAD']);
    });

    it('have the configured path', async () => {
      await start(router({ health_path: '/alive' }));
      deepEqual([await status('GET /alive'), await status('GET /__health')], [200, 404]);
    });

    it('can be disabled', async () => {
      await start(router({ disable_health: true }));
      deepEqual([await status('GET /__health'), await status('POST /__health')], [404, 404]);
    });

    it('are found with an extra slash in the path', async () => {
      await start({});
      const response = await ask(port, 'GET /__health/');
      deepEqual([response.status, response.headers.location], [301, '/__health']);
    });
  });

  describe('for debugging', () => {
    const verbose = { extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } } };

    it('exist if debug_endpoint is enabled', async () => {
      await start({ debug_endpoint: true });
      for (const line of ['GET /__debug/', 'GET /__debug/any/thing', 'POST /__debug/x', 'DELETE /__debug/x']) {
        const response = await ask(port, line);
        deepEqual([response.status, JSON.parse(response.text)], [200, { message: 'pong' }], line);
      }
    });

    it('exist in debug mode', async () => {
      await start({}, { debug: true });
      equal(await status('GET /__debug/'), 200);
    });

    it('do not exist by default', async () => {
      await start({});
      deepEqual([await status('GET /__debug/'), await status('GET /__echo/')], [404, 404]);
    });

    it('redirect a path without the slash', async () => {
      await start({ debug_endpoint: true });
      const response = await ask(port, 'GET /__debug?a=1');
      deepEqual([response.status, response.headers.location], [301, '/__debug/?a=1']);
      equal(await status('GET /__debugger'), 404);
    });

    it('log the request', async () => {
      await start({ debug_endpoint: true, ...verbose });
      await ask(port, 'POST /__debug/p%20q?a=1&a=2', { headers: { 'x-own': 'yes' }, body: 'hello\nERROR forged' });
      const logged = lines
        .filter((line) => line.includes('[ENDPOINT: /__debug/*]'))
        .map((line) => line.slice(line.indexOf('/*]') + 4).trim());
      equal(logged.length, 6);
      const [method, url, query, params, headers, body] = logged as [string, string, string, string, string, string];
      deepEqual([method, url], ['Method: POST', 'URL: /__debug/p%20q?a=1&a=2']);
      match(query, /^Query: .*"a":\["1","2"\]/);
      match(params, /^Params: .*p%20q/);
      match(headers, /^Headers: .*"X-Own":\["yes"\]/);
      match(body, /^Body: hello\\nERROR forged$/);
    });

    it('can be the backend of an endpoint of the same gateway', async () => {
      await start({ debug_endpoint: true });
      const own = [{ endpoint: '/look', backend: [{ host: [`http://127.0.0.1:${port}`], url_pattern: '/__debug/x' }] }];
      await gateway!.reload({ version: 3, debug_endpoint: true, endpoints: own });
      deepEqual(JSON.parse((await ask(port, 'GET /look')).text), { message: 'pong' });
    });
  });

  describe('for echo', () => {
    it('return the request', async () => {
      await start({ echo_endpoint: true });
      const response = await ask(port, 'PUT /__echo/a%20b?x=1&x=2&y', {
        headers: { 'x-OWN': 'yes', host: 'h:1' },
        body: 'text',
      });
      const { req_headers: headers, ...rest } = JSON.parse(response.text);
      deepEqual(rest, {
        req_uri: '/__echo/a%20b?x=1&x=2&y',
        req_uri_details: { user: '', host: 'h:1', path: '/__echo/a%20b', query: 'x=1&x=2&y', fragment: '' },
        req_method: 'PUT',
        req_querystring: { x: ['1', '2'], y: [''] },
        req_body: 'text',
      });
      deepEqual(headers['X-Own'], ['yes']);
    });

    it('accept a body up to the limit', async () => {
      await start({ echo_endpoint: true, ...router({ max_payload: 10 }) });
      equal((await ask(port, 'POST /__echo/', { body: 'x'.repeat(11) })).status, 413);
      equal((await ask(port, 'POST /__echo/', { body: 'x'.repeat(10) })).status, 200);
    });

    it('return names such as __proto__ as data', async () => {
      await start({ echo_endpoint: true });
      const response = await ask(port, 'GET /__echo/?__proto__=1&constructor=2');
      const query = JSON.parse(response.text).req_querystring;
      deepEqual(Object.entries(query), [
        ['__proto__', ['1']],
        ['constructor', ['2']],
      ]);
    });
  });

  describe('for OPTIONS', () => {
    const both = [...endpoints, { ...endpoints[0], method: 'POST' }, { ...endpoints[0], endpoint: '/a b/{c}' }];

    it('answer on every declared path with auto_options', async () => {
      await start({ endpoints: both, ...router({ auto_options: true }) });
      const response = await ask(port, 'OPTIONS /x');
      deepEqual([response.status, response.text, response.headers.allow], [200, '', 'GET, HEAD, POST']);
      match(response.headers['x-gateway'] as string, /^Version /);
      deepEqual(
        [(await ask(port, 'OPTIONS /a%20b/c')).headers.allow, await status('OPTIONS /none')],
        ['GET, HEAD', 404],
      );
    });

    it('answer 405 without auto_options', async () => {
      await start({ endpoints: both });
      equal(await status('OPTIONS /x'), 405);
    });

    it('reject OPTIONS *', async () => {
      await start({});
      const received = await sendRaw(port, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      deepEqual(statusesOf(received), [400]);
    });
  });

  it('take precedence over declared endpoints and need no backend', async () => {
    const backend = await startBackend(json({}));
    try {
      await start({
        debug_endpoint: true,
        endpoints: [{ endpoint: '/__catchall', backend: [{ host: [backend.url], url_pattern: '/' }] }],
      });
      deepEqual([await status('GET /__health'), await status('GET /__debug/')], [200, 200]);
      equal(backend.requests.length, 0);
    } finally {
      await backend.close();
    }
  });
});
