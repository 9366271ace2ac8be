import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "caching"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ id: 1, name: 'Ada', email: 'ada@example.test' }));
    const config = JSON.parse(readFileSync('samples/caching/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/caching/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('calls the upstream once for two endpoints with a shared cache', async () => {
    for (let turn = 0; turn < 2; turn++) deepEqual((await gateway.inject('/users/1')).json(), { id: 1, name: 'Ada' });
    equal((await gateway.inject('/profiles/1')).json().profile.email, 'ada@example.test');
    equal(backend.requests.length, 1);
  });

  it('adds the Age header to cached responses', async () => {
    const before = backend.requests.length;
    equal((await gateway.inject('/raw/1')).headers['age'], undefined);
    equal((await gateway.inject('/raw/1')).headers['age'], '0');
    equal(backend.requests.length, before + 1);
  });

  it('returns a range of a cached response', async () => {
    await gateway.inject('/raw/2');
    const before = backend.requests.length;
    const { statusCode, headers, body } = await gateway.inject({ url: '/raw/2', headers: { range: 'bytes=0-9' } });
    deepEqual([statusCode, headers['content-range'], body], [206, 'bytes 0-9/48', '{"id":1,"n']);
    equal(backend.requests.length, before);
  });
});
