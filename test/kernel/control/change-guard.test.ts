import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { type DispatchFunc, inject } from 'light-my-request';
import type { LogMessage } from '#contract';
import type { GuardState } from '#kernel';
import { GatewayError, silentLog } from '../../../kernel/contract/internal.ts';
import type { Applied, Change } from '../../../kernel/control/change.ts';
import { ChangeGuard } from '../../../kernel/control/change-guard.ts';
import { Control } from '../../../kernel/control/control.ts';
import { type Engine, openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import { defaultThresholds } from '../../../kernel/control/guard.ts';
import { recordRevisions } from '../../../kernel/control/record-revisions.ts';
import { createRevisionStore, type RevisionStore } from '../../../kernel/control/revision-store.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { handTimers } from '../../support/hand-timers.ts';
import { holdChange } from '../../support/held-change.ts';

const MINUTE = 60_000;

describe('a guarded change', () => {
  let good: TestBackend;
  let bad: TestBackend;
  let engine: Engine;
  let revisions: RevisionStore;
  let control: Control;
  let guard: ChangeGuard;
  let timers: ReturnType<typeof handTimers>;
  let ended: Promise<GuardState>;
  /** Lines of the log. */
  let lines: string[];

  before(async () => {
    good = await startBackend(json({ ok: true }));
    bad = await startBackend(json({ error: true }, 500));
  });
  after(async () => {
    await good.close();
    await bad.close();
  });

  beforeEach(async () => {
    const events = createEventLog();
    timers = handTimers();
    engine = openEngine(catalogue, { sinks: silentSinks, events });
    const { generations } = engine;
    revisions = await createRevisionStore(null, () => 20, silentLog);
    control = new Control({ generations, overrides: {}, source: config(good), events });
    recordRevisions(control, generations, revisions);
    lines = [];
    const at = (level: string) => (message: LogMessage) => void lines.push(`${level}: ${message}`);
    const log = {
      ...silentLog,
      info: at('info'),
      warning: at('warning'),
      error: at('error'),
      critical: at('critical'),
    };
    guard = new ChangeGuard({ control, generations, revisions, events, log, timers });
    ended = new Promise((resolve) => {
      events.subscribe({ types: ['guard.*'] }, ({ data }) => {
        if ((data as GuardState).state !== 'watching') resolve(data as GuardState);
      });
    });
    await control.apply({ trigger: 'start' });
    await send(30);
  });
  afterEach(async () => {
    guard.stop();
    await engine.generations.close();
    await engine.registry.close();
  });

  const config = ({ url }: TestBackend, more: object = {}, components: object = {}) => ({
    version: 3,
    host: [url],
    endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/' }], extra_config: components }],
    ...more,
  });

  const apply = (source: object, change: Partial<Change> = {}): Promise<Applied> =>
    control.apply({ trigger: 'api', source, ...change });

  // Thresholds that ignore latency, because a busy machine makes endpoints slower; these tests use failures.
  const guarded = { guard: { durationMs: MINUTE, thresholds: { ...defaultThresholds, p99Factor: 1e9 } } };

  async function send(calls: number): Promise<number[]> {
    const statuses = new Set<number>();
    for (let at = 0; at < calls; at++) {
      statuses.add((await inject(engine.generations.serve as unknown as DispatchFunc, '/a')).statusCode);
    }
    return [...statuses];
  }

  const revision = () => engine.generations.current.runtime.id;

  it('is rolled back with the reason if an endpoint fails more than before', async () => {
    const { attempt } = await apply(config(bad), guarded);
    deepEqual(await send(30), [500]);
    timers.advance(1_000);
    const state = await ended;
    deepEqual([state.state, state.revision, state.rolledBackTo, state.attempt], ['rolled-back', 2, 3, attempt]);
    match(state.reason!, /^GET \/a: errors rose from 0\.0 % to 100\.0 %/);
    deepEqual(await send(1), [200]);
    const [back, taken] = revisions.list();
    deepEqual([back!.source, taken!.result], ['guard', 'rolled-back']);
    match(back!.message!, /revision 2 was rolled back/);
    match(lines.join(), /^error: rolling back revision 2: GET \/a: errors rose[^:]*$/);
    deepEqual([control.attempts.get(attempt)!.guard, guard.state], [state, state]);
  });

  it('passes at the end of the guard period if no endpoint performed worse', async () => {
    const { attempt } = await apply(config(good, { name: 'x' }), guarded);
    const leftMs = Date.parse(guard.state!.endsAt) - Date.now();
    equal(leftMs > 0 && leftMs <= MINUTE, true);
    await send(30);
    timers.advance(MINUTE);
    deepEqual([(await ended).state, revision()], ['passed', 2]);
    deepEqual(lines, ['info: revision 2 has passed its guard period']);
    await apply(config(good, { name: 'y' }));
    equal(control.attempts.get(attempt)!.guard!.state, 'passed');
  });

  it('passes if requests fail no more often than under the previous configuration in the last five minutes', async () => {
    timers.advance(6 * MINUTE);
    await apply(config(bad));
    await send(30);
    await apply(config(bad, { name: 'x' }), guarded);
    await send(30);
    timers.advance(MINUTE);
    equal((await ended).state, 'passed');
  });

  it('is compared only with failures of the last five minutes', async () => {
    await apply(config(bad));
    await send(30);
    timers.advance(6 * MINUTE);
    await apply(config(bad, { name: 'x' }), guarded);
    await send(30);
    timers.advance(MINUTE);
    equal((await ended).state, 'rolled-back');
  });

  it('is kept when the gateway closes', async () => {
    await apply(config(bad), guarded);
    await send(30);
    guard.stop();
    timers.advance(MINUTE);
    deepEqual([guard.state!.state, lines], ['watching', []]);
  });

  it('is neither confirmed nor rolled back if there were too few calls', async () => {
    await apply(config(bad), guarded);
    await send(3);
    timers.advance(MINUTE);
    const { state, reason } = await ended;
    deepEqual([state, revision()], ['undecided', 2]);
    equal(reason, '3 calls; every endpoint had fewer than the required 20');
    deepEqual(lines, [`warning: too little traffic for the change guard to evaluate revision 2: ${reason}`]);
  });

  it('is no longer watched when another change replaces it', async () => {
    await apply(config(bad), guarded);
    await send(30);
    await apply(config(good, { name: 'mended' }));
    timers.advance(MINUTE);
    const { state, reason } = await ended;
    deepEqual([state, reason, revision(), lines], ['superseded', 'it was replaced by revision 3', 3, []]);
  });

  it('is not rolled back if another change is being applied when an endpoint performs worse', async () => {
    await apply(config(bad), guarded);
    await send(30);
    const held = holdChange(control);
    const mended = apply(config(good, { name: 'mended' }), guarded);
    await held.reached;
    timers.advance(1_000);
    await held.requested(2);
    held.release();
    const { attempt, revision: third } = await mended;
    equal(third, 3);
    const { state, reason, rolledBackTo } = await ended;
    deepEqual([state, reason, rolledBackTo], ['superseded', 'it was replaced by revision 3', null]);
    deepEqual([revision(), engine.generations.current.runtime.config.name], [3, 'mended']);
    equal(lines.at(-1), 'info: revision 2 is not rolled back: it was replaced by revision 3');
    await apply(config(good, { name: 'next' }));
    equal(control.attempts.get(attempt)!.guard!.state, 'superseded');
  });

  it('is rolled back when that other change is rejected', async () => {
    await apply(config(bad), guarded);
    await send(30);
    const held = holdChange(control);
    const refused = rejects(apply(config(good), { participant: { prepare: () => Promise.reject(new Error('no')) } }));
    await held.reached;
    timers.advance(1_000);
    await held.requested(2);
    held.release();
    await refused;
    equal((await ended).state, 'rolled-back');
  });

  for (const error of [new Error('a worker is late'), new GatewayError('PREPARE_TIMEOUT', 'a worker is late')]) {
    it(`ends with a log line if it could not be rolled back (${error.name})`, async () => {
      await apply(config(bad), guarded);
      await send(30);
      control.participants.push({ prepare: () => Promise.reject(error) });
      timers.advance(1_000);
      const { state, reason } = await ended;
      deepEqual([state, revision()], ['failed', 2]);
      match(reason!, /errors rose.*; it cannot be rolled back: a worker is late/);
      equal(lines.at(-1), 'critical: cannot roll back revision 2: a worker is late');
    });
  }

  it('is not rolled back because of rejections by a rate limit', async () => {
    await apply(config(good, {}, { 'qos/ratelimit/router': { max_rate: 1, capacity: 1 } }), guarded);
    deepEqual(await send(30), [200, 503]);
    timers.advance(MINUTE);
    equal((await ended).state, 'passed');
  });

  describe('whose configuration is already active', () => {
    it('is evaluated from the first request that the configuration served', async () => {
      await apply(config(bad));
      await send(30);
      timers.advance(MINUTE / 2);
      const { result } = await apply(config(bad), guarded);
      equal(result, 'unchanged');
      timers.advance(1_000);
      const { state, revision: watched } = await ended;
      deepEqual([state, watched], ['rolled-back', 2]);
    });

    it('is evaluated from the first request that the configuration served, even if that was minutes ago', async () => {
      await apply(config(bad));
      await send(15);
      timers.advance(4 * MINUTE);
      await send(15);
      await apply(config(bad), { guard: { durationMs: 10 * MINUTE } });
      timers.advance(1_000);
      match((await ended).reason!, /from 0\.0 % to 100\.0 % \(30 of 30 calls\)/);
    });

    it('is guarded for the remaining time', async () => {
      await apply(config(good, { name: 'x' }));
      timers.advance(MINUTE / 2);
      await apply(config(good, { name: 'x' }), guarded);
      timers.advance(MINUTE / 2 - 1);
      equal(guard.state!.state, 'watching');
      timers.advance(1);
      equal((await ended).state, 'undecided');
    });

    it("is not guarded if it has served longer than the guard's time", async () => {
      await apply(config(good, { name: 'x' }));
      timers.advance(MINUTE);
      const { attempt } = await apply(config(good, { name: 'x' }), guarded);
      deepEqual([guard.state, control.attempts.get(attempt)!.guard], [null, null]);
    });

    it('is not guarded if it is the first configuration', async () => {
      await apply(config(good), guarded);
      equal(guard.state, null);
    });

    it('is guarded with the thresholds of the latest request', async () => {
      const first = await apply(config(good, { name: 'x' }), guarded);
      const second = await apply(config(good, { name: 'x' }), guarded);
      deepEqual(
        [first, second].map(({ attempt }) => control.attempts.get(attempt)!.guard!.state),
        ['superseded', 'watching'],
      );
    });
  });

  describe('whose configuration sets a guard', () => {
    const careful = (backend: TestBackend) => config(backend, { extra_config: { 'admin/reload': { guard: '60s' } } });

    for (const trigger of ['watch', 'signal'] as const) {
      it(`is guarded if the watched file changes (${trigger})`, async () => {
        await apply(careful(bad), { trigger });
        await send(30);
        timers.advance(1_000);
        equal((await ended).state, 'rolled-back');
      });
    }

    it('is not guarded if the guard is missing or the configuration is already active', async () => {
      await apply(config(good, { name: 'x' }), { trigger: 'watch' });
      equal(guard.state, null);
      await apply(careful(good));
      equal((await apply(careful(good), { trigger: 'watch' })).result, 'unchanged');
      equal(guard.state, null);
    });

    it('is not guarded if the request disables the guard', async () => {
      await apply(careful(bad));
      equal(guard.state, null);
    });
  });
});
