import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import type { AtBackend, Log } from '#contract';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../../kernel/index.ts';
import { type Harness, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/proxy.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const one = { max_rate: 1, capacity: 1, every: '10m' };

async function limited(config: object, log: Log = silentLog) {
  const clock = { time: 0, now: () => clock.time };
  const gate = await openHarness(plugin, 'backend', config, { services: { clock, log } });
  const send = async (times: number) => {
    const texts: string[] = [];
    for (; times > 0; times--) {
      const reply = await gate.send('GET /');
      texts.push(reply.errors[0]?.message ?? String(reply.status));
    }
    return texts;
  };
  return { clock, gate, send };
}

describe('qos/ratelimit/proxy', () => {
  const refused = 'rate limit exceded';

  it('fails a call over the limit immediately, without setting a response status', async () => {
    const { gate, send } = await limited(one);
    deepEqual(await send(2), ['200', refused]);
    const { status, errors } = await gate.send('GET /');
    deepEqual([status, errors[0]!.code, errors[0]!.view], [500, 'RATELIMIT_BACKEND', {}]);
  });

  it('allows concurrent calls up to its capacity', async () => {
    const { send } = await limited({ ...one, capacity: 3 });
    deepEqual(await send(4), ['200', '200', '200', refused]);
  });

  it('shows operators how many calls are available', async () => {
    const { clock, gate, send } = await limited({ ...one, capacity: 3 });
    const state = () => (gate.attached as AtBackend).state!();
    deepEqual(state(), { availableCalls: 3, burstCalls: 3 });
    await send(2);
    deepEqual(state(), { availableCalls: 1, burstCalls: 3 });
    clock.time += 600_000;
    deepEqual(state(), { availableCalls: 2, burstCalls: 3 });
  });

  it('supports intervals below a second', async () => {
    const { clock, send } = await limited({ max_rate: 10, capacity: 1, every: '100ms' });
    deepEqual(await send(2), ['200', refused]);
    clock.time += 10;
    deepEqual(await send(2), ['200', refused]);
  });

  it('supports fractional rates', async () => {
    const { clock, send } = await limited({ max_rate: 0.5, capacity: 1 });
    await send(1);
    clock.time += 1999;
    deepEqual(await send(1), [refused]);
    clock.time += 1;
    deepEqual(await send(1), ['200']);
  });

  for (const [rate, every, burst] of [
    [3, '1s', 3],
    [50, '10m', 1],
    [5, '500ms', 10],
  ] as const) {
    it(`derives a burst of ${burst} from ${rate} every ${every}`, async () => {
      const { send } = await limited({ max_rate: rate, capacity: 0, every });
      equal((await send(20)).filter((text) => text === '200').length, burst);
    });
  }

  it('applies a changed limit immediately and keeps the count', async () => {
    const { gate, send } = await limited(one);
    await send(1);
    await gate.reload({ ...one, capacity: 5 });
    deepEqual(await send(1), [refused]);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('logs the limit of the backend', async () => {
    const lines: string[] = [];
    await limited(one, { ...silentLog, debug: (line) => lines.push(String(line)) });
    deepEqual(lines, ['[Ratelimit] Rate limit of the backend: 1 every 600000ms, capacity 1']);
  });

  it('is inactive with a rate of 0, which causes a warning', async () => {
    const { gate } = await limited({ max_rate: 0, capacity: 1 });
    deepEqual(
      [gate.attached, gate.warnings.map(({ code, pointer }) => [code, pointer])],
      [{}, [['RATELIMIT_OFF', '']]],
    );
  });

  it('rejects an interval of 0', async () => {
    await rejects(limited({ ...one, every: '0s' }), ({ errors: [error] }) => {
      deepEqual([error.code, error.pointer], ['RATELIMIT_EVERY', '/every']);
      return true;
    });
  });

  for (const [what, wrong] of Object.entries({
    'a limit without rate': { capacity: 1 },
    'a limit without capacity': { max_rate: 1 },
    'a negative rate': { ...one, max_rate: -1 },
    'a string as rate': { ...one, max_rate: '1' },
    'a fraction as capacity': { ...one, capacity: 0.5 },
    'a malformed interval': { ...one, every: 'soon' },
    'an unknown field': { ...one, strategy: 'ip' },
    'a value that is not an object': [1],
  })) {
    it(`rejects ${what}`, () => rejects(limited(wrong), { code: 'CONFIG_INVALID' }));
  }

  describe('in several workers', () => {
    const clock = { time: 0, now: () => clock.time };
    const opened: Harness[] = [];

    beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
    afterEach(async () => {
      for (const each of opened.splice(0).reverse()) deepEqual(await each.close(), { kept: 0, deferred: 0 });
      mock.timers.reset();
    });

    it('shares one limit between all of them', async () => {
      const services = { clock };
      const config = { ...one, capacity: 3 };
      const owner = await openHarness(plugin, 'backend', config, { role: 'owner', services });
      opened.push(owner);
      for (let each = 0; each < 2; each++)
        opened.push(await openHarness(plugin, 'backend', config, { owner, services }));
      const statuses = [];
      for (let turn = 0; turn < 4; turn++) statuses.push((await opened[1 + (turn % 2)]!.send('GET /')).status);
      deepEqual(statuses, [200, 200, 200, 500]);
    });
  });

  describe('in a gateway', () => {
    let backend: TestBackend;
    let gateway: Gateway;
    let calls: () => number;

    beforeEach(async () => {
      backend = await startBackend(({ target }, response) => json({ [target.slice(1)]: true })({} as never, response));
      calls = () => backend.requests.length;
    });
    afterEach(async () => {
      await gateway.close();
      await backend.close();
    });

    const to = (path: string, extra: object = {}) => ({
      host: [backend.url],
      url_pattern: path,
      extra_config: extra,
    });
    const start = async (backends: object[], endpoint: object = {}, root: object = {}, options = {}) => {
      gateway = await startGateway(
        {
          extra_config: { router: { return_error_msg: true }, ...root },
          endpoints: [{ endpoint: '/x', backend: backends, ...endpoint }],
        },
        options,
      );
    };
    const ask = async () => {
      const { statusCode, headers, body } = await gateway.inject('/x');
      return { status: statusCode, completed: headers['x-gateway-completed'], type: headers['content-type'], body };
    };

    it('returns 500 if its only backend is over the limit', async () => {
      await start([to('/a', { [plugin.name]: one })]);
      deepEqual([(await ask()).status, (await ask()).status, calls()], [200, 500, 1]);
    });

    it('returns the data of other backends', async () => {
      await start([to('/a'), to('/b', { [plugin.name]: one })]);
      const [first, second] = [await ask(), await ask()];
      deepEqual([first.status, first.completed, JSON.parse(first.body)], [200, 'true', { a: true, b: true }]);
      deepEqual([second.status, second.completed, JSON.parse(second.body)], [200, 'false', { a: true }]);
    });

    it('returns 500 if all backends are over the limit', async () => {
      await start([to('/a', { [plugin.name]: one }), to('/b', { [plugin.name]: one })]);
      await ask();
      equal((await ask()).status, 500);
    });

    it('ends a sequence of backends, whose earlier data is returned', async () => {
      const sequential = { extra_config: { proxy: { sequential: true } } };
      await start([to('/a'), to('/b', { [plugin.name]: one }), to('/c')], sequential);
      await ask();
      const { status, completed, body } = await ask();
      deepEqual([status, completed, JSON.parse(body)], [200, 'false', { a: true }]);
      equal(backend.requests.filter(({ target }) => target === '/c').length, 1);
    });

    it('consumes a token for each of several concurrent calls', async () => {
      await start([to('/a', { [plugin.name]: { ...one, capacity: 2 } })], { concurrent_calls: 3 });
      deepEqual([(await ask()).status, (await ask()).status], [200, 500]);
      equal(calls() <= 2, true);
    });

    it('counts as a failure for the circuit breaker around it', async () => {
      const breaker = { 'qos/circuit-breaker': { max_errors: 1, timeout: 60, interval: 60 } };
      await start([to('/a', { [plugin.name]: one, ...breaker })]);
      const responses = [await ask(), await ask(), await ask(), await ask()];
      deepEqual(
        responses.map(({ status }) => status),
        [200, 500, 500, 500],
      );
      equal(responses[3]!.body, 'circuit breaker is open');
    });

    it('returns the reason if return_error_msg is set', async () => {
      await start([to('/a', { [plugin.name]: one })]);
      await ask();
      const { status, body, type } = await ask();
      deepEqual([status, body, type], [500, refused, 'text/plain; charset=utf-8']);
    });

    it('logs a rejected call as an error of its endpoint', async () => {
      const sinks = rememberingSinks();
      const logging = { 'telemetry/logging': { level: 'ERROR', stdout: true } };
      await start([to('/a', { [plugin.name]: one })], {}, logging, { sinks });
      await ask();
      await ask();
      const lines = sinks.lines.filter((line) => line.includes('ERROR'));
      equal(lines.length, 1);
      equal(/\[ENDPOINT: (?:GET )?\/x\].*rate limit exceded/.test(lines[0]!), true, lines[0]);
    });

    it('has a separate bucket for each backend object, even with equal hosts', async () => {
      await start([
        to('/a', { [plugin.name]: one }),
        { ...to('/a', { [plugin.name]: one }), host: [backend.url, backend.url] },
      ]);
      deepEqual([(await ask()).completed, calls()], ['true', 2]);
      equal((await ask()).status, 500);
    });
  });
});
