import { deepEqual, equal, ok } from 'node:assert/strict';
import { inspect } from 'node:util';
import { hashSync } from 'bcryptjs';
import { Call, CancelledError } from '#contract';
import { Authority } from '../../../../plugins/auth/basic/authority.ts';
import { type Comparing, Comparisons } from '../../../../plugins/auth/basic/comparisons.ts';

const header = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

describe('the password cache of auth/basic', () => {
  const clock = { time: 0, now: () => clock.time };
  const users = new Map([
    ['ada', 'hash of ada'],
    ['bob', 'hash of bob'],
  ]);
  let requested: { password: string; hash: string; dropped: boolean; settle: (right: boolean) => void }[];
  let isFull: boolean;
  let authority: Authority;

  beforeEach(() => {
    requested = [];
    isFull = false;
    clock.time = 0;
    const compare = (password: string, hash: string): Comparing | null => {
      if (isFull) return null;
      const { promise: result, resolve: settle } = Promise.withResolvers<boolean>();
      const job = { password, hash, dropped: false, settle };
      requested.push(job);
      return {
        result,
        drop: () => {
          job.dropped = true;
        },
      };
    };
    authority = new Authority(users, { compare } as unknown as Comparisons, clock);
  });

  const admit = (credentials: string, call = new Call()) => authority.admit(header(credentials), call);
  const enter = async (credentials: string, right = true) => {
    const admission = admit(credentials);
    requested.at(-1)?.settle(right);
    return admission;
  };

  it('keeps a correct password for a minute', async () => {
    equal(await enter('ada:p'), 'ada');
    equal(admit('ada:p'), 'ada');
    clock.time = 59_999;
    equal(admit('ada:p'), 'ada');
    clock.time = 60_000;
    await enter('ada:p');
    equal(requested.length, 2);
  });

  it('does not keep a wrong password', async () => {
    for (let count = 1; count <= 2; count++) {
      deepEqual(await enter('ada:x', false), { reason: 'wrong password of "ada"' });
      equal(requested.length, count);
    }
  });

  it('distinguishes user names and passwords with colons at different positions', async () => {
    await enter('ada:b:c');
    admit('ada:b');
    admit('bob:b:c');
    equal(requested.length, 3);
  });

  it('contains no plaintext password', async () => {
    await enter('ada:opensesame');
    ok(!inspect(authority, { depth: 9, showHidden: true }).includes('opensesame'));
  });

  it('compares a password once for concurrent requests', async () => {
    const all = [admit('ada:p'), admit('ada:p'), admit('ada:p')];
    requested[0]!.settle(true);
    deepEqual([await Promise.all(all), requested.length], [['ada', 'ada', 'ada'], 1]);
  });

  it('takes the same time for unknown and known users, and never accepts an unknown user', async () => {
    for (const name of ['eve', 'mallory', 'trudy']) {
      deepEqual(await enter(`${name}:p`), { reason: 'unknown user' });
      await enter(`${name}:q`);
      const [first, second] = requested.slice(-2);
      equal(first!.hash, second!.hash);
      ok([...users.values()].includes(first!.hash));
    }
  });

  it('cancels a comparison when the last waiting client disconnects', async () => {
    const calls = [new Call(), new Call()];
    const all = calls.map((call) => admit('ada:p', call));
    calls[0]!.cancel();
    equal(requested[0]!.dropped, false);
    calls[1]!.cancel();
    equal(requested[0]!.dropped, true);
    for (const admission of await Promise.all(all)) ok((admission as { error: Error }).error instanceof CancelledError);
    admit('ada:p');
    equal(requested.length, 2);
  });

  it('does not compare the password of a client that has already disconnected', async () => {
    const call = new Call();
    call.cancel();
    ok((await admit('ada:p', call)) instanceof Object);
    equal(requested[0]!.dropped, true);
  });

  it('responds with 503 if too many comparisons are waiting', () => {
    isFull = true;
    const { error } = admit('ada:p') as unknown as { error: { view: object } };
    deepEqual(error.view, { status: 503 });
  });
});

describe('the password comparison threads', () => {
  let comparisons: Comparisons;

  beforeEach(() => {
    comparisons = new Comparisons();
  });
  afterEach(() => comparisons.close());

  const hash = hashSync('p', 4);
  const compare = (password: string, to = hash) => comparisons.compare(password, to)!;

  it('accept matching passwords and reject others', async () => {
    deepEqual(await Promise.all(['p', 'q', 'p'].map((password) => compare(password).result)), [true, false, true]);
  });

  it('do not keep the process running', async () => {
    const ports = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = ports();
    equal(await compare('p').result, true);
    equal(ports(), before);
  });

  it('are limited to the configured number and reject further comparisons while a thousand are waiting', async () => {
    const all: Comparing[] = [];
    for (let one: Comparing | null = compare('p'); one; one = comparisons.compare('p', hash)) all.push(one);
    ok(all.length > 1000 && all.length <= 1004, `${all.length}`);
    equal((await Promise.all(all.map(({ result }) => result))).every(Boolean), true);
  });

  it('keep capacity for other clients while one client floods them with passwords', async () => {
    const flood: Comparing[] = [];
    for (let one = comparisons.compare('q', hash, 'a'); one; one = comparisons.compare('q', hash, 'a')) flood.push(one);
    ok(flood.length >= 100 && flood.length <= 104, `${flood.length}`);
    equal(await comparisons.compare('p', hash, 'b')?.result, true);
    await Promise.all(flood.map(({ result }) => result));
    equal(await comparisons.compare('p', hash, 'a')?.result, true);
    const waiting = Array.from({ length: 100 }, () => comparisons.compare('q', hash, 'a')!);
    for (const one of waiting) one.drop();
    ok(comparisons.compare('p', hash, 'a'));
  });

  it('count all addresses of an IPv6 /64 network as one client', () => {
    const compareFrom = (host: number) => comparisons.compare('q', hash, `2001:db8:0:1::${host.toString(16)}`);
    let host = 0;
    while (compareFrom(host)) host += 1;
    ok(host >= 100 && host <= 104, `${host}`);
    ok(comparisons.compare('q', hash, '2001:db8:0:2::1'));
  });

  it('never start a canceled comparison', async () => {
    const before = Array.from({ length: 8 }, () => compare('p').result);
    const dropped = compare('p');
    let isSettled = false;
    void dropped.result.then(() => {
      isSettled = true;
    });
    dropped.drop();
    await Promise.all([...before, compare('p').result]);
    equal(isSettled, false);
  });

  it('are replaced after a crash, which fails only the comparison in progress', async () => {
    const results = await Promise.allSettled([
      compare('p', `$9z$${hash.slice(4)}`).result,
      ...Array.from({ length: 9 }, () => compare('p').result),
    ]);
    deepEqual(
      results.map(({ status }) => status),
      ['rejected', ...Array(9).fill('fulfilled')],
    );
    equal((results[0] as PromiseRejectedResult).reason.code, 'BASIC_THREAD');
    equal(await compare('p').result, true);
  });

  it('stop with their owner and reject new comparisons', async () => {
    await compare('p').result;
    await comparisons.close();
    equal(comparisons.compare('p', hash), null);
  });
});
