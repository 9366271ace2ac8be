import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { Inbox } from '../../../../plugins/clients/broker/inbox.ts';
import { KeptLink, type LinkOptions } from '../../../../plugins/clients/broker/kept-link.ts';

type Attempt = (lose: (error: Error) => void) => Promise<void>;

/** Tests of the parts that all broker clients share: reconnecting and buffering. */
describe('a broker connection', () => {
  let lines: string[];
  let attempts: Attempt[];
  let made: number;
  let call: Call;
  const note = (level: string) => (line: string | (() => string)) => void lines.push(`${level} ${line}`);
  const log = () =>
    ({ ...silentLog, error: note('ERROR'), info: note('INFO'), debug: note('DEBUG') }) as typeof silentLog;
  const refused: Attempt = () => Promise.reject(new Error('refused'));
  const works: Attempt = async () => {};
  /** Outcomes of the first attempts; the last one repeats. */
  const link = (options: Partial<LinkOptions<{ close(): void }>> = {}) =>
    new KeptLink({
      name: 'it',
      async connect(onLost) {
        await attempts[Math.min(made++, attempts.length - 1)]!(onLost);
        return { close() {} };
      },
      ...options,
    });
  /** Advances the mocked timers by a second and runs everything that follows. */
  const second = async () => {
    mock.timers.tick(1000);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    lines = [];
    made = 0;
    call = new Call(silentLog, 60_000);
  });
  afterEach(() => {
    call.finish();
    mock.reset();
    mock.timers.reset();
  });

  it('logs each reason of an outage once, and logs its end', async () => {
    attempts = [refused, refused, () => Promise.reject(new Error('silent')), refused, works];
    const kept = link();
    kept.open(log());
    await rejects(async () => kept.current(call), /BROKER_NOT_CONNECTED|it: not connected: refused/);
    for (let at = 0; at < 4; at++) await second();
    deepEqual(lines, [
      'ERROR it not connected: refused',
      'DEBUG it not connected: refused',
      'ERROR it not connected: silent',
      'DEBUG it not connected: refused',
      'INFO it is connected',
    ]);
    await kept.close();
  });

  for (const [strategy, mostMs] of [
    ['fallback', 1000],
    ['linear', 60_000],
    ['exponential', 60_000],
  ] as const) {
    it(`is re-established within ${mostMs / 1000} s after an outage of an hour, with the strategy ${strategy}`, async () => {
      let lose = (_error: Error): void => {};
      attempts = [
        async (onLost) => {
          lose = onLost;
        },
        refused,
      ];
      const kept = link();
      kept.open(log(), { maxRetries: 0, strategy });
      await second();
      lose(new Error('gone'));
      for (let passed = 0; passed < 3600; passed++) await second();
      await rejects(async () => kept.current(call), /not connected: refused/);
      attempts = [works];
      for (let passed = 0; passed < mostMs / 1000; passed++) await second();
      deepEqual(
        [kept.opened !== null, lines.filter((line) => !line.startsWith('DEBUG')).slice(-3)],
        [true, ['ERROR it connection lost: gone', 'ERROR it not connected: refused', 'INFO it is connected']],
      );
      await kept.close();
    });
  }

  it('is re-established if it fails immediately after it was established', async () => {
    attempts = [async (lose) => void Promise.resolve().then(() => lose(new Error('gone'))), works];
    const kept = link();
    kept.open(log());
    await second();
    await second();
    equal(made, 2);
    await kept.current(call);
    await kept.close();
  });

  it('gives up after its maximum number of attempts, and starts again when it is used the next time', async () => {
    attempts = [refused];
    const kept = link({ firstAttempts: 3, failure: () => new Error('none') });
    kept.open(log(), { maxRetries: 2, strategy: 'linear' });
    for (let at = 0; at < 10; at++) await second();
    equal(made, 3);
    equal(lines.at(-1), 'ERROR it: not connected after 3 attempts');
    await rejects(async () => kept.current(call), /none/);
    for (let at = 0; at < 10; at++) await second();
    equal(made, 5);
    await kept.close();
    await rejects(async () => kept.current(call), /none/);
    for (let at = 0; at < 10; at++) await second();
    equal(made, 5);
  });

  it('fails all waiting calls when it is closed, and rejects new calls', async () => {
    const inbox = new Inbox<string>();
    const waiting = rejects(async () => inbox.take(call), /over/);
    deepEqual(inbox.close(new Error('over')), []);
    await waiting;
    equal(inbox.put('a'), 'a');
    equal(inbox.putBack('b'), 'b');
    await rejects(async () => inbox.take(call), /over/);
    const full = new Inbox<string>();
    for (const text of ['a', 'b']) full.put(text);
    equal(full.dropOldest(), 'a');
    deepEqual(full.close(new Error('over')), ['b']);
  });
});
