import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { Leases } from '../../../../plugins/backend/pubsub/lib/gcp-leases.ts';
import { until } from '../../../support/conditions.ts';

describe('leases of Google Cloud Pub/Sub messages', () => {
  let now = 0;
  let leases: Leases;
  let fails = false;
  const requested: (readonly [string, ...unknown[]])[] = [];
  const warnings: string[] = [];
  const reply = async () => {
    if (fails) throw new Error('14 UNAVAILABLE');
  };
  const settling = {
    acknowledge: (ids: string[]) => {
      requested.push(['acknowledge', ...ids]);
      return reply();
    },
    modifyAckDeadline: (ids: string[], seconds: number) => {
      requested.push(['modify', seconds, ...ids]);
      return reply();
    },
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const advance = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      now += Math.min(left, 10_000);
      mock.timers.tick(Math.min(left, 10_000));
      await turn();
    }
  };

  beforeEach(() => {
    now = 1000;
    fails = false;
    requested.length = 0;
    warnings.length = 0;
    mock.timers.enable({ apis: ['setInterval'] });
    mock.method(performance, 'now', () => now);
    const log = { warning: (line: string) => void warnings.push(line) };
    leases = new Leases(() => log as never);
    leases.use(settling);
  });
  afterEach(async () => {
    await leases.end(10);
    mock.timers.reset();
    mock.reset();
  });

  it('are renewed while a message waits, but not after it is acknowledged', async () => {
    leases.add('a');
    leases.add('b');
    leases.accept('b');
    await advance(200_000);
    ok(leases.isHeld('a'));
    equal(leases.isHeld('b'), false);
    deepEqual(requested[0], ['acknowledge', 'b']);
    ok(requested.slice(1).every(([what, seconds, ...ids]) => what === 'modify' && seconds === 60 && ids[0] === 'a'));
    ok(requested.length > 5);
  });

  it('expire if the server is unreachable for long, so that another client can receive the message', async () => {
    leases.add('a');
    leases.use(null);
    await advance(70_000);
    equal(leases.isHeld('a'), false);
    leases.accept('a');
    leases.use(settling);
    await turn();
    deepEqual(requested, []);
  });

  it('are ended for several messages in one request', async () => {
    for (const id of ['a', 'b', 'c', 'd']) leases.add(id);
    for (const id of ['a', 'b', 'c']) leases.accept(id);
    leases.giveBack('d');
    await turn();
    deepEqual(requested, [
      ['acknowledge', 'a', 'b', 'c'],
      ['modify', 0, 'd'],
    ]);
  });

  it('are ended once the server is reachable again, with a warning about leases that have expired', async () => {
    fails = true;
    leases.add('a');
    leases.accept('a');
    await turn();
    equal(requested.length, 1);
    fails = false;
    leases.use(settling);
    await turn();
    deepEqual(requested[1], ['acknowledge', 'a']);
    fails = true;
    leases.add('b');
    leases.accept('b');
    await advance(70_000);
    await until(() => warnings.length === 1);
    ok(warnings[0]!.includes('1 messages could not be acknowledged'));
  });

  it('are ended only once for each message', async () => {
    leases.add('a');
    leases.accept('a');
    leases.giveBack('a');
    leases.accept('unknown');
    await turn();
    deepEqual(requested, [['acknowledge', 'a']]);
  });
});
