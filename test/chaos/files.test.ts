import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { fileFailures, filesRows } from '../../scripts/chaos/components.ts';
import { installFailures } from '../../scripts/chaos/failures/install.ts';
import type { Fault } from '../../scripts/chaos/failures/plan.ts';
import { until } from '../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

const SLOW_MS = 500;

const faults: Readonly<Record<(typeof fileFailures)[number], readonly Fault[]>> = {
  full: [{ operation: 'write', error: 'ENOSPC' }],
  denied: [{ operation: 'open', error: 'EACCES' }],
  broken: [
    { operation: 'write', error: 'EIO' },
    { operation: 'rename', error: 'EIO' },
  ],
  slow: [{ operation: 'write', delayMs: SLOW_MS }],
};

describe('while the file system fails, telemetry/recorder', () => {
  let folder: string;
  let backend: TestBackend;
  let gateway: Operations;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  after(() => backend.close());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'recorded-'));
    sinks.lines.length = 0;
    gateway = await startGateway(
      {
        extra_config: { 'telemetry/recorder': { sample_rate: 1, folder: { path: folder } } },
        endpoints: [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }],
      },
      { sinks },
    );
  });
  afterEach(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });

  const ask = async (): Promise<number> => (await gateway.inject('/a')).statusCode;
  const written = () => readdirSync(folder).filter((name) => name.endsWith('.har')).length;

  for (const failure of fileFailures) {
    it(`does not affect requests, and continues with the next recording: ${failure}`, async () => {
      const match = folder.replace(/[^\w/-]/g, '.');
      const { remove } = await installFailures({
        seed: 1,
        faults: faults[failure].map((fault) => ({ ...fault, match })),
      });
      try {
        const from = performance.now();
        deepEqual([await ask(), await ask()], [200, 200]);
        if (failure === 'slow') ok(performance.now() - from < 2 * SLOW_MS);
        else await until(() => sinks.lines.some((line) => line.includes('a recording was not written: E')));
      } finally {
        remove();
      }
      const before = written();
      equal(await ask(), 200);
      await until(() => written() > before);
    });
  }

  it('is the only component with a row in test/CHAOS.md', () => {
    deepEqual(
      filesRows.map(({ component }) => component),
      ['telemetry/recorder'],
    );
  });
});
