import { deepEqual, equal, ok } from 'node:assert/strict';
import { Call, after as lookingAfter, before as lookingBefore, Reply, refuse, type Step } from '#contract';
import { afterHook } from '../../../kernel/contract/internal.ts';

const call = new Call();

/** A step that notes that it was reached. */
function responding(reached: unknown[] = []): Step<string> {
  return (request, given) => {
    reached.push(request, given);
    return Reply.data({ from: 'next' });
  };
}

describe('a step with a before() hook', () => {
  it('continues synchronously if the hook returns nothing', () => {
    const reached: unknown[] = [];
    const reply = lookingBefore<string>((...given) => void deepEqual(given, ['r', call]))(responding(reached))(
      'r',
      call,
    );
    ok(reply instanceof Reply);
    deepEqual(reached, ['r', call]);
  });

  it('continues if the hook resolves to nothing', async () => {
    const reached: unknown[] = [];
    const reply = await lookingBefore<string>(async () => {})(responding(reached))('r', call);
    deepEqual(reply.data, { from: 'next' });
    deepEqual(reached, ['r', call]);
  });

  it('returns the reply that the hook returns or resolves to, without the inner steps', async () => {
    const reached: unknown[] = [];
    const now = lookingBefore<string>(() => refuse(401))(responding(reached))('r', call);
    const later = await lookingBefore<string>(async () => refuse(403))(responding(reached))('r', call);
    deepEqual([(now as Reply).status, later.status, reached], [401, 403, []]);
  });
});

describe('a step with an after() hook', () => {
  const marked = (reply: Reply, ...given: unknown[]) => {
    deepEqual(given, ['r', call]);
    reply.status = 201;
  };

  it('can change the reply, synchronously if the hook is synchronous', () => {
    const reply = lookingAfter<string>(marked)(responding())('r', call);
    equal((reply as Reply).status, 201);
  });

  it('waits for the reply, and for the hook', async () => {
    const later: Step<string> = async () => Reply.data({});
    const slow = async (reply: Reply) => {
      await null;
      reply.status = 202;
    };
    equal((await lookingAfter<string>(marked)(later)('r', call)).status, 201);
    equal((await lookingAfter<string>(slow)(later)('r', call)).status, 202);
    equal((await lookingAfter<string>(slow)(responding())('r', call)).status, 202);
  });

  it('exposes the hook, unlike other kinds of steps', () => {
    equal(afterHook(lookingAfter<string>(marked)), marked);
    equal(afterHook(lookingBefore<string>(() => {})), undefined);
  });
});
