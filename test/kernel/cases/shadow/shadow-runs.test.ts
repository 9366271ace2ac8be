import { deepEqual, equal, rejects } from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { ConfigText, type Operations, ShadowRuns } from '../../../../kernel/index.ts';
import type { Sample, Sampling } from '../../../../kernel/server/exchange/sample.ts';
import { until } from '../../../support/conditions.ts';
import { startGateway } from '../../../support/gateway.ts';

const program = fileURLToPath(new URL('../../../support/silent-candidate.ts', import.meta.url));
const settings = { durationMs: 3_600_000, sample: 1, sendsAnyMethod: false };
const skipped = { busy: 0, incomplete: 0, unsuitable: 0 };
const config = (endpoint: string) => ({
  version: 3,
  endpoints: [{ endpoint, backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] }],
});
const next = new ConfigText(JSON.stringify(config('/b')), 'json');

describe('the shadow runs of a gateway', function () {
  // Each run starts a process.
  this.timeout(30_000);
  let gateway: Operations;
  let runs: ShadowRuns;
  let sampling: Sampling | null;
  beforeEach(async () => {
    sampling = null;
    gateway = await startGateway(config('/a'), { program });
    runs = new ShadowRuns({
      apply: (change) => gateway.apply(change),
      events: gateway.events,
      log: gateway.log,
      rehearsals: gateway.rehearsals,
      get serving() {
        return gateway.serving;
      },
      get status() {
        return gateway.status;
      },
      processes: {
        port: 1,
        sample(order) {
          sampling = order;
        },
      },
    });
  });
  afterEach(async () => {
    runs.close();
    await gateway.close();
  });

  const start = () => runs.start({ trigger: 'api', source: next }, settings);
  const sample = (revision: number): Sample => ({
    revision,
    request: { method: 'GET', url: '/a', headers: [], address: '', isEncrypted: false },
    response: { status: 200, headers: [], body: new Uint8Array() },
  });

  it('hold at most 128 samples, and skip further ones', async () => {
    await start();
    for (let count = 0; count < 130; count++) void sampling!.receive({ sample: sample(1), skipped });
    const report = await runs.stop();
    equal(report!.skipped.busy, 2);
  });

  it('ignore samples of another revision, and count what processes skip', async () => {
    await start();
    await sampling!.receive({ sample: sample(2), skipped: { busy: 1, incomplete: 2, unsuitable: 3 } });
    const { skipped: counts } = (await runs.stop())!;
    deepEqual(counts, { busy: 1, incomplete: 2, unsuitable: 3, budget: 0, limited: 0 });
  });

  it('end sampling when they end, and do not end twice', async () => {
    await start();
    const [one, other] = await Promise.all([runs.stop(), runs.stop()]);
    equal(one, other);
    deepEqual([sampling, runs.isBusy, await runs.stop()], [null, false, null]);
    equal(runs.report, one);
  });

  it('are started one at a time, also while the first is being built', async () => {
    const first = start();
    await rejects(start(), /a shadow run is in progress/);
    await first;
    equal(runs.isBusy, true);
  });

  it('are not started for a change that is abandoned', async () => {
    const rehearse = () => Promise.reject(new Error('no'));
    await rejects(runs.start({ trigger: 'api', source: next, rehearse }, settings));
    deepEqual([runs.isBusy, runs.report], [false, null]);
    equal((await start()).result, 'dry_run');
  });

  it('release the process when another step of the change fails', async () => {
    const leave = gateway.join({ prepare: () => Promise.reject(new Error('no')) });
    await rejects(start());
    leave();
    equal(runs.isBusy, false);
    equal((await start()).result, 'dry_run');
    await until(() => runs.report?.state === 'running');
  });
});
