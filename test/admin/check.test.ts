import { deepEqual, equal, ok } from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('a check over the admin API', () => {
  let directory: string;
  let file: string;
  let one: TestAdmin;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-check-'));
    file = join(directory, 'gateway.json');
    writeFileSync(file, JSON.stringify(config()));
    one = await openAdmin(file);
  });
  after(async () => {
    await one.close();
    rmSync(directory, { recursive: true });
  });

  const check = (body?: object, query = '') => one.ask(`/v1/check${query}`, { method: 'POST', ...(body && { body }) });
  const codesOf = ({ body }: { body: { errors: { code: string; pointer: string }[] } }) =>
    body.errors.map(({ pointer }) => pointer).sort();

  it('returns the changes that applying would make', async () => {
    const { status, body } = await check(config('/a', '/b'));
    equal(status, 200);
    equal(body.valid, true);
    equal(body.endpoints, 2);
    equal(body.backends, 2);
    deepEqual(body.audit, []);
  });

  it('parses a long YAML text on a thread, one at a time', async () => {
    const text = `version: 3\nendpoints: []\n${Array.from({ length: 3000 }, (_, at) => `"@${at}": ${at}`).join('\n')}\n`;
    let running = 0;
    let most = 0;
    let started = 0;
    const count = (message: unknown) => {
      const { worker } = message as { worker: Worker };
      started++;
      most = Math.max(most, ++running);
      worker.once('exit', () => running--);
    };
    subscribe('worker_threads', count);
    try {
      const yaml = { method: 'POST', body: text, headers: { 'Content-Type': 'application/yaml' } };
      const answers = await Promise.all([one.ask('/v1/check', yaml), one.ask('/v1/check', yaml)]);
      deepEqual(
        answers.map(({ body }) => body.valid),
        [true, true],
      );
    } finally {
      unsubscribe('worker_threads', count);
    }
    deepEqual([started, most], [2, 1]);
  });

  it('returns the hash that the configuration would have when applied', async () => {
    const { body } = await check(config('/hash'));
    const applied = await one.ask('/v1/config?dry_run=true', { method: 'PUT', body: config('/hash') });
    equal(body.hash, applied.body.hash);
  });

  it('lists the components in use', async () => {
    const { body } = await check({ ...config(), extra_config: { 'security/http': { frame_deny: true } } });
    deepEqual(body.namespaces, { 'security/http': 1 });
  });

  it('returns each error with its pointer', async () => {
    const response = await check({ version: 3, endpoints: [{ endpoint: 'a', backend: [] }] });
    equal(response.status, 422);
    equal(response.body.type, 'urn:gateway:problem:validation');
    deepEqual(codesOf(response), ['/endpoints/0/backend', '/endpoints/0/endpoint']);
  });

  it('reports two colliding routes with the places of both', async () => {
    const response = await check(config('/user/{a}', '/user/{b}/x'));
    equal(response.status, 422);
    equal(response.body.type, 'urn:gateway:problem:routes');
    const [{ pointer, related }] = response.body.errors;
    deepEqual([pointer, related[0].pointer], ['/endpoints/1/endpoint', '/endpoints/0/endpoint']);
  });

  it('writes error codes with a dot instead of the underscore', async () => {
    const { body } = await check({ ...config(), timeout: true });
    equal(body.errors[0].code, 'DURATION_INVALID');
  });

  it('does not show the value of an invalid secret', async () => {
    const { text } = await check({ ...config(), extra_config: { 'admin/api': { tokens: [{ id: 'hidden-id' }] } } });
    ok(!text.includes('hidden-id'), text);
  });

  it('lists at most 200 errors, and the number of omitted ones', async () => {
    const endpoints = Array.from({ length: 205 }, (_, index) => ({
      ...config().endpoints[0],
      endpoint: `bad${index}`,
    }));
    const { body } = await check({ version: 3, endpoints });
    equal(body.errors.length, 200);
    equal(body.errorsTruncated, 5);
  });

  it('without a body checks the file on disk', async () => {
    equal((await check()).status, 200);
    writeFileSync(file, '{');
    const { status, body } = await check();
    equal(status, 400);
    equal(body.errors[0].file, file);
    writeFileSync(file, JSON.stringify(config()));
  });

  it('reports a missing file', async () => {
    rmSync(file);
    const { status, body } = await check();
    equal(status, 424);
    equal(body.type, 'urn:gateway:problem:warmup');
    writeFileSync(file, JSON.stringify(config()));
  });

  it('runs the steps that the parameter "level" selects', async () => {
    const wrongType = { ...config(), timeout: true };
    equal((await check(wrongType, '?level=syntax')).status, 200);
    equal((await check(wrongType, '?level=schema')).status, 422);
    const wrongFile = {
      ...config(),
      extra_config: { 'admin/api': { tls: { certificate: '/none.pem', private_key: '/none.key' } } },
    };
    equal((await check(wrongFile, '?level=schema')).status, 200);
    equal((await check(wrongFile, '?level=full')).status, 422);
  });

  it('rejects unknown levels', async () => equal((await check(config(), '?level=deep')).status, 400));

  it('includes recommendations of the audit on request', async () => {
    const { body } = await check(config(), '?audit=true');
    ok(body.audit.length > 0);
    ok('rule' in body.audit[0]);
  });

  it('includes warnings', async () => {
    const { body } = await check({ ...config(), extra_config: { router: { forwarded_by_client_ip: true } } });
    equal(body.warnings[0].pointer, '/extra_config/router/forwarded_by_client_ip');
    equal(body.warnings[0].severity, 'warning');
  });

  it('responds while a change is being applied, and changes nothing', async () => {
    const release = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const participant = {
      async prepare() {
        began.resolve();
        await release.promise;
        return { commit() {}, abort() {} };
      },
    };
    const applying = one.gateway.apply({ trigger: 'api', source: config('/held'), dryRun: true, participant });
    await began.promise;
    equal((await check(config('/x'))).status, 200);
    release.resolve();
    await applying;
    equal(one.gateway.status.revision, 1);
  });
});
