import { deepEqual, equal, rejects } from 'node:assert/strict';
import {
  BackendError,
  type Call,
  CancelledError,
  DeadlineError,
  HeaderBag,
  type Log,
  type PipeRequest,
  Reply,
  type Step,
  silentLog,
} from '#contract';
import { stand } from '../../../../kernel/testing/stand.ts';
import { plugin } from '../../../../plugins/qos/circuit-breaker/index.ts';

const config = { interval: 60, timeout: 1, max_errors: 2 };

const good = () => Reply.data({ ok: true });
const bad = () => Reply.failed(new BackendError('BACKEND_STATUS', 'invalid status code', { upstreamStatus: 500 }));
const down = () => Reply.failed(new BackendError('BACKEND_CONNECT', 'connection refused'));

function fakeClock() {
  const clock = { time: 0, now: () => clock.time };
  return clock;
}

/** A backend that does what `answer` says and counts its calls. */
function backend(answer: Step<PipeRequest> = bad) {
  const made = {
    answer,
    calls: 0,
    step: (request: PipeRequest, call: Call) => {
      made.calls++;
      return made.answer(request, call);
    },
  };
  return made;
}

async function breaker(settings: object = {}, answer?: Step<PipeRequest>, log: Log = silentLog) {
  const clock = fakeClock();
  const behind = backend(answer);
  const gate = await stand(
    plugin,
    'backend',
    { ...config, ...settings },
    { services: { clock, log }, next: behind.step },
  );
  const send = async (times = 1) => {
    const texts: string[] = [];
    for (; times > 0; times--) texts.push(textOf(await gate.send('GET /')));
    return texts;
  };
  return { clock, behind, gate, send };
}

const textOf = (reply: Reply) => reply.errors[0]?.message ?? String(reply.status);

