import { deepEqual, equal } from 'node:assert/strict';
import type { Gateway } from '#kernel';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const breaker = { max_errors: 2, interval: 60, timeout: 600 };

describe('a circuit breaker in a gateway', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  /** Responses of the backend in order; the last one repeats. */
  let statuses: number[];

  beforeEach(async () => {
    backend = await startBackend((_seen, response) => {
      const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"a":1}');
    });
  });
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const start = async (extra: object, endpoint: object = {}, more: object[] = [], host = backend.url) => {
    gateway = await startGateway({
      host: [host],
      extra_config: { router: { return_error_msg: true } },
      endpoints: [{ endpoint: '/a', ...endpoint, backend: [{ url_pattern: '/', extra_config: extra }, ...more] }],
    });
  };
  /** @returns the status of each call. */
  const call = async (times: number) => {
    const seen: number[] = [];
    for (let turn = 0; turn < times; turn++) seen.push((await gateway.inject('/a')).statusCode);
    return seen;
  };

  it('stops calling a backend after three failures', async () => {
    statuses = [500];
    await start({ 'qos/circuit-breaker': breaker });
    deepEqual([await call(4), backend.requests.length], [[500, 500, 500, 500], 3]);
    equal((await gateway.inject('/a')).body, 'circuit breaker is open');
  });

  it('keeps calling a backend that fails occasionally', async () => {
    statuses = [500, 500, 200, 500, 500, 200];
    await start({ 'qos/circuit-breaker': breaker });
    deepEqual([await call(6), backend.requests.length], [[500, 500, 200, 500, 500, 200], 6]);
  });

  it('ignores the status with the no-op encoding', async () => {
    statuses = [500];
    await start({ 'qos/circuit-breaker': breaker }, { output_encoding: 'no-op' });
    deepEqual([await call(5), backend.requests.length], [[500, 500, 500, 500, 500], 5]);
  });

  const byStatus = { 'qos/circuit-breaker/http': { ...breaker, valid_status_codes: [200, 404] } };

  it('treats a valid status as a success, even with the no-op encoding', async () => {
    statuses = [404];
    await start(byStatus, { output_encoding: 'no-op' });
    deepEqual([await call(5), backend.requests.length], [[404, 404, 404, 404, 404], 5]);
  });

  it('opens after any other status, and fails the call', async () => {
    statuses = [503];
    await start(byStatus, { output_encoding: 'no-op' });
    deepEqual([await call(4), backend.requests.length], [[503, 503, 503, 500], 3]);
  });

  it('opens for a backend that is down', async () => {
    statuses = [200];
    const gone = await startBackend(() => {});
    await gone.close();
    await start({ 'qos/circuit-breaker': breaker }, {}, [], gone.url);
    deepEqual(await call(4), [500, 500, 500, 500]);
    equal((await gateway.inject('/a')).body, 'circuit breaker is open');
  });

  it('keeps the data of other backends in an incomplete response', async () => {
    statuses = [500];
    const other = await startBackend((_seen, response) => response.end('{"b":2}'));
    await start({ 'qos/circuit-breaker': { ...breaker, max_errors: 0 } }, {}, [
      { host: [other.url], url_pattern: '/' },
    ]);
    await call(1);
    const { statusCode, headers, body } = await gateway.inject('/a');
    deepEqual([statusCode, headers['x-gateway-completed'], body], [200, 'false', '{"b":2}']);
    equal(backend.requests.length, 1);
    await other.close();
  });
});
