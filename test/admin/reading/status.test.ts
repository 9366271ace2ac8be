import { deepEqual, equal } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigText } from '../../../kernel/index.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { version } from '../../../kernel/version.ts';
import { json, openGateway, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('GET /v1/status', () => {
  let backend: TestBackend;
  let home: string;
  let file: string;
  let gateway: Operations;
  let admin: ReadingPort;

  const config = (path = '/a') => ({
    version: 3,
    endpoints: [{ endpoint: path, backend: [{ host: [backend.url], url_pattern: '/' }] }],
  });
  const write = (data: unknown) => writeFile(file, typeof data === 'string' ? data : JSON.stringify(data));
  const status = async () => (await admin.ask('/v1/status')).body;

  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    home = await mkdtemp(join(tmpdir(), 'status-'));
    file = join(home, 'gateway.json');
    await write(config());
    gateway = await openGateway(file, { port: 0, sinks: silentSinks });
    await gateway.listen();
    admin = await openReading(gateway);
  });

  afterEach(async () => {
    await admin.close();
    await gateway.close();
    await backend.close();
    await rm(home, { recursive: true });
  });

  it('returns all properties of the active configuration', async () => {
    const { startedAt, hash, lastReload, ...rest } = await status();
    equal(startedAt, new Date(gateway.startedAt).toISOString());
    equal(hash, gateway.status.hash);
    const { at, durationMs, ...reload } = lastReload;
    deepEqual([typeof at, typeof durationMs], ['string', 'number']);
    deepEqual(reload, { attempt: 1, result: 'applied', trigger: 'start', problem: null });
    deepEqual(rest, {
      product: 'Sluice',
      version,
      state: 'serving',
      revision: 1,
      source: 'start',
      sourceFile: file,
      store: null,
      drift: false,
      converged: true,
      workers: 1,
      endpoints: 1,
      internalErrors: 0,
      guard: null,
      secrets: { inUse: 0, failing: [] },
      watch: { enabled: false, files: 0, mode: null },
      requiresRestart: [],
      warnings: [],
      warningsTotal: 0,
    });
  });

  it('returns the number of watched files', async () => {
    await gateway.watch();
    const { enabled, files } = (await status()).watch;
    deepEqual([enabled, files], [true, 1]);
  });

  it('returns why the last change was rejected, with places', async () => {
    await write({ version: 3, endpoints: [{ endpoint: 'a', backend: [{ url_pattern: '/' }] }] });
    await gateway.reload().catch(() => {});
    const { result, problem } = (await status()).lastReload;
    equal(result, 'failed');
    deepEqual([problem.errors[0].pointer, problem.errors[0].line], ['/endpoints/0/endpoint', 1]);
  });

  it('ignores dry runs', async () => {
    await gateway.apply({ trigger: 'api', source: { version: 3, endpoints: 7 }, dryRun: true }).catch(() => {});
    equal((await status()).lastReload.attempt, 1);
  });

  it('reports a drain', async () => {
    await admin.send('POST', '/v1/drain');
    equal((await status()).state, 'draining');
  });

  it('names the source of a change that came over the API', async () => {
    await gateway.reload(new ConfigText(JSON.stringify(config('/b')), 'json'));
    equal((await status()).source, 'api');
  });

  it('reports drift after a change that was not written to the file', async () => {
    await gateway.reload(new ConfigText(JSON.stringify(config('/b')), 'json'));
    equal((await status()).drift, true);
  });

  it('reports drift while the file contains a rejected configuration', async () => {
    await write('{');
    await gateway.reload().catch(() => {});
    equal((await status()).drift, true);
  });

  it('reports drift while the file is missing', async () => {
    await rm(file);
    equal((await status()).drift, true);
  });

  it('reports no drift if only the layout of the file changed', async () => {
    await write(JSON.stringify(config(), null, 4));
    equal((await status()).drift, false);
  });

  it('reports no drift after the file was applied again', async () => {
    await write(config('/b'));
    await gateway.reload();
    equal((await status()).drift, false);
  });
});

describe('GET /v1/status of a gateway without a file', () => {
  it('names no file, and never reports drift', async () => {
    const gateway = await startGateway({ endpoints: [] });
    const admin = await openReading(gateway);
    const { sourceFile, drift } = (await admin.ask('/v1/status')).body;
    deepEqual([sourceFile, drift], [null, false]);
    await admin.close();
    await gateway.close();
  });
});

describe('GET /v1/status of a gateway that resumed its last good configuration', () => {
  it('reports the state degraded', async () => {
    const home = await mkdtemp(join(tmpdir(), 'status-'));
    const options = { port: 0, sinks: silentSinks, revisionDirectory: home };
    const first = await openGateway({ version: 3, endpoints: [] }, options);
    await first.listen();
    await first.close();
    const gateway = await openGateway({ version: 3, endpoints: 7 } as never, { ...options, resumeLastGood: true });
    const admin = await openReading(gateway);
    equal((await admin.ask('/v1/status')).body.state, 'degraded');
    await admin.close();
    await gateway.close();
    await rm(home, { recursive: true });
  });
});
