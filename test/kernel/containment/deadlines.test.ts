import { deepEqual, equal, match } from 'node:assert/strict';
import { mock } from 'node:test';
import { Call, after as looksLast, type Reply, type Step } from '#contract';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { type AnyWrap, containedConfig, filePlugin, type Hooks, startContained } from './support.ts';

/** Hooks that were called and never return. */
let hung = 0;
const never = <T>(): Promise<T> => {
  hung++;
  return new Promise<T>(() => {});
};
const around =
  (hook: (next: () => Promise<Reply>) => Promise<Reply>): AnyWrap =>
  <R>(next: Step<R>) =>
  (request: R, call: Call) =>
    hook(async () => next(request, call));
const hanging = around(() => never());
const passing = around((next) => next());

describe('a hook of a plugin from a file that holds a request past its deadline', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let lines: readonly string[];
  let isSilent = false;

  beforeEach(async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    isSilent = false;
    backend = await startBackend((seen, response) => {
      if (!isSilent) json({ a: 1 })(seen, response);
    });
  });
  afterEach(async () => {
    mock.timers.reset();
    await gateway.close();
    await backend.close();
  });

  const start = async (hooks: Hooks, policy: object = {}): Promise<void> => {
    const options = { policy, endpoint: { timeout: '60s' } };
    ({ gateway, lines } = await startContained(import.meta.url, backend.url, hooks, options));
  };
  const ask = async () => (await gateway.inject('/a')).statusCode;
  /** Sends a request, and lets the deadline pass once a hook is waiting. */
  const askUntil = async (waits: () => boolean): Promise<number> => {
    const asked = ask();
    await until(waits);
    mock.timers.tick(60_000);
    return asked;
  };
  const askAndHang = (): Promise<number> => {
    const before = hung;
    return askUntil(() => hung > before);
  };
  const faults = () => gateway.containment.records.flatMap((record) => record.faults);
  const report = (hook: string) =>
    `[PLUGIN: acme/test] hook "${hook}" of GET /a failed: HeldTooLong: the hook was still processing the request when the deadline of the request passed`;

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
      it(`is logged with plugin, hook and endpoint, and counted: ${what}, with on_error "${on_error}"`, async () => {
        await start(hooks as Hooks, { on_error });
        equal(await askAndHang(), 500);
        await until(() => lines.some((line) => line.includes(report(hook))));
        deepEqual(
          faults().map((fault) => [fault.hook, fault.count, fault.endpoint]),
          [[hook, 1, 'GET /a']],
        );
      });
    }
  }

  it('is not reported if it waits for a backend', async () => {
    isSilent = true;
    await start({ endpoint: { endpoint: passing, proxy: passing }, backend: { backend: passing, transport: passing } });
    equal(await askUntil(() => backend.requests.length > 0), 500);
    isSilent = false;
    equal(await ask(), 200);
    deepEqual(faults(), []);
  });

  it('is not reported if the response is on time', async () => {
    await start({ endpoint: { endpoint: passing, proxy: passing } });
    for (let request = 0; request < 10; request++) equal(await ask(), 200);
    deepEqual(faults(), []);
  });

  it('is suspended after the configured number of such requests', async () => {
    await start({ endpoint: { proxy: hanging } }, { suspend_after: 2 });
    for (let request = 1; request <= 2; request++) {
      equal(await askAndHang(), 500);
      await until(() => faults()[0]?.count === request);
    }
    equal(await ask(), 503);
  });

  it('is not tracked if no plugin is from a file', async () => {
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

  it('is reported once for a call with a shorter deadline, and not for the whole request', async () => {
    const call = new Call();
    const part = call.fork(1);
    const expired: Call[] = [];
    call.trail = { expired: (each) => void expired.push(each) };
    part.onCancel(() => {});
    mock.timers.tick(1);
    deepEqual(expired, [part]);
    match(String(part.reason), /deadline/);
    equal(call.reason, null);
  });
});
