import { deepEqual, equal, match } from 'node:assert/strict';
import { Call, after as looksLast, type Reply, type Step } from '#contract';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { type AnyWrap, containedConfig, filePlugin, type Hooks, startContained } from './support.ts';

const never = <T>(): Promise<T> => new Promise<T>(() => {});
const around =
  (hook: (next: () => Promise<Reply>) => Promise<Reply>): AnyWrap =>
  <R>(next: Step<R>) =>
  (request: R, call: Call) =>
    hook(async () => next(request, call));
const hanging = around(() => never());
const passing = around((next) => next());

describe('a hook that holds a request when its deadline passes', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let lines: readonly string[];
  let isSilent = false;

  beforeEach(async () => {
    isSilent = false;
    backend = await startBackend((seen, response) => {
      if (!isSilent) json({ a: 1 })(seen, response);
    });
  });
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const start = async (hooks: Hooks, policy: object = {}): Promise<void> => {
    const options = { policy, endpoint: { timeout: '50ms' } };
    ({ gateway, lines } = await startContained(import.meta.url, backend.url, hooks, options));
  };
  const ask = async () => (await gateway.inject('/a')).statusCode;
  const faults = () => gateway.containment.records.flatMap((record) => record.faults);
  const report = (hook: string) =>
    `[PLUGIN: acme/test] hook "${hook}" of GET /a failed: HeldTooLong: the deadline of the request passed while it held it`;

  for (const [what, hooks, hook] of [
    ['before the endpoint', { endpoint: { endpoint: hanging } }, 'endpoint'],
    ['around the pipe', { endpoint: { proxy: hanging } }, 'proxy'],
    ['around a backend', { backend: { backend: hanging } }, 'backend'],
    ['in place of the client', { backend: { transport: hanging } }, 'transport'],
    ['after the backend', { endpoint: { proxy: around((next) => next().then(() => never())) } }, 'proxy'],
    ['with the reply', { endpoint: { proxy: looksLast(() => never()) } }, 'proxy'],
    ['inside another hook', { endpoint: { endpoint: passing, proxy: hanging } }, 'proxy'],
    ['around another hook', { endpoint: { endpoint: hanging, proxy: passing } }, 'endpoint'],
  ] as const satisfies readonly (readonly [string, Hooks, string])[]) {
    for (const on_error of ['refuse', 'skip']) {
      it(`is named with plugin, hook and endpoint, and counted: ${what}, ${on_error}`, async () => {
        await start(hooks as Hooks, { on_error });
        equal(await ask(), 500);
        await until(() => lines.some((line) => line.includes(report(hook))));
        deepEqual(
          faults().map((fault) => [fault.hook, fault.count, fault.endpoint]),
          [[hook, 1, 'GET /a']],
        );
      });
    }
  }

  it('is not one that waits for a backend', async () => {
    isSilent = true;
    await start({ endpoint: { endpoint: passing, proxy: passing }, backend: { backend: passing, transport: passing } });
    equal(await ask(), 500);
    isSilent = false;
    equal(await ask(), 200);
    deepEqual(faults(), []);
  });

  it('is none where the answer is given in time, whatever its hooks have waited for', async () => {
    await start({ endpoint: { endpoint: passing, proxy: passing } });
    for (let request = 0; request < 10; request++) equal(await ask(), 200);
    deepEqual(faults(), []);
  });

  it('is suspended after so many', async () => {
    await start({ endpoint: { proxy: hanging } }, { suspend_after: 2 });
    const statuses: number[] = [];
    for (let request = 0; request < 3; request++) {
      statuses.push(await ask());
      await until(() => faults()[0]?.count === Math.min(request + 1, 2));
    }
    deepEqual(statuses, [500, 500, 503]);
  });

  it('is not followed where no plugin is from a file', async () => {
    let seen: unknown = 'not called';
    const wrap: AnyWrap = (next) => async (request, call) => {
      seen = call.trail;
      return next(request, call);
    };
    const { source: _, ...plugin } = filePlugin(import.meta.url, { endpoint: { endpoint: passing, proxy: wrap } });
    gateway = await startWith([plugin], containedConfig(backend.url, { endpoint: {} }));
    equal(await ask(), 200);
    equal(seen, null);
  });

  it('is told of once for a call of a part whose time was shorter, and not for the whole', async () => {
    const call = new Call();
    const part = call.fork(1);
    const expired: Call[] = [];
    call.trail = { expired: (each) => void expired.push(each) };
    await new Promise<void>((resolve) => part.onCancel(() => resolve()));
    deepEqual(expired, [part]);
    match(String(part.reason), /deadline/);
    equal(call.reason, null);
  });
});
