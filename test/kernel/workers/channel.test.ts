import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { ConfigError } from '#contract';
import { ConfigErrors, GatewayError } from '../../../kernel/contract/internal.ts';
import { Channel } from '../../../kernel/workers/channel.ts';
import { arrival, joinedLines, type TestLine } from './lines.ts';

describe('the message channel between two processes', () => {
  let near: TestLine;
  let far: TestLine;
  let asking: Channel;
  let reported: unknown[];
  let respond: (payload: unknown) => unknown;

  beforeEach(() => {
    [near, far] = joinedLines();
    reported = [];
    respond = (payload) => payload;
    asking = new Channel(near, {});
    new Channel(far, {
      note: (payload: unknown) => reported.push(payload),
      ask: (payload: unknown) => respond(payload),
    });
  });

  const refusal = (asked: Promise<unknown>): Promise<Error> =>
    asked.then(
      () => Promise.reject(new Error('it was answered')),
      (error) => error,
    );

  it("answers a request with the other end's result, immediately or later", async () => {
    equal(await asking.ask('ask', 1), 1);
    respond = async (payload) => ({ later: payload });
    deepEqual(await asking.ask('ask', new Map([[1, new Uint8Array([2])]])), {
      later: new Map([[1, new Uint8Array([2])]]),
    });
    respond = (payload) => payload;
    equal(await asking.ask('ask'), null);
  });

  it('matches every response to its request, in any order', async () => {
    const responses: ((value: string) => void)[] = [];
    respond = (payload) => new Promise((resolve) => responses.push(() => resolve(`to ${payload}`)));
    const both = Promise.all([asking.ask('ask', 'one'), asking.ask('ask', 'two')]);
    await arrival();
    for (const give of responses.reverse()) give('');
    deepEqual(await both, ['to one', 'to two']);
  });

  it('sends all messages of one turn together, in order', async () => {
    asking.notify('note', 1);
    asking.notify('note');
    equal(await asking.ask('ask', 3), 3);
    asking.notify('note', 4);
    await arrival();
    deepEqual(reported, [1, null, 4]);
    deepEqual(near.sent, [
      [
        { name: 'note', payload: 1 },
        { name: 'note', payload: null },
        { name: 'ask', payload: 3, ask: 1 },
      ],
      [{ name: 'note', payload: 4 }],
    ]);
  });

  it('sends no response to a notification, even if that fails', async () => {
    respond = () => {
      throw new Error('no');
    };
    asking.notify('ask');
    asking.notify('note', 1);
    asking.notify('unknown');
    await arrival();
    deepEqual([reported, far.sent], [[1], []]);
  });

  it('passes configuration errors of the other process on completely', async () => {
    const whole = new ConfigError('ONE', '/a', 'wrong', {
      hint: 'write b',
      within: { start: 1, end: 2 },
      related: ['/c'],
    });
    respond = () => Promise.reject(new ConfigErrors([whole, new ConfigError('TWO', '/b', 'missing')]));
    const error = (await refusal(asking.ask('ask'))) as ConfigErrors;
    ok(error instanceof ConfigErrors);
    deepEqual(
      error.errors.map(({ code, pointer, message, hint, within, related }) => ({
        code,
        pointer,
        message,
        hint,
        within,
        related,
      })),
      [
        {
          code: 'ONE',
          pointer: '/a',
          message: 'wrong',
          hint: 'write b',
          within: { start: 1, end: 2 },
          related: ['/c'],
        },
        { code: 'TWO', pointer: '/b', message: 'missing', hint: undefined, within: undefined, related: [] },
      ],
    );
  });

  it('passes errors of the gateway on with their code, and others with their stack', async () => {
    respond = () => {
      throw new GatewayError('LISTEN_FAILED', 'taken');
    };
    const known = (await refusal(asking.ask('ask'))) as GatewayError;
    deepEqual([known instanceof GatewayError, known.code, known.message], [true, 'LISTEN_FAILED', 'taken']);
    respond = function overThere() {
      throw new TypeError('a bug');
    };
    const other = await refusal(asking.ask('ask'));
    equal(other.constructor, Error);
    match(other.message, /^TypeError: a bug\n.*overThere/s);
  });

  it('ignores foreign messages, and unexpected responses', async () => {
    near.emit('message', { cmd: 'NODE_DEBUG_ENABLED' });
    near.emit('message', [{ answer: 7, value: 1 }]);
    near.emit('message', [{ answer: 7, error: { code: '', message: 'late' } }]);
    equal(await asking.ask('ask', 1), 1);
  });

  it('drops messages while the connection is broken', async () => {
    near.problem = new Error('EPIPE');
    asking.notify('note', 1);
    await arrival();
    near.problem = null;
    asking.notify('note', 2);
    await arrival();
    deepEqual(reported, [2]);
  });

  it('leaves no timer if the response arrives in time', async () => {
    const clear = mock.method(globalThis, 'clearTimeout');
    equal(await asking.ask('ask', 1, 100), 1);
    equal(await asking.ask('ask', 1), 1);
    equal(clear.mock.callCount(), 1);
    clear.mock.restore();
  });

  it('waits without a limit if none is given', async () => {
    const timers = mock.method(globalThis, 'setTimeout');
    await asking.ask('ask', 1);
    equal(timers.mock.callCount(), 0);
    timers.mock.restore();
  });

  describe('that is closed', () => {
    const closed = { code: 'CHANNEL_CLOSED', message: 'the process has ended' };

    it('rejects all pending and later requests', async () => {
      respond = () => new Promise(() => {});
      const waiting = [refusal(asking.ask('ask')), refusal(asking.ask('ask'))];
      await arrival();
      asking.close();
      asking.close();
      for (const error of await Promise.all(waiting)) {
        deepEqual([(error as GatewayError).code, error.message], [closed.code, closed.message]);
      }
      await rejects(asking.ask('ask'), closed);
    });

    it('sends nothing more, not even messages of the same turn', async () => {
      asking.notify('note', 1);
      asking.close();
      asking.notify('note', 2);
      void refusal(asking.ask('ask'));
      await arrival();
      deepEqual([near.sent, reported], [[], []]);
    });
  });

  describe('with a time limit for a response', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    it('fails when the time is over, and ignores a late response', async () => {
      let give: ((value: number) => void) | undefined;
      respond = () =>
        new Promise((resolve) => {
          give = resolve;
        });
      let error: GatewayError | undefined;
      const asked = refusal(asking.ask('ask', null, 100)).then((refused) => {
        error = refused as GatewayError;
      });
      mock.timers.tick(99);
      await arrival();
      equal(error, undefined);
      mock.timers.tick(1);
      await asked;
      deepEqual([error!.code, error!.message], ['CHANNEL_TIMEOUT', 'no response within 100 ms']);
      give!(1);
      await arrival();
      respond = () => 2;
      equal(await asking.ask('ask'), 2);
    });
  });
});
