import { deepEqual, equal } from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LogMessage } from '#contract';
import type { Operations } from '#kernel';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { createLeakGuard, type LeakGuard } from '../../../kernel/control/leak-guard.ts';
import { partsOf, rememberingSinks, startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/stream-client.ts';

const MINUTE_MS = 60_000;

describe('the leak guard for replaced configurations', () => {
  let now = 0;
  let collected: (() => void) | null = null;
  let warnings: string[] = [];
  let guard: LeakGuard;
  /** An object that stays in memory. */
  const kept = {};

  beforeEach(() => {
    now = 0;
    collected = null;
    warnings = [];
    guard = createLeakGuard({
      log: { ...silentLog, warning: (message: LogMessage) => void warnings.push(String(message)) },
      now: () => now,
      follow: (onCollected) => {
        collected = onCollected;
        return () => {
          collected = null;
        };
      },
    });
  });

  afterEach(() => guard.close());

  it('does not observe garbage collection before a configuration is replaced', () => {
    equal(collected, null);
  });

  it('warns if an object is still in memory after a minute and two collections', () => {
    guard.expectGone(kept, 7);
    collected!();
    now = MINUTE_MS;
    collected!();
    deepEqual(warnings, ['revision 7 was released but is still in memory']);
  });

  it('names the plugins from files that are still in memory', () => {
    guard.expectGone(kept, 7, () => ['plugin "acme/a" (one, /a.ts)', 'plugin "acme/b" (two, /b.ts)']);
    collected!();
    now = MINUTE_MS;
    collected!();
    deepEqual(warnings, [
      'revision 7 was released but is still in memory, perhaps referenced by plugin "acme/a" (one, /a.ts) or plugin "acme/b" (two, /b.ts)',
    ]);
  });

  it('warns of a plugin instance of which a part is still in memory', () => {
    guard.expectFreed([new WeakRef(kept)], 'plugin "acme/a" (one, /a.ts)');
    guard.expectFreed([], 'plugin "acme/b" (two, /b.ts)');
    collected!();
    now = MINUTE_MS;
    collected!();
    deepEqual(warnings, [
      'plugin "acme/a" (one, /a.ts) was replaced or removed but is still in memory: referenced by a timer, listener or promise it created',
    ]);
    equal(guard.leaked, 0);
  });

  it('does not warn after only one collection', () => {
    guard.expectGone(kept, 7);
    now = 10 * MINUTE_MS;
    collected!();
    deepEqual(warnings, []);
  });

  it('does not warn before a minute has passed', () => {
    guard.expectGone(kept, 7);
    now = MINUTE_MS - 1;
    for (let count = 0; count < 5; count++) collected!();
    deepEqual([warnings, guard.leaked], [[], 0]);
  });

  it('counts leaked objects', () => {
    guard.expectGone(kept, 7);
    now = MINUTE_MS;
    collected!();
    collected!();
    equal(guard.leaked, 1);
  });

  it('stops observing garbage collection once everything is reported', () => {
    guard.expectGone(kept, 7);
    now = MINUTE_MS;
    collected!();
    collected!();
    equal(collected, null);
  });

  it('keeps observing while another object is expected to be collected', () => {
    guard.expectGone(kept, 7);
    now = MINUTE_MS;
    collected!();
    guard.expectGone(kept, 8);
    collected!();
    equal(warnings.length, 1);
    equal(typeof collected, 'function');
  });

  it('does not observe garbage collection after it was closed', () => {
    guard.expectGone(kept, 7);
    guard.close();
    equal(collected, null);
  });
});

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

describe('the leak guard with real garbage collection', () => {
  let now = 0;
  let warnings = 0;
  let guard: LeakGuard;

  beforeEach(() => {
    now = 0;
    warnings = 0;
    guard = createLeakGuard({ log: { ...silentLog, warning: () => void warnings++ }, now: () => now });
  });

  afterEach(() => guard.close());

  it('does not warn of collected objects', async () => {
    const stays = {};
    guard.expectGone({ big: new Array(1000).fill(0) }, 1);
    guard.expectGone(stays, 2);
    now = MINUTE_MS;
    await eventually(() => {
      collect();
      return warnings > 0;
    });
    deepEqual([warnings, guard.leaked], [1, 1]);
    equal(typeof stays, 'object');
  });

  it('reduces the count if an object is collected later', async () => {
    let stays: object | null = {};
    guard.expectGone(stays, 1);
    now = MINUTE_MS;
    await eventually(() => {
      collect();
      return guard.leaked === 1;
    });
    stays = null;
    await eventually(() => {
      collect();
      return guard.leaked === 0;
    });
    equal(stays, null);
  });
});

describe('a replaced configuration', () => {
  const realNow = performance.now;
  let gateway: Operations;

  beforeEach(async () => {
    gateway = await startGateway({ endpoints: [] });
  });

  afterEach(async () => {
    performance.now = realNow;
    await gateway.close();
  });

  const collectedUntil = (holds: () => boolean) =>
    eventually(() => {
      collect();
      return holds();
    });

  it('is removed from memory', async () => {
    const ref = new WeakRef(partsOf(gateway).generations.current.runtime);
    await gateway.reload({ version: 3, name: 'other', endpoints: [] });
    await collectedUntil(() => ref.deref() === undefined);
    equal(gateway.processes.leaked, 0);
  });

  it('is no longer observed when the gateway has closed', async () => {
    const lines = rememberingSinks();
    const closed = await startGateway({ endpoints: [] }, { sinks: lines });
    const { runtime } = partsOf(closed).generations.current;
    await closed.reload({ version: 3, name: 'other', endpoints: [] });
    await eventually(() => closed.status.draining === 0);
    await closed.close();
    // The object of the other gateway shows that garbage was collected twice.
    const { runtime: kept } = partsOf(gateway).generations.current;
    await gateway.reload({ version: 3, name: 'other', endpoints: [] });
    await eventually(() => gateway.status.draining === 0);
    performance.now = () => realNow.call(performance) + MINUTE_MS;
    await collectedUntil(() => gateway.processes.leaked === 1);
    deepEqual([runtime.id, kept.id, lines.lines.filter((line) => line.includes('still in memory'))], [1, 1, []]);
  });

  it('is reported if it is still referenced', async () => {
    const { runtime } = partsOf(gateway).generations.current;
    await gateway.reload({ version: 3, name: 'other', endpoints: [] });
    await eventually(() => gateway.status.draining === 0);
    performance.now = () => realNow.call(performance) + MINUTE_MS;
    await collectedUntil(() => gateway.processes.leaked === 1);
    equal(runtime.id, 1);
  });
});
