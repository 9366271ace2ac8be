import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { Operations } from '#kernel';
import {
  type Answering,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

/** Response to a request: a status, or `reset` for a closed connection. */
type Planned = number | 'reset';

describe('backend/retry in a gateway', () => {
  let gateway: Operations | undefined;
  const backends: TestBackend[] = [];

  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await Promise.all(backends.splice(0).map((backend) => backend.close()));
  });

  const open = async (respond: Answering) => {
    const backend = await startBackend(respond);
    backends.push(backend);
    return backend;
  };
  /** A backend with these responses, one after another; the last one repeats. */
  const planned = (...plan: Planned[]) =>
    open((_seen, response) => respondWith(response, plan.length > 1 ? plan.shift()! : plan[0]!));
  const start = async (
    host: string | string[],
    retry: object,
    { backend = {}, extra = {}, ...endpoint }: { backend?: object; extra?: object; [field: string]: unknown } = {},
    options: Parameters<typeof startGateway>[1] = {},
    service: object = {},
  ) => {
    const component = { backoff: { base: '0s' }, ...retry };
    gateway = await startGateway(
      {
        host: [host].flat(),
        ...service,
        endpoints: [
          {
            endpoint: '/a',
            ...endpoint,
            backend: [{ url_pattern: '/b', ...backend, extra_config: { 'backend/retry': component, ...extra } }],
          },
        ],
      },
      options,
    );
  };
  const get = async (options: object = {}) => {
    const { statusCode, body } = await gateway!.inject({ url: '/a', ...options });
    return [statusCode, body];
  };

  it('repeats a request whose status is listed, and returns the first response that is not retried', async () => {
    const backend = await planned(503, 200);
    await start(backend.url, {});
    deepEqual(await get(), [200, '{"n":200}']);
    equal(backend.requests.length, 2);
  });

  it('makes no more attempts than configured, and returns the last response', async () => {
    const backend = await planned(502, 503, 504, 200);
    await start(backend.url, { attempts: 3 }, { output_encoding: 'no-op' });
    deepEqual(await get(), [504, '{"n":504}']);
    equal(backend.requests.length, 3);
  });

  it('with a list of statuses repeats only these instead of the default ones', async () => {
    const backend = await planned(500);
    await start(backend.url, {});
    await get();
    equal(backend.requests.length, 1);
    await gateway!.close();
    const limited = await planned(429, 503);
    await start(limited.url, { status_codes: [429] }, { output_encoding: 'no-op' });
    deepEqual([(await get())[0], limited.requests.length], [503, 2]);
  });

  it('repeats a request after its connection was reset', async () => {
    const backend = await planned('reset', 200);
    await start(backend.url, {});
    deepEqual(await get(), [200, '{"n":200}']);
  });

  it('repeats no request after a failure that the conditions do not include', async () => {
    const backend = await planned('reset', 'reset', 200);
    await start(backend.url, { conditions: ['timeout'] });
    equal((await get())[0], 500);
    // The client repeats an idempotent request on a reused connection itself, but this connection was new.
    equal(backend.requests.length, 1);
  });

  it('repeats methods that are not idempotent only with non_idempotent', async () => {
    const backend = await planned(503, 200);
    await start(backend.url, {}, { method: 'POST' });
    equal((await get({ method: 'POST', payload: 'x' }))[0], 500);
    equal(backend.requests.length, 1);
    await gateway!.close();
    const other = await planned(503, 200);
    await start(other.url, { non_idempotent: true }, { method: 'POST' });
    equal((await get({ method: 'POST', payload: 'x' }))[0], 200);
    deepEqual(
      other.requests.map(({ body }) => String(body)),
      ['x', 'x'],
    );
  });

  it('decides by the method that is sent to the backend, not by the method of the endpoint', async () => {
    const backend = await planned(503, 200);
    await start(backend.url, {}, { backend: { method: 'POST' } });
    equal((await get())[0], 500);
    equal(backend.requests.length, 1);
  });

  it('repeats any method if no connection could be opened, on another host', async () => {
    const dead = await unusedUrl();
    const backend = await planned(200);
    for (let round = 0; round < 4; round++) {
      await start([dead, backend.url], {}, { method: 'POST' });
      equal((await get({ method: 'POST', payload: 'x' }))[0], 200);
      await gateway!.close();
    }
    equal(backend.requests.length, 4);
  });

  it('does not repeat a POST after a redirect that led to a dead host', async () => {
    const dead = await unusedUrl();
    const backend = await open((_seen, response) => response.writeHead(303, { Location: `${dead}/x` }).end());
    await start(backend.url, {}, { method: 'POST' });
    equal((await get({ method: 'POST', payload: 'x' }))[0], 500);
    equal(backend.requests.length, 1);
  });

  it('uses a different host for each attempt as long as there is one', async () => {
    const three = [await planned(503), await planned(503), await planned(503)];
    const urls = three.map(({ url }) => url);
    await start(urls, { attempts: 3, budget: { percent: 100, min_concurrency: 100 } });
    await Promise.all(Array.from({ length: 10 }, () => get()));
    deepEqual(
      three.map(({ requests }) => requests.length),
      [10, 10, 10],
    );
  });

  it('repeats a request to the same host if the backend has only one', async () => {
    const backend = await planned(503, 200);
    await start([backend.url, backend.url], {});
    equal((await get())[0], 200);
  });

  it('cancels an attempt that exceeds its timeout, and repeats it', async () => {
    let first: ServerResponse | undefined;
    const closed = Promise.withResolvers<void>();
    const backend = await open((_seen, response) => {
      if (first) return respondWith(response, 200);
      first = response;
      response.once('close', closed.resolve);
    });
    await start(backend.url, { attempt_timeout: '30ms' });
    deepEqual(await get(), [200, '{"n":200}']);
    await closed.promise;
  });

  it('sends the whole response stream once its headers have arrived, even beyond the timeout of the attempt', async () => {
    const backend = await open((_seen, response) => {
      response.writeHead(200).write('first ');
      setTimeout(() => response.end('last'), 80);
    });
    await start(backend.url, { attempt_timeout: '40ms' }, { output_encoding: 'no-op' });
    deepEqual(await get(), [200, 'first last']);
    equal(backend.requests.length, 1);
  });

  it('never repeats a request after the first byte of a response was passed on', async () => {
    const backend = await open((_seen, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('first');
      setTimeout(() => response.destroy(), 10);
    });
    await start(backend.url, { attempts: 5 }, { output_encoding: 'no-op' });
    const address = await gateway!.listen({ port: 0 });
    const response = await fetch(`http://127.0.0.1:${address.port}/a`);
    await response.text().then(
      () => ok(false, 'the body is not complete'),
      () => {},
    );
    equal(backend.requests.length, 1);
  });

  it('repeats a request whose response was aborted before anything was sent to the client', async () => {
    let count = 0;
    const backend = await open((_seen, response) => {
      if (count++ > 0) return respondWith(response, 200);
      response.writeHead(200, { 'Content-Length': 10 }).write('{"n"');
      setTimeout(() => response.destroy(), 10);
    });
    await start(backend.url, {});
    deepEqual(await get(), [200, '{"n":200}']);
  });

  it('waits for a Retry-After within the limit', async () => {
    let count = 0;
    const at: number[] = [];
    const backend = await open((_seen, response) => {
      at.push(performance.now());
      if (count++ > 0) return respondWith(response, 200);
      response.writeHead(503, { 'Retry-After': '1' }).end();
    });
    await start(backend.url, {});
    equal((await get())[0], 200);
    ok(at[1]! - at[0]! >= 990, `${at[1]! - at[0]!} ms`);
  });

  it('does not repeat a request whose Retry-After exceeds the limit', async () => {
    const backend = await open((_seen, response) => response.writeHead(503, { 'Retry-After': '2' }).end());
    await start(backend.url, {});
    equal((await get())[0], 500);
    equal(backend.requests.length, 1);
  });

  it('keeps short request bodies to send them again, and does not repeat requests with longer, streamed bodies', async () => {
    const backend = await planned(503, 200, 503, 200);
    await start(backend.url, { max_body_size: 5 }, { method: 'PUT' });
    equal((await get({ method: 'PUT', payload: '12345' }))[0], 200);
    deepEqual(
      backend.requests.map(({ body }) => String(body)),
      ['12345', '12345'],
    );
    equal((await get({ method: 'PUT', payload: '123456' }))[0], 500);
    equal(backend.requests.length, 3);
  });

  it('ends with the deadline of the backend instead of waiting for a retry that cannot finish', async () => {
    const backend = await planned(503);
    await start(backend.url, { backoff: { base: '10s', max: '10s' }, attempts: 10 }, { timeout: '300ms' });
    const since = performance.now();
    equal((await get())[0], 500);
    ok(performance.now() - since < 5000);
  });

  it('stops when the client disconnects', async () => {
    const got = Promise.withResolvers<void>();
    const backend = await open((_seen, response) => {
      response.writeHead(503).end();
      got.resolve();
    });
    await start(backend.url, { attempts: 10, backoff: { base: '5s', max: '5s' } });
    const address = await gateway!.listen({ port: 0 });
    const aborting = new AbortController();
    const response = fetch(`http://127.0.0.1:${address.port}/a`, { signal: aborting.signal }).catch(() => 'left');
    await got.promise;
    aborting.abort();
    equal(await response, 'left');
    // Waits until no request is in progress.
    await gateway!.close();
    gateway = undefined;
    equal(backend.requests.length, 1);
  });

  it('consumes a token of the rate limit for each attempt', async () => {
    const backend = await planned(503);
    await start(
      backend.url,
      { attempts: 5 },
      { extra: { 'qos/ratelimit/proxy': { max_rate: 3, every: '1h', capacity: 3 } } },
    );
    await get();
    equal(backend.requests.length, 3);
  });

  it('counts each attempt for the circuit breaker, and does not repeat a call that the breaker rejects', async () => {
    const backend = await planned(503);
    const breaker = { interval: 60, timeout: 60, max_errors: 2 };
    await start(backend.url, { attempts: 10 }, { extra: { 'qos/circuit-breaker': breaker } });
    await get();
    equal(backend.requests.length, 3);
    await get();
    equal(backend.requests.length, 3);
  });

  it('does not repeat a request that a cache can answer with a stale response', async () => {
    let count = 0;
    const backend = await open((_seen, response) => {
      if (count++ > 0) return void response.writeHead(503).end();
      response.writeHead(200, { 'Cache-Control': 'max-age=60, stale-if-error=600', Age: '100' }).end('{"n":1}');
    });
    await start(backend.url, {}, { extra: { 'qos/http-cache': {} } });
    deepEqual(
      [await get(), await get()],
      [
        [200, '{"n":1}'],
        [200, '{"n":1}'],
      ],
    );
    equal(backend.requests.length, 2);
  });

  it('in a sequence repeats only the request to its own backend', async () => {
    const paths: string[] = [];
    const failures = new Set(['/second']);
    const backend = await open(({ target, method }, response) => {
      paths.push(`${method} ${target}`);
      respondWith(response, failures.delete(target) ? 503 : 200);
    });
    const retry = { 'backend/retry': { backoff: { base: '0s' } } };
    const step = (method: string, url_pattern: string) => ({ method, url_pattern, extra_config: retry });
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/a',
          backend: [step('POST', '/first'), step('GET', '/second'), step('POST', '/third')],
          extra_config: { proxy: { sequential: true } },
        },
      ],
    });
    await get();
    deepEqual(paths, ['POST /first', 'GET /second', 'GET /second', 'POST /third']);
    failures.add('/first');
    await get();
    deepEqual(paths.slice(4), ['POST /first']);
  });

  it('sends a second, hedged request after hedge_after, uses the faster response and cancels the other request', async () => {
    let slow: ServerResponse | undefined;
    const closed = Promise.withResolvers<void>();
    const backend = await open((_seen, response) => {
      if (slow) return respondWith(response, 200);
      slow = response;
      response.once('close', closed.resolve);
    });
    await start(backend.url, { hedge_after: '20ms' });
    deepEqual(await get(), [200, '{"n":200}']);
    await closed.promise;
    equal(backend.requests.length, 2);
  });

  it('does not hedge requests that are not idempotent', async () => {
    const backend = await open((_seen, response) => void setTimeout(() => respondWith(response, 200), 60));
    await start(backend.url, { hedge_after: '5ms' }, { method: 'POST' });
    equal((await get({ method: 'POST', payload: 'x' }))[0], 200);
    equal(backend.requests.length, 1);
  });

  it('keeps retries within the budget', async () => {
    const held: ServerResponse[] = [];
    const full = Promise.withResolvers<void>();
    const backend = await open((_seen, response) => {
      held.push(response);
      if (held.length === 10) full.resolve();
      if (held.length > 10) response.writeHead(503).end();
    });
    await start(backend.url, { attempts: 10, budget: { percent: 20, min_concurrency: 0 } });
    const all = Array.from({ length: 10 }, () => get());
    await full.promise;
    // Ten active requests allow two retries at a time. The other eight requests fail before the two retries have ended.
    for (const response of held.slice(0, 10)) response.writeHead(503).end();
    await Promise.all(all);
    ok(backend.requests.length < 40, `${backend.requests.length} requests`);
  });

  it('logs each retry at DEBUG', async () => {
    const sinks = rememberingSinks();
    const backend = await planned(503, 200);
    const logging = { extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } } };
    await start(backend.url, {}, {}, { sinks }, logging);
    await get();
    const line = sinks.lines.find((each) => each.includes('[Retry]'));
    match(line ?? '', /attempt 2 of 2 in 0 ms, after: .*503/);
  });
});

function respondWith(response: ServerResponse, status: Planned): void {
  if (status === 'reset') response.destroy();
  else response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"n":${status}}`);
}

/** Address of a port that nothing listens on. */
async function unusedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === 'object' ? address!.port : 0}`;
}
