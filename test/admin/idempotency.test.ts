import { deepEqual, equal, match } from 'node:assert/strict';
import type Koa from 'koa';
import { createIdempotency } from '../../admin/idempotency.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('a change sent twice with one idempotency key', () => {
  let one: TestAdmin;
  beforeEach(async () => {
    one = await openAdmin();
  });
  afterEach(() => one.close());

  const put = (body: object, key = 'k', query = '?force=true', headers = {}) =>
    one.ask(`/v1/config${query}`, { method: 'PUT', body, headers: { 'idempotency-key': key, ...headers } });

  it('is applied once, with the same response for both', async () => {
    const [first, second] = [await put(config('/b')), await put(config('/b'))];
    deepEqual(second.body, first.body);
    const { 'idempotent-replayed': replayed, date: _second, 'x-request-id': _other, ...headers } = second.headers;
    const { date: _first, 'x-request-id': _own, ...expected } = first.headers;
    deepEqual(headers, expected);
    equal(replayed, 'true');
    equal(first.headers['idempotent-replayed'], undefined);
    equal(one.gateway.status.revision, 2);
  });

  it('is applied once, even if both arrive at the same time', async () => {
    const [first, second] = await Promise.all([put(config('/b')), put(config('/b'))]);
    deepEqual(second.body, first.body);
    equal(one.gateway.status.revision, 2);
  });

  it('gets the same response, regardless of later changes', async () => {
    const etag = (await one.ask('/v1/config')).headers['etag']!;
    const send = () => put(config('/b'), 'k', '', { 'if-match': etag });
    equal((await send()).status, 200);
    equal((await send()).status, 200);
  });

  it('is rejected twice for the same reason', async () => {
    const [first, second] = [await put({ version: 3, endpoints: 1 }), await put({ version: 3, endpoints: 1 })];
    deepEqual([first.status, second.body], [422, first.body]);
    equal(one.gateway.attempts.list.length, 2);
  });

  it('is applied twice if the keys differ', async () => {
    await put(config('/b'), 'one');
    await put(config('/b'), 'two');
    equal(one.gateway.status.revision, 3);
  });

  it('is rejected if the two requests differ', async () => {
    await put(config('/b'));
    const { status, body } = await put(config('/c'));
    deepEqual([status, body.type], [422, 'urn:gateway:problem:idempotency-key-reused']);
    match(body.detail, /used for another request/);
    equal((await put(config('/b'), 'k', '?dry_run=true')).status, 422);
  });

  it('is applied the second time if the first request was rejected before the change began', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    one.gateway.join({
      async prepare() {
        began.resolve();
        await promise;
        return { commit() {}, abort() {} };
      },
    });
    const other = one.ask('/v1/reload?force=true', { method: 'POST' });
    await began.promise;
    equal((await put(config('/b'), 'k', '?wait=0')).status, 409);
    resolve();
    await other;
    equal((await put(config('/b'), 'k', '?wait=0')).status, 200);
  });

  it('is rejected if the key is too long', async () => equal((await put(config('/b'), 'k'.repeat(256))).status, 400));
});

describe('stored results of idempotent requests', () => {
  /** The part of a Koa context that the code uses. */
  const contextOf = (key: string) => {
    const reported: Record<string, string> = {};
    const headers: Readonly<Record<string, string>> = { 'idempotency-key': key };
    return {
      method: 'PUT',
      originalUrl: '/',
      status: 200,
      body: 'done',
      get: (name: string) => headers[name] ?? '',
      set: (fields: object) => Object.assign(reported, fields),
      response: { get: () => '' },
    } as unknown as Koa.Context;
  };

  const counted = () => {
    const clock = { now: 0 };
    const idempotency = createIdempotency(() => clock.now);
    let runs = 0;
    const send = (key: string, owner = 'token') =>
      idempotency.once(contextOf(key), owner, null, async () => {
        runs++;
      });
    return { clock, send, runs: () => runs };
  };

  it('are kept for ten minutes', async () => {
    const { clock, send, runs } = counted();
    await send('k');
    clock.now = 599_999;
    await send('k');
    equal(runs(), 1);
    clock.now = 600_000;
    await send('k');
    equal(runs(), 2);
  });

  it('are kept separately for each token', async () => {
    const { send, runs } = counted();
    await send('k', 'one');
    await send('k', 'two');
    equal(runs(), 2);
  });

  it('are limited to about a thousand; the oldest are dropped first', async () => {
    const { send, runs } = counted();
    for (let key = 0; key < 1002; key++) await send(String(key));
    await send('1001');
    equal(runs(), 1002);
    await send('0');
    equal(runs(), 1003);
  });
});
