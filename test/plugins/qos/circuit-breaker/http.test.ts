import { deepEqual, equal, rejects } from 'node:assert/strict';
import { BackendError, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/circuit-breaker/http.ts';

const config = { interval: 60, timeout: 1, max_errors: 2, valid_status_codes: [200, 404] };

const status = (code: number) => () => Reply.raw(code, new HeaderBag(), null);

async function breaker(respond: Step<PipeRequest>) {
  const clock = { time: 0, now: () => clock.time };
  let calls = 0;
  const behind = { answer: respond, calls: () => calls };
  const next: Step<PipeRequest> = (request, call) => {
    calls++;
    return behind.answer(request, call);
  };
  const gate = await openHarness(plugin, 'backend', config, { services: { clock }, next });
  const send = async (times: number) => {
    const statuses: number[] = [];
    for (; times > 0; times--) statuses.push((await gate.send('GET /')).status);
    return statuses;
  };
  return { behind, clock, gate, send };
}

describe('qos/circuit-breaker/http', () => {
  it('never opens after a valid status, regardless of later processing', async () => {
    const { behind, send } = await breaker(status(404));
    deepEqual(await send(5), [404, 404, 404, 404, 404]);
    equal(behind.calls(), 5);
  });

  it('opens after other statuses, and fails the call without a response', async () => {
    const { behind, gate, send } = await breaker(status(503));
    deepEqual(await send(4), [503, 503, 503, 500]);
    equal(behind.calls(), 3);
    const reply = await gate.send('GET /');
    equal(reply.failed, true);
    equal(reply.errors[0]?.message, 'circuit breaker is open');
  });

  it('opens if the backend cannot be reached', async () => {
    const { behind, send } = await breaker(() => Reply.failed(new BackendError('BACKEND_CONNECT', 'refused')));
    await send(5);
    equal(behind.calls(), 3);
  });

  it('closes after a trial call with a valid status', async () => {
    const { behind, clock, send } = await breaker(status(503));
    await send(3);
    clock.time += 1000;
    behind.answer = status(404);
    deepEqual(await send(2), [404, 404]);
  });

  it('warns if the backend also has qos/circuit-breaker', async () => {
    const backend = { extra_config: { 'qos/circuit-breaker': {} } };
    const gate = await openHarness(plugin, 'backend', config, { backend });
    deepEqual(
      gate.warnings.map(({ code, pointer, hint }) => [code, pointer, hint]),
      [['CIRCUIT_TWICE', '', 'use one of the two']],
    );
  });

  it('does not warn if it is the only circuit breaker of the backend', async () => {
    deepEqual((await openHarness(plugin, 'backend', config)).warnings, []);
  });

  it('counts a failed call whose response has a valid status', async () => {
    const { behind, send } = await breaker(() => {
      const reply = Reply.data({});
      reply.errors = [new BackendError('BACKEND_STATUS', 'not found', { upstreamStatus: 404 })];
      return reply;
    });
    deepEqual(await send(4), [200, 200, 200, 500]);
    equal(behind.calls(), 3);
  });

  it('wraps the HTTP client', async () => {
    const gate = await openHarness(plugin, 'backend', config);
    deepEqual(Object.keys(gate.attached), ['transport', 'state']);
  });

  for (const [what, codes] of Object.entries({
    'a missing list of statuses': undefined,
    'an empty list': [],
    'a duplicate status': [200, 200],
    'a number that is not a valid status': [99],
  })) {
    it(`rejects ${what}`, async () => {
      await rejects(openHarness(plugin, 'backend', { ...config, valid_status_codes: codes }), {
        code: 'CONFIG_INVALID',
      });
    });
  }

  it('releases all its resources', async () => {
    const { gate } = await breaker(status(200));
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
