import { deepEqual, equal } from 'node:assert/strict';
import { Attempts } from '../../../kernel/control/attempts.ts';
import { Refusal } from '../../../kernel/control/refusal.ts';

describe('attempts to change the configuration', () => {
  it('begin as running, with a trigger, without actor and duration', () => {
    const { at, ...attempt } = new Attempts().begin({ trigger: 'api' }, 4);
    equal(new Date(at).toISOString(), at);
    deepEqual(attempt, {
      ...{ id: 1, trigger: 'api', actor: null, dryRun: false, result: 'running', revision: 4 },
      ...{ durationMs: 0, phases: {}, problem: null, guard: null, replay: null, shadow: null },
    });
    const { actor, dryRun } = new Attempts().begin({ trigger: 'api', actor: 'ann', dryRun: true }, 1);
    deepEqual([actor, dryRun], ['ann', true]);
  });

  it('are stored newest first, up to a limit', () => {
    const attempts = new Attempts(2);
    for (let revision = 1; revision <= 2; revision++) attempts.begin({ trigger: 'api' }, revision);
    deepEqual(
      attempts.list.map(({ id }) => id),
      [2, 1],
    );
    attempts.begin({ trigger: 'api' }, 3);
    deepEqual(
      attempts.list.map(({ id }) => id),
      [3, 2],
    );
    deepEqual([attempts.get(1), attempts.get(3)!.revision], [undefined, 3]);
  });

  it('can be found by the error with which they failed', () => {
    const attempts = new Attempts();
    const attempt = attempts.begin({ trigger: 'watch' }, 1);
    const error = new Error('no');
    attempts.fail(attempt, new Refusal('internal', 'read', [], null, { cause: error }), error);
    deepEqual([attempts.endedBy(error), attempts.endedBy(new Error('no'))], [1, undefined]);
    deepEqual([attempt.problem!.slug, attempt.problem!.message], ['internal', 'no']);
  });

  it('can end with a thrown value that is not an error', () => {
    const attempts = new Attempts();
    attempts.fail(attempts.begin({ trigger: 'watch' }, 1), new Refusal('internal', 'read', [], null), 'thrown');
    equal(attempts.endedBy('thrown'), undefined);
  });
});
