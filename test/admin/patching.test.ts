import { deepEqual, equal, match } from 'node:assert/strict';
import { partsOf } from '../support/gateway.ts';
import { holdChange } from '../support/held-change.ts';
import { type Ask, config, openAdmin, type TestAdmin } from './support.ts';

describe('a PATCH of the active configuration', () => {
  let one: TestAdmin;
  let etag: string;
  beforeEach(async () => {
    one = await openAdmin({ ...config(), name: 'old' });
    etag = (await one.ask('/v1/config')).headers['etag']!;
  });
  afterEach(() => one.close());

  const patch = (type: string, body: object, headers: Ask['headers'] = { 'if-match': etag }, query = '') =>
    one.ask(`/v1/config${query}`, { method: 'PATCH', body, headers: { 'content-type': type, ...headers } });
  const merge = 'application/merge-patch+json';
  const operations = 'application/json-patch+json';

  it('applies a merge patch', async () => {
    const { status, body } = await patch(merge, { name: null, timeout: '3s' });
    equal(status, 200);
    equal(body.result, 'applied');
    deepEqual((await one.ask('/v1/config?form=source')).body, { ...config(), timeout: '3s' });
  });

  it('applies the operations of a JSON patch', async () => {
    const list = [
      { op: 'test', path: '/name', value: 'old' },
      { op: 'add', path: '/endpoints/-', value: config('/b').endpoints[0] },
    ];
    equal((await patch(operations, list)).status, 200);
    deepEqual((await one.ask('/v1/config?form=source')).body, { ...config('/a', '/b'), name: 'old' });
  });

  it('applies all operations or none', async () => {
    const list = [
      { op: 'replace', path: '/name', value: 'new' },
      { op: 'test', path: '/timeout', value: '1s' },
    ];
    const { status, body } = await patch(operations, list);
    equal(status, 400);
    match(body.detail, /^operation 1: /);
    equal(one.gateway.status.revision, 1);
  });

  it('requires If-Match', async () => {
    const { status, body } = await patch(merge, { name: 'x' }, {});
    deepEqual([status, body.type], [428, 'urn:gateway:problem:precondition-required']);
    equal((await patch(merge, { name: 'x' }, { 'if-match': '"9-0"' })).status, 412);
  });

  it('is applied to the result of the changes before it', async () => {
    const held = holdChange(partsOf(one.gateway).control);
    const first = patch(merge, { name: 'new' }, { 'if-match': '*' });
    await held.reached;
    const second = patch(merge, { timeout: '3s' }, { 'if-match': '*' });
    await held.requested(2);
    held.release();
    deepEqual([(await first).status, (await second).status], [200, 200]);
    deepEqual((await one.ask('/v1/config?form=source')).body, { ...config(), name: 'new', timeout: '3s' });
  });

  it('rejects the media type of a whole configuration and lists the accepted types', async () => {
    const { status, headers } = await patch('application/json', {});
    deepEqual([status, headers['accept-patch']], [415, 'application/merge-patch+json, application/json-patch+json']);
  });

  it('is answered 409 if a test operation fails, and can be retried with the same idempotency key', async () => {
    const test = (value: unknown) => [
      { op: 'test', path: '/version', value },
      { op: 'add', path: '/name', value: 'new' },
    ];
    const key = { 'if-match': '*', 'idempotency-key': 'k' };
    const { status, body } = await patch(operations, test(2), key);
    deepEqual(
      [status, body.type, body.detail],
      [409, 'urn:gateway:problem:test-failed', 'operation 0: test failed: the value at /version differs'],
    );
    equal((await patch(operations, test(3), key)).status, 200);
  });

  it('is answered 400 if a test operation refers to a missing value', async () => {
    equal((await patch(operations, [{ op: 'test', path: '/none', value: 1 }])).status, 400);
  });

  it('rejects a patch that contains a key twice', async () => {
    const body = '{"name": "a", "name": "b"}';
    const headers = { 'content-type': merge, 'if-match': etag };
    equal((await one.ask('/v1/config', { method: 'PATCH', body, headers })).status, 400);
  });

  it('is rejected if the result is not an object', async () => {
    equal((await patch(merge, ['x'])).status, 400);
    equal((await patch(operations, [{ op: 'remove', path: '' }])).status, 400);
  });

  it('is rejected if the result is not a valid configuration', async () => {
    const { status, body } = await patch(merge, { endpoints: 'none' });
    deepEqual([status, body.errors[0].pointer], [422, '/endpoints']);
  });

  it('keeps the exact digits of numbers', async () => {
    const big = '{"endpoints":null,"@note":12345678901234567890}';
    const headers = { 'content-type': merge, 'if-match': etag };
    await one.ask('/v1/config', { method: 'PATCH', body: big, headers });
    match((await one.ask('/v1/config?form=source')).text, /12345678901234567890/);
  });

  it('changes nothing in a dry run', async () => {
    equal((await patch(merge, { name: 'x' }, undefined, '?dry_run=true')).body.result, 'dry_run');
    equal((await one.ask('/v1/config?pointer=/name')).body, 'old');
  });
});
