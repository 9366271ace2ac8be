import { deepEqual, equal, rejects } from 'node:assert/strict';
import { BackendError, CancelledError, HeaderBag, type Log, Reply } from '#contract';
import { DeadlineError, silentLog } from '../../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../../kernel/sluice.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/circuit-breaker/index.ts';
import { startGateway } from '../../../support/gateway.ts';
import { bad, breaker, config, down, good } from './fixture.ts';

describe('qos/circuit-breaker', () => {
  it('opens if the backend cannot be reached', async () => {
    const { behind, send } = await breaker({}, down);
    equal((await send(4)).at(-1), 'circuit breaker is open');
    equal(behind.calls, 3);
  });

  it('counts a timeout as a failure', async () => {
    const { behind, send } = await breaker({}, () => Reply.failed(new DeadlineError()));
    await send(4);
    equal(behind.calls, 3);
  });

  it('counts a failure that return_error_details returns as data', async () => {
    const { behind, send } = await breaker({}, () => {
      const reply = Reply.data({ error_users: { http_status_code: 404 } });
      reply.errors = [new BackendError('BACKEND_STATUS', 'not found', { upstreamStatus: 404 })];
      return reply;
    });
    await send(4);
    equal(behind.calls, 3);
  });

  it('ignores the status of a no-op response', async () => {
    const { behind, gate } = await breaker({}, () => Reply.raw(500, new HeaderBag(), null));
    for (let calls = 0; calls < 5; calls++) equal((await gate.send('GET /')).status, 500);
    equal(behind.calls, 5);
  });

  it('counts a canceled call neither as a failure nor as a success', async () => {
    const { behind, send } = await breaker();
    await send(2);
    behind.answer = () => Reply.failed(new CancelledError());
    await send(3);
    behind.answer = bad;
    deepEqual(await send(2), ['invalid status code', 'circuit breaker is open']);
  });

  it('does not count a failed call whose client disconnected', async () => {
    const { behind, send } = await breaker({}, (_request, call) => {
      call.cancel();
      return down();
    });
    await send(5);
    equal(behind.calls, 5);
  });

  it('does not count a backend that was intentionally skipped', async () => {
    const { behind, send } = await breaker({ max_errors: 0 }, () => {
      const reply = down();
      reply.skipped = true;
      return reply;
    });
    await send(3);
    equal(behind.calls, 3);
  });

  it('stays open across a reload that changes its timeout', async () => {
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

  it('logs each state change under its name if configured', async () => {
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

  it('does not log state changes by default', async () => {
    const lines: string[] = [];
    const { send } = await breaker({}, bad, { ...silentLog, warning: (line) => lines.push(String(line)) });
    await send(4);
    deepEqual(lines, []);
  });

  it('publishes each state change with the location of the backend', async () => {
    const reported: unknown[] = [];
    const events = { emit: (type: string, data: object) => reported.push([type, data]) };
    const around = { services: { events }, next: bad, endpoint: { endpoint: '/users', method: 'POST' as const } };
    const gate = await openHarness(plugin, 'backend', { ...config, max_errors: 0, name: 'users' }, around);
    await gate.send('GET /');
    deepEqual(reported, [
      [
        'breaker.changed',
        { name: 'users', from: 'closed', to: 'open', method: 'POST', endpoint: '/users', backend: 0 },
      ],
    ]);
  });

  it('is logged under its name when it is created', async () => {
    const lines: string[] = [];
    await breaker({ name: 'users' }, good, { ...silentLog, debug: (line) => lines.push(String(line)) });
    deepEqual(lines, ["[CB] Creating the circuit breaker named 'users'"]);
  });

  it('does not count a call if a part of it was canceled', async () => {
    const { behind, send } = await breaker({}, () => {
      const [refused] = down().errors;
      return Reply.failed(refused!, new CancelledError());
    });
    await send(4);
    equal(behind.calls, 4);
  });

  it('is active if any setting is above 0', async () => {
    const off = { interval: 0, timeout: 0, max_errors: 0 };
    for (const set of [{ interval: 1 }, { timeout: 1 }, { max_errors: 1 }]) {
      const gate = await openHarness(plugin, 'backend', { ...off, ...set });
      deepEqual([Object.keys(gate.attached), gate.warnings], [['backend', 'state'], []]);
    }
  });

  it('is inactive if all settings are 0, which causes a warning', async () => {
    const gate = await openHarness(plugin, 'backend', { interval: 0, timeout: 0, max_errors: 0 });
    deepEqual(gate.attached, {});
    deepEqual(
      gate.warnings.map((warning) => [warning.code, warning.pointer]),
      [['CIRCUIT_OFF', '']],
    );
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  describe('in a gateway', () => {
    const extra_config = { [plugin.name]: { interval: 0, timeout: 60, max_errors: 0 } };
    const backend = (url_pattern: string) => ({ host: ['http://127.0.0.1:9'], url_pattern, extra_config });
    const endpoint = (path: string, ...patterns: string[]) => ({ endpoint: path, backend: patterns.map(backend) });
    const configOf = (...endpoints: object[]) => ({
      version: 3,
      extra_config: { router: { return_error_msg: true } },
      endpoints,
    });
    let gateway: Gateway;

    const isOpen = async (path: string) => (await gateway.inject(path)).body.includes('circuit breaker is open');

    afterEach(() => gateway.close());

    it('opens only for its own backend', async () => {
      gateway = await startGateway(configOf(endpoint('/a', '/x'), endpoint('/b', '/x')));
      deepEqual(
        [await isOpen('/a'), await isOpen('/a'), await isOpen('/b'), await isOpen('/b')],
        [false, true, false, true],
      );
    });

    it('stays open if a reload inserts other endpoints before its own', async () => {
      const others = Array.from({ length: 11 }, (_, at) => endpoint(`/other${at}`, '/x'));
      gateway = await startGateway(configOf(endpoint('/a', '/x')));
      equal(await isOpen('/a'), false);
      await gateway.reload(configOf(...others, endpoint('/a', '/x')));
      equal(await isOpen('/a'), true);
    });
  });

  for (const [what, wrong] of Object.entries({
    'a missing field': { interval: 1, timeout: 1 },
    'a string instead of a number': { ...config, max_errors: '2' },
    'a negative number': { ...config, interval: -1 },
    'a timeout with a fraction of a second': { ...config, timeout: 0.5 },
    'an unknown field': { ...config, max_error: 1 },
  })) {
    it(`rejects ${what}`, async () => {
      await rejects(openHarness(plugin, 'backend', wrong), { code: 'CONFIG_INVALID' });
    });
  }

  it('releases all its resources', async () => {
    const { gate } = await breaker();
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
