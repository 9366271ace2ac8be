import { deepEqual, equal } from 'node:assert/strict';
import { before as ask, Call, after as look, type PipeRequest, Reply, type Step, type Wrap } from '#contract';
import { DeadlineError, silentLog } from '../../../kernel/contract/internal.ts';
import { fold, stagesOf } from '../../../kernel/pipeline/steps/fold.ts';
import { foldSettled } from '../../../kernel/pipeline/steps/settle.ts';
import { pipeRequest } from './requests.ts';

type Folding = typeof fold<PipeRequest>;

for (const [name, folded] of [
  ['combined into one step', fold],
  ['combined so that each always gets a reply', foldSettled],
] as readonly (readonly [string, Folding])[]) {
  describe(`hooks ${name}`, () => {
    const seen: string[] = [];
    const noting = (word: string, slow = false): Wrap<PipeRequest> =>
      look(slow ? async () => void seen.push(word) : () => void seen.push(word));
    const around =
      (word: string): Wrap<PipeRequest> =>
      (next) =>
      (request, call) => {
        seen.push(`${word} in`);
        const reply = next(request, call) as Reply;
        seen.push(`${word} out`);
        return reply;
      };
    const respond: Step<PipeRequest> = () => Reply.data({ a: 1 });
    const later: Step<PipeRequest> = async () => Reply.data({ a: 1 });

    beforeEach(() => {
      seen.length = 0;
    });

    for (const [kind, innermost] of [
      ['at once', respond],
      ['later', later],
    ] as const) {
      it(`receive a reply that arrives ${kind}, innermost first`, async () => {
        await folded([noting('a'), noting('b', true), noting('c')], innermost)(pipeRequest(), new Call());
        deepEqual(seen, ['c', 'b', 'a']);
      });
    }

    it('keep their order when other kinds of hooks are between them', () => {
      const wraps = [noting('a'), around('b'), noting('c'), noting('d'), ask<PipeRequest>(() => void seen.push('e'))];
      folded(wraps, respond)(pipeRequest(), new Call());
      deepEqual(seen, ['b in', 'e', 'd', 'c', 'b out', 'a']);
    });

    it('respond synchronously if all inner steps do', () => {
      const reply = folded([noting('a'), noting('b')], respond)(pipeRequest(), new Call());
      equal(reply instanceof Promise, false);
    });
  });
}

describe('composed hooks on the reply', () => {
  it('share one stage if they are adjacent', () => {
    const wraps = [look(() => {}), look(() => {}), ask(() => {}), look(() => {})];
    deepEqual(
      stagesOf(wraps).map(({ hooks }) => hooks?.length ?? null),
      [2, null, 1],
    );
  });

  const statuses: number[] = [];
  const status = look<PipeRequest>((reply) => void statuses.push(reply.errors.length));
  beforeEach(() => {
    statuses.length = 0;
  });

  for (const [how, failing] of [
    [
      'throws',
      look<PipeRequest>(() => {
        throw new Error('no');
      }),
    ],
    ['is rejected', look<PipeRequest>(() => Promise.reject(new Error('no')))],
  ] as const) {
    it(`receive a failed reply if an inner hook ${how}`, async () => {
      const reply = await foldSettled([status, failing, status], () => Reply.data({}))(pipeRequest(), new Call());
      deepEqual(statuses, [0, 1]);
      equal(reply.failed, true);
    });
  }

  it('receive the error of the deadline if an inner hook never ends', async () => {
    const stuck = look<PipeRequest>(() => new Promise(() => {}));
    const call = new Call(silentLog, 5);
    const reply = await foldSettled([status, stuck], () => Reply.data({}))(pipeRequest(), call);
    deepEqual(statuses, [1]);
    equal(reply.errors[0] instanceof DeadlineError, true);
  });
});