describe('qos/circuit-breaker', () => {
  it('opens at the first failure beyond max_errors and then no longer calls the backend', async () => {
    const { behind, gate, send } = await breaker();
    deepEqual(await send(4), [
      'invalid status code',
      'invalid status code',
      'invalid status code',
      'circuit breaker is open',
    ]);
    equal(behind.calls, 3);
    equal((await gate.send('GET /')).status, 500);
  });

  it('opens at the first failure when max_errors is 0', async () => {
    const { behind, send } = await breaker({ max_errors: 0 });
    await send(3);
    equal(behind.calls, 1);
  });

  it('counts failures in a row only', async () => {
    const { behind, send } = await breaker();
    for (const answer of [bad, bad, good, bad, bad, good]) {
      behind.answer = answer;
      await send();
    }
    equal(behind.calls, 6);
  });

  it('closes again when the trial after the timeout succeeds', async () => {
    const { behind, clock, send } = await breaker();
    await send(4);
    behind.answer = good;
    clock.time += 1100;
    deepEqual(await send(2), ['200', '200']);
    equal(behind.calls, 5);
  });

  it('starts from no failures after it has closed again', async () => {
    const { behind, clock, send } = await breaker();
    await send(3);
    behind.answer = good;
    clock.time += 1000;
    await send();
    behind.answer = bad;
    await send(2);
    equal(behind.calls, 6);
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('opens for a full timeout again when the trial fails', async () => {
    const { behind, clock, send } = await breaker();
    await send(4);
    clock.time += 1100;
    await send(2);
    equal(behind.calls, 4);
    clock.time += 999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    await send();
    equal(behind.calls, 5);
  });

  it('stays open for a minute when timeout is 0', async () => {
    const { behind, clock, send } = await breaker({ timeout: 0 });
    await send(3);
    clock.time += 59_999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('opens when the backend cannot be reached', async () => {
    const { behind, send } = await breaker({}, down);
    equal((await send(4)).at(-1), 'circuit breaker is open');
    equal(behind.calls, 3);
  });

  it('counts a passed deadline as a failure', async () => {
    const { behind, send } = await breaker({}, () => Reply.failed(new DeadlineError()));
    await send(4);
    equal(behind.calls, 3);
  });

  it('counts a failure whose details are shown as data', async () => {
    const { behind, send } = await breaker({}, () => {
      const reply = Reply.data({ error_users: { http_status_code: 404 } });
      reply.errors = [new BackendError('BACKEND_STATUS', 'not found', { upstreamStatus: 404 })];
      return reply;
    });
    await send(4);
    equal(behind.calls, 3);
  });

  it('does not look at the status of an undecoded reply', async () => {
    const { behind, gate } = await breaker({}, () => Reply.raw(500, new HeaderBag(), null));
    for (let calls = 0; calls < 5; calls++) equal((await gate.send('GET /')).status, 500);
    equal(behind.calls, 5);
  });

  it('forgets the failures of an earlier window', async () => {
    const { behind, clock, send } = await breaker({ interval: 1 });
    await send(2);
    clock.time += 1200;
    await send(2);
    equal(behind.calls, 4);
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('counts its windows from the moment it closed, whenever calls come', async () => {
    const { behind, clock, send } = await breaker({ interval: 1, max_errors: 1 });
    clock.time = 1900;
    await send();
    clock.time = 2000;
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('never forgets failures when interval is 0', async () => {
    const { behind, clock, send } = await breaker({ interval: 0 });
    await send(2);
    clock.time += 1e9;
    await send(2);
    equal(behind.calls, 3);
  });

  it('lets one trial through while half-open and refuses the others at once', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    clock.time += 1000;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    behind.answer = () => promise;
    const trial = gate.send('GET /');
    deepEqual(await send(2), ['too many requests', 'too many requests']);
    resolve(good());
    equal((await trial).status, 200);
    equal(behind.calls, 4);
  });

  it('ignores a late result of an earlier state', async () => {
    const { behind, clock, gate, send } = await breaker();
    const late = Promise.withResolvers<Reply>();
    behind.answer = () => late.promise;
    const slow = gate.send('GET /');
    behind.answer = bad;
    await send(3);
    clock.time += 1000;
    const trying = Promise.withResolvers<Reply>();
    behind.answer = () => trying.promise;
    const trial = gate.send('GET /');
    late.resolve(good());
    await slow;
    deepEqual(await send(), ['too many requests']);
    trying.resolve(bad());
    await trial;
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('ignores a late failure of an earlier window', async () => {
    const { behind, clock, gate, send } = await breaker({ interval: 1, max_errors: 0 });
    const late = Promise.withResolvers<Reply>();
    behind.answer = () => late.promise;
    const slow = gate.send('GET /');
    clock.time += 1000;
    late.resolve(bad());
    await slow;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('counts a cancelled call neither as a failure nor as a success', async () => {
    const { behind, send } = await breaker();
    await send(2);
    behind.answer = () => Reply.failed(new CancelledError());
    await send(3);
    behind.answer = bad;
    deepEqual(await send(2), ['invalid status code', 'circuit breaker is open']);
  });

  it('does not count the failure of a call whose client has left', async () => {
    const { behind, send } = await breaker({}, (_request, call) => {
      call.cancel();
      return down();
    });
    await send(5);
    equal(behind.calls, 5);
  });

  it('does not count a backend that was deliberately not called', async () => {
    const { behind, send } = await breaker({ max_errors: 0 }, () => {
      const reply = down();
      reply.skipped = true;
      return reply;
    });
    await send(3);
    equal(behind.calls, 3);
  });

  it('makes another trial after a cancelled one', async () => {
    const { behind, clock, send } = await breaker();
    await send(3);
    clock.time += 1000;
    behind.answer = () => Reply.failed(new CancelledError());
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('does not stay half-open for ever when a trial throws or rejects', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    for (const answer of [
      () => {
        throw new Error('bug');
      },
      () => Promise.reject(new Error('bug')),
    ]) {
      clock.time += 1000;
      behind.answer = answer;
      await rejects(gate.send('GET /'), /bug/);
      deepEqual(await send(), ['circuit breaker is open']);
    }
  });

  it('stays open over a reload, and a new timeout applies at once', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    await gate.reload({ ...config, timeout: 5 });
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 4999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('logs each change of state under its name when it is told to', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, warning: (line) => lines.push(String(line)) };
    const { behind, clock, send } = await breaker({ name: 'users', log_status_change: true }, bad, log);
    await send(3);
    clock.time += 1000;
    behind.answer = good;
    await send();
    deepEqual(lines, [
      "[CB] Circuit breaker named 'users' went from 'closed' to 'open'",
      "[CB] Circuit breaker named 'users' went from 'open' to 'half-open'",
      "[CB] Circuit breaker named 'users' went from 'half-open' to 'closed'",
    ]);
  });

  it('does not log changes of state otherwise', async () => {
    const log: Log = { ...silentLog, warning: () => rejects };
    const lines: string[] = [];
    const { send } = await breaker({}, bad, { ...log, warning: (line) => lines.push(String(line)) });
    await send(4);
    deepEqual(lines, []);
  });

  it('is not there when every setting is 0', async () => {
    const gate = await stand(plugin, 'backend', { interval: 0, timeout: 0, max_errors: 0 });
    deepEqual(gate.attached, {});
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  for (const [what, wrong] of Object.entries({
    'a missing field': { interval: 1, timeout: 1 },
    'a text for a number': { ...config, max_errors: '2' },
    'a negative number': { ...config, interval: -1 },
    'a fraction': { ...config, timeout: 0.5 },
    'an unknown field': { ...config, max_error: 1 },
  })) {
    it(`refuses ${what}`, async () => {
      await rejects(stand(plugin, 'backend', wrong), { code: 'CONFIG_INVALID' });
    });
  }

  it('gives back everything it keeps', async () => {
    const { gate } = await breaker();
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
