import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Attempt } from '../../../kernel/control/attempts.ts';
import type { Applied, Change } from '../../../kernel/control/change.ts';
import { Control, type ControlOptions } from '../../../kernel/control/control.ts';
import { type Engine, openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import type { Participant, Ready } from '../../../kernel/control/participant.ts';
import { ConfigText } from '../../../kernel/control/snapshot.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { holdChange } from '../../support/held-change.ts';

describe('the steps of a change', () => {
  const events = createEventLog();
  let engine: Engine;
  let control: Control;
  let reported: string[];

  const config = (name: string, more: object = {}) => ({ version: 3, name, endpoints: [], ...more });
  const open = (options: Partial<ControlOptions> = {}) =>
    new Control({ generations: engine.generations, overrides: {}, source: config('one'), events, ...options });
  const apply = (change: Partial<Change> = {}): Promise<Applied> => control.apply({ trigger: 'api', ...change });

  beforeEach(() => {
    engine = openEngine(catalogue, { sinks: silentSinks, events });
    control = open();
    reported = [];
  });
  afterEach(async () => {
    await engine.generations.close();
    await engine.registry.close();
  });

  /** A participant that records its calls. @param fails the step in which it fails. */
  const participant = (
    name: string,
    fails?: 'prepare' | 'precommit' | 'commit',
    more: Partial<Ready> = {},
  ): Participant => {
    const step = (of: 'prepare' | 'precommit' | 'commit' | 'abort') => {
      reported.push(`${name} ${of}`);
      if (of === fails) throw new Error(`${name} cannot ${of}`);
    };
    return {
      async prepare() {
        step('prepare');
        return {
          precommit: async () => step('precommit'),
          commit: () => step('commit'),
          abort: () => step('abort'),
          ...more,
        };
      },
    };
  };

  describe('at startup', () => {
    it('do not compare the configuration with a previous one', async () => {
      equal(control.replaced, null);
      const { result, revision, previous, hash, attempt, changes } = await control.apply({ trigger: 'start' });
      deepEqual([result, revision, previous, hash, attempt], ['applied', 1, 0, '', 1]);
      deepEqual(changes, { added: [], changed: [], removed: [] });
      equal(control.replaced, null);
      equal(control.current.trigger, 'start');
      ok(Math.abs(Date.now() - Date.parse(control.current.at)) < 60_000);
    });

    it('reject If-Match, because no configuration is active yet', async () => {
      await apply({ provided: () => void reported.push('asked') });
      deepEqual(reported, []);
    });

    it('continue after the last revision number that another process stored', async () => {
      control = open({ lastRevision: 41 });
      equal((await apply()).revision, 42);
    });

    it('record no revision for a rejected attempt', async () => {
      control = open({ source: { version: 3, nope: 1 } });
      await rejects(apply());
      const [attempt] = control.attempts.list;
      deepEqual([attempt!.revision, attempt!.result], [0, 'failed']);
    });
  });

  it('know the fields that the command line overrides', () => {
    const overrides = { port: 1 };
    equal(open({ overrides }).overrides, overrides);
  });

  it('remember the previous configuration, and the trigger of the active one', async () => {
    await control.apply({ trigger: 'start' });
    await apply({ source: config('two') });
    equal((control.replaced!.snapshot.data as { name: string }).name, 'one');
    deepEqual([control.replaced!.trigger, control.current.trigger], ['start', 'api']);
  });

  it('keep author and warnings if the same configuration is applied again', async () => {
    const odd = config('odd', { endpoints: [{ ...endpoint, extra_config: { proxy: { sequential: true } } }] });
    await control.apply({ trigger: 'watch', source: odd });
    const { at, warnings } = control.current;
    ok(warnings.length > 0);
    const { result, warnings: repeated, revision, hash, changes, rebound } = await apply({ source: { ...odd } });
    deepEqual([result, repeated, revision, rebound], ['unchanged', [], 1, []]);
    deepEqual(changes, { added: [], changed: [], removed: [] });
    equal(hash, engine.generations.current.runtime.hash);
    deepEqual([control.current.trigger, control.current.at, control.current.warnings], ['watch', at, warnings]);
    equal(control.replaced, null);
  });

  it('read the latest file again on a reload, even after a change sent as text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
    const file = join(folder, 'gateway.json');
    writeFileSync(file, JSON.stringify(config('file')));
    await control.apply({ trigger: 'start' });
    await apply({ source: file });
    equal(control.source, file);
    await apply({ source: new ConfigText(JSON.stringify(config('text')), 'json') });
    equal(control.source, file);
    await apply({ source: () => config('asked') });
    deepEqual(control.source, config('asked'));
    rmSync(folder, { recursive: true });
  });

  it('report that a change is in progress until they are over', async () => {
    equal(control.busy, false);
    const applied = apply();
    equal(control.busy, true);
    await applied;
    equal(control.busy, false);
  });

  it('wait for another change no longer than requested', async () => {
    await apply();
    const held = holdChange(control);
    const applied = apply({ source: config('two') });
    await held.reached;
    await rejects(apply({ waitMs: 1 }), { code: 'RELOAD_IN_PROGRESS' });
    held.release();
    equal((await applied).revision, 2);
  });

  it('report the errors of an invalid configuration even if it would equal the active one after normalization', async () => {
    await apply();
    await rejects(apply({ source: config('one', { nope: 1 }) }), { slug: 'validation' });
  });

  it('report no drift if the configuration is not a file', async () => {
    await apply();
    await apply({ source: new ConfigText(JSON.stringify(config('text')), 'json') });
    equal(await control.hasDrifted(), false);
  });

  it('report that no change is in progress after a failure', async () => {
    await rejects(apply({ source: { version: 3, nope: 1 } }));
    equal(control.busy, false);
  });

  it('end when the gateway closes, and no further change starts', async () => {
    await apply();
    const held = holdChange(control);
    let ended = false;
    const applied = apply({ source: config('two') }).then(() => {
      ended = true;
    });
    await held.reached;
    const closing = control.close().then(() => equal(ended, true));
    await rejects(apply({ waitMs: 0 }), { code: 'RELOAD_IN_PROGRESS' });
    const late = rejects(apply(), { code: 'GATEWAY_CLOSED' });
    held.release();
    await Promise.all([applied, closing, late]);
    equal(control.busy, false);
  });

  describe('are reported', () => {
    it('as an attempt, which has its number from the beginning', async () => {
      const begun: number[] = [];
      const before = performance.now();
      const { attempt, durationMs, phases } = await apply({ begun: (id) => void begun.push(id) });
      deepEqual([begun, attempt], [[1], 1]);
      const kept = control.attempts.get(1)!;
      deepEqual([kept.result, kept.revision, kept.durationMs, kept.phases], ['applied', 1, durationMs, phases]);
      ok(Number.isInteger(durationMs) && durationMs <= performance.now() - before + 1);
      deepEqual(Object.keys(phases), ['read', 'validate', 'build', 'warmup', 'swap']);
    });

    it('to onDone and onSettled before the response; dry runs and rejected changes are only reported to onSettled', async () => {
      control.onDone.push(async (_change, { result }) => {
        await null;
        reported.push(`done ${result}`);
      });
      control.onSettled.push(
        ({ result }: Attempt, applied) => void reported.push(`settled ${result} ${applied?.result}`),
      );
      await apply().then(() => reported.push('answered'));
      await apply().then(() => reported.push('answered'));
      await apply({ dryRun: true, source: config('two') }).then(() => reported.push('answered'));
      await apply({ source: { nope: 1 } }).catch(() => reported.push('answered'));
      deepEqual(reported, [
        ...['done applied', 'settled applied applied', 'answered'],
        ...['done unchanged', 'settled unchanged unchanged', 'answered'],
        ...['settled dry_run dry_run', 'answered'],
        ...['settled failed undefined', 'answered'],
      ]);
    });

    it('as events, with their issues in place of their warnings', async () => {
      const odd = config('odd', { endpoints: [{ ...endpoint, extra_config: { proxy: { sequential: true } } }] });
      const seen: unknown[] = [];
      const off = events.subscribe({ types: ['reload.succeeded', 'reload.failed'] }, ({ type, data }) => {
        const { warnings, issues, result, trigger } = data as Applied & Attempt;
        seen.push([type, result, warnings, issues?.length, trigger]);
      });
      await apply({ source: odd });
      await rejects(apply({ source: { nope: 1 } }));
      off();
      deepEqual(seen, [
        ['reload.succeeded', 'applied', [], 1, undefined],
        ['reload.failed', 'failed', undefined, undefined, 'api'],
      ]);
    });

    it('to the requester with the original error if it is internal', async () => {
      await apply();
      const bug = new Error('a bug');
      const prepare = () => Promise.reject(bug);
      await rejects(apply({ source: config('two'), participant: { prepare } }), (error) => error === bug);
      equal(control.attempts.endedBy(bug), 2);
      deepEqual(control.attempts.list[0]!.problem!.message, 'a bug');
    });
  });

  describe('that other parts of the gateway (participants) run', () => {
    beforeEach(() => apply());
    const changed = (change: Partial<Change> = {}) => apply({ source: config('two'), ...change });

    it('are all prepared before the new configuration is activated, and committed after it', async () => {
      control.participants.push(participant('one'), participant('two', undefined, { commit: () => ['[::]:1'] }));
      const { rebound, phases, warnings } = await changed({ participant: participant('own') });
      deepEqual(reported, [
        ...['one prepare', 'two prepare', 'own prepare'],
        ...['one precommit', 'two precommit', 'own precommit', 'one commit', 'own commit'],
      ]);
      deepEqual([rebound, warnings], [['[::]:1'], []]);
      ok('prepare' in phases);
    });

    for (const fails of ['prepare', 'precommit'] as const) {
      it(`are aborted if one fails to ${fails}`, async () => {
        control.participants.push(participant('one'), participant('two', fails));
        await rejects(changed(), { message: `two cannot ${fails}` });
        const aborted = fails === 'prepare' ? ['one abort'] : ['one abort', 'two abort'];
        deepEqual(
          reported.filter((step) => step.endsWith('abort')),
          aborted,
        );
        deepEqual([reported.includes('one commit'), engine.generations.current.runtime.id], [false, 1]);
        control.participants.length = 0;
        equal((await changed()).revision, 2);
      });
    }

    it('are aborted in a dry run', async () => {
      control.participants.push(participant('one'));
      const { rebound } = await changed({ dryRun: true, participant: participant('own') });
      deepEqual(rebound, []);
      deepEqual(reported, ['one prepare', 'own prepare', 'one abort', 'own abort']);
    });

    it('run even if the configuration is unchanged, if they belong to this change only', async () => {
      control.participants.push(participant('one'));
      const { result } = await apply({ participant: participant('own') });
      deepEqual([result, reported], ['unchanged', ['own prepare', 'own precommit', 'own commit']]);
      reported.length = 0;
      equal((await apply({ dryRun: true, participant: participant('own') })).result, 'unchanged');
      deepEqual(reported, ['own prepare', 'own abort']);
    });

    it('are logged if they fail after the activation', async () => {
      const { rebound, warnings, issues } = await apply({ participant: participant('own', 'commit') });
      deepEqual(
        issues.map(({ code, pointer, severity }) => ({ code, pointer, severity })),
        [{ code: 'COMMIT_FAILED', pointer: '', severity: 'warning' }],
      );
      const [failure] = warnings;
      deepEqual([rebound, warnings.length, failure!.pointer], [[], 1, '']);
      deepEqual((failure!.cause as Error).message, 'own cannot commit');
    });
  });
});

const endpoint = { endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] };
