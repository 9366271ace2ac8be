import { deepEqual, equal, rejects } from 'node:assert/strict';
import { BackendError, CancelledError, DeadlineError, HeaderBag, type Log, Reply, silentLog } from '#contract';
import { stand } from '../../../../kernel/testing/stand.ts';
import { plugin } from '../../../../plugins/qos/circuit-breaker/index.ts';
import { bad, breaker, config, down, good } from './fixture.ts';

describe('qos/circuit-breaker', () => {
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
    const lines: string[] = [];
    const { send } = await breaker({}, bad, { ...silentLog, warning: (line) => lines.push(String(line)) });
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
