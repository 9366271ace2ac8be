import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { ConfigError } from '#contract';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { type WarmUp, warmUp } from '../../../kernel/runtime/build/warm-up.ts';

const never = new AbortController().signal;
const hangs: WarmUp = () => new Promise(() => {});

describe('the warm-up tasks of a configuration', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('run in parallel', async () => {
    const begun: string[] = [];
    let free = (): void => {};
    const waits = new Promise<void>((resolve) => {
      free = resolve;
    });
    const first = async (): Promise<void> => {
      begun.push('first');
      await waits;
    };
    const second = async (): Promise<void> => {
      begun.push('second');
      free();
    };
    await warmUp([first, second], never);
    deepEqual(begun, ['first', 'second']);
  });

  it('fail together, with the error of each', async () => {
    const own = new ConfigError('KEY_SET', '/a', 'is empty');
    const tasks: WarmUp[] = [
      () => Promise.reject(own),
      () => {
        throw new Error('no route to host');
      },
      async () => {},
    ];
    await rejects(warmUp(tasks, never), ({ errors }: { errors: readonly ConfigError[] }) => {
      deepEqual(
        errors.map(({ code, message }) => [code, message]),
        [
          ['KEY_SET', 'is empty'],
          ['WARM_UP', 'Error: no route to host'],
        ],
      );
      return true;
    });
  });

  it('fail after 10 s, even if a task ignores its signal', async () => {
    const given: AbortSignal[] = [];
    const begun = Promise.withResolvers<void>();
    const ignores: WarmUp = (signal) => {
      given.push(signal);
      begun.resolve();
      return new Promise(() => {});
    };
    const refused = rejects(warmUp([ignores], never), ({ errors }: { errors: readonly ConfigError[] }) => {
      deepEqual([errors[0]!.code, errors[0]!.message], ['WARM_UP', 'did not finish within 10 s']);
      return true;
    });
    await begun.promise;
    mock.timers.tick(9_999);
    equal(given[0]!.aborted, false);
    mock.timers.tick(1);
    equal(given[0]!.aborted, true);
    await refused;
  });

  for (const [name, when] of [
    ['before they begin', 'before'],
    ['while one hangs', 'meanwhile'],
  ] as const) {
    it(`end at once when the change is canceled ${name}`, async () => {
      const change = new AbortController();
      const reason = new GatewayError('RELOAD_CANCELLED', 'the gateway is closing');
      if (when === 'before') change.abort(reason);
      const ended = rejects(warmUp([hangs], change.signal), reason);
      change.abort(reason);
      await ended;
    });
  }
});
