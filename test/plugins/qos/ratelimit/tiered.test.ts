import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { InjectOptions } from 'light-my-request';
import { type AtEndpoint, HeaderBag, makeRequest } from '#contract';
import type { Operations } from '#kernel';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import { type HarnessOptions, openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/tiered.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const of = (count: number) => ({
  client_max_rate: count,
  client_capacity: count,
  every: '10m',
  strategy: 'header',
  key: 'X-User',
});
const gold = { tier_value: 'gold', ratelimit: of(3) };
const silver = { tier_value: 'silver', ratelimit: of(1) };
const plans = { tier_key: 'X-Plan', tiers: [gold, silver] as object[] };
const everyone = { tier_value_as: '*', ratelimit: of(1) };

const caller = (user: string | null, plan: string | null): TestRequest => ({
  headers: { ...(user !== null && { 'X-User': user }), ...(plan !== null && { 'x-plan': plan }) },
});

async function limited(config: object, around: HarnessOptions = {}) {
  const clock = { time: 0, now: () => clock.time };
  const gate = await openHarness(plugin, 'endpoint', config, { services: { clock }, ...around });
  const send = async (...requests: TestRequest[]) => {
    const statuses: number[] = [];
    for (const request of requests) statuses.push((await gate.send(request)).status);
    return statuses;
  };
  return { clock, gate, send };
}

const issues = (promise: Promise<unknown>, ...expected: [string, string][]) =>
  rejects(promise, ({ errors }) => {
    deepEqual(
      errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
      expected,
    );
    return true;
  });

describe('qos/ratelimit/tiered', () => {
  it('limits a caller by the tier in a header', async () => {
    const { send } = await limited(plans);
    const one = caller('u1', 'gold');
    deepEqual(await send(one, one, one, one), [200, 200, 200, 429]);
  });

  it('shows operators the clients of each tier', async () => {
    const all = { tier_value: 'free', ratelimit: { max_rate: 2, every: '10m', capacity: 2 } };
    const { gate, send } = await limited({ ...plans, tiers: [gold, silver, all] });
    await send(caller('u1', 'gold'), caller('u2', 'gold'), caller('u3', 'free'));
    deepEqual((gate.attached as AtEndpoint).state!(), {
      'gold trackedClients': 2,
      'gold clientBurstRequests': 3,
      'silver trackedClients': 0,
      'silver clientBurstRequests': 1,
      'free availableRequests': 1,
      'free burstRequests': 2,
    });
  });

  it('has a separate limit for each tier', async () => {
    const { send } = await limited(plans);
    const two = caller('u2', 'silver');
    deepEqual(await send(two, two), [200, 429]);
  });

  it('counts each tier separately, even for a caller that changes its tier', async () => {
    const { send } = await limited(plans);
    const two = caller('u2', 'silver');
    deepEqual(await send(two, two, caller('u2', 'gold')), [200, 429, 200]);
  });

  it('accepts, logs and does not count clients without a tier', async () => {
    const lines: string[] = [];
    const log = {
      ...silentLog,
      at: () => log,
      debug: (line: unknown) => lines.push(typeof line === 'function' ? line() : String(line)),
    };
    const { send } = await limited(plans, { services: { log } });
    deepEqual(await send(...new Array(5).fill(caller('u1', null))), [200, 200, 200, 200, 200]);
    equal(lines.filter((line) => line.includes('[Tier] no tier matches ""')).length, 5);
    deepEqual(await send(caller('u1', 'gold')), [200]);
  });

  it('matches all clients with *, even without the header', async () => {
    const { send } = await limited({ ...plans, tiers: [gold, silver, everyone] });
    const three = caller('u3', null);
    deepEqual(await send(three, three, caller('u4', 'bronze')), [200, 429, 200]);
  });

  it('selects a tier by an expression, and tries the next tier if the expression is false', async () => {
    const team = { tier_value: "value.matches('^Team-[a-z]+$')", tier_value_as: 'policy', ratelimit: of(1) };
    const { send } = await limited({ ...plans, tiers: [team, { ...everyone, ratelimit: of(2) }] });
    const [red, other] = [caller('u', 'Team-red'), caller('u', 'Team-1')];
    deepEqual(await send(red, red, other, other, other), [200, 429, 200, 200, 429]);
  });

  it('compares tier names case-sensitively', async () => {
    const { send } = await limited(plans);
    const one = caller('u1', 'Silver');
    deepEqual(await send(one, one, one), [200, 200, 200]);
  });

  it('rejects clients of a tier whose limit cannot identify them', async () => {
    const { send } = await limited(plans);
    deepEqual(await send(caller(null, 'gold')), [429]);
  });

  it('reads the first of several header values, and the header name in any letter case', async () => {
    const { gate } = await limited({ tier_key: 'x-PLAN', tiers: [gold, silver] });
    const headers = new HeaderBag(['X-Plan', 'silver', 'X-Plan', 'gold', 'X-User', 'u']);
    const request = makeRequest({ headers });
    deepEqual([(await gate.send(request)).status, (await gate.send(request)).status], [200, 429]);
  });

  it('uses the first tier that matches', async () => {
    const { gate, send } = await limited({ ...plans, tiers: [silver, { ...gold, tier_value: 'silver' }] });
    const one = caller('u1', 'silver');
    deepEqual(await send(one, one), [200, 429]);
    deepEqual(
      gate.warnings.map(({ code, pointer }) => [code, pointer]),
      [['TIER_HIDDEN', '/tiers/1']],
    );
  });

  it('treats callers without the header as callers with an empty tier', async () => {
    const { send } = await limited({ ...plans, tiers: [{ ratelimit: of(1) }] });
    const one = caller('u1', null);
    deepEqual(await send(one, one), [200, 429]);
  });

  it('does not limit clients of a tier without a limit', async () => {
    const { send } = await limited({ ...plans, tiers: [{ tier_value: 'gold' }, everyone] });
    const one = caller('u1', 'gold');
    deepEqual(await send(one, one, one, caller(null, 'gold')), [200, 200, 200, 200]);
  });

  it('treats a failed expression as not matching', async () => {
    const failing = { tier_value: 'int(value) > 3', tier_value_as: 'policy', ratelimit: of(1) };
    const { send } = await limited({ ...plans, tiers: [failing] });
    const [word, number] = [caller('u1', 'gold'), caller('u1', '7')];
    deepEqual(await send(word, word, number, number), [200, 200, 200, 429]);
  });

  it('has one shared limit for all clients of a tier', async () => {
    const tier = { tier_value: 'gold', ratelimit: { ...of(2), max_rate: 2, capacity: 2 } };
    const { send } = await limited({ ...plans, tiers: [tier] });
    deepEqual(await send(caller('a', 'gold'), caller('b', 'gold'), caller('c', 'gold')), [200, 200, 503]);
  });

  it('keeps the counts across a reload, even if the order of tiers changes', async () => {
    const { gate, send } = await limited(plans);
    const two = caller('u2', 'silver');
    await send(two);
    await gate.reload({ ...plans, tiers: [silver, gold] });
    deepEqual(await send(two), [429]);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('warns about tiers that no caller can reach', async () => {
    const { gate } = await limited({ ...plans, tiers: [everyone, gold, silver] });
    deepEqual(
      gate.warnings.map(({ code, pointer }) => [code, pointer]),
      [
        ['TIER_HIDDEN', '/tiers/1'],
        ['TIER_HIDDEN', '/tiers/2'],
      ],
    );
  });

  it('rejects an invalid expression with its location', () =>
    issues(limited({ ...plans, tiers: [gold, { tier_value: 'value ==', tier_value_as: 'policy' }] }), [
      'CEL_SYNTAX',
      '/tiers/1/tier_value',
    ]));

  it('rejects an expression that reads anything other than the tier', () =>
    issues(limited({ ...plans, tiers: [{ tier_value: "req_method == 'GET'", tier_value_as: 'policy' }] }), [
      'CEL_NAME',
      '/tiers/0/tier_value',
    ]));

  it('rejects an invalid limit with its location', () =>
    issues(limited({ ...plans, tiers: [gold, { tier_value: 'x', ratelimit: { client_max_rate: 1 } }] }), [
      'RATELIMIT_STRATEGY',
      '/tiers/1/ratelimit/strategy',
    ]));

  it('rejects a path parameter that the endpoint does not define', () =>
    issues(limited({ ...plans, tiers: [{ ratelimit: { client_max_rate: 1, strategy: 'param', key: 'id' } }] }), [
      'RATELIMIT_KEY',
      '/tiers/0/ratelimit/key',
    ]));

  it('rejects an invalid header', () => issues(limited({ ...plans, tier_key: 'X Plan' }), ['TIER_KEY', '/tier_key']));

  for (const [what, config] of Object.entries({
    'a missing header': { tiers: [] },
    'missing tiers': { tier_key: 'X-Plan' },
    'an unknown tier_value_as': { ...plans, tiers: [{ tier_value: 'a', tier_value_as: 'regex' }] },
    'an unknown field': { ...plans, tiers: [{ value: 'a' }] },
  })) {
    it(`rejects ${what}`, () => rejects(limited(config), { code: 'CONFIG_INVALID' }));
  }

  describe('in a gateway', () => {
    let backend: TestBackend;
    let gateway: Operations;

    before(async () => {
      backend = await startBackend(json({ ok: true }));
    });
    after(() => backend.close());
    afterEach(() => gateway?.close());

    const endpoint = (path: string, extra: object = {}) => ({
      endpoint: path,
      extra_config: extra,
      backend: [{ host: [backend.url], url_pattern: '/' }],
    });
    const ask = async (...requests: InjectOptions[]) => {
      const statuses: number[] = [];
      for (const request of requests) statuses.push((await gateway.inject(request)).statusCode);
      return statuses;
    };
    const by = (url: string, plan = 'silver'): InjectOptions => ({
      url,
      headers: { 'x-plan': plan, 'x-user': 'u', 'user-agent': 'bot' },
    });

    it('counts two endpoints with the same tiers separately', async () => {
      const tiered = { [plugin.name]: plans };
      gateway = await startGateway({ endpoints: [endpoint('/a', tiered), endpoint('/b', tiered)] });
      deepEqual(await ask(by('/a'), by('/b'), by('/a')), [200, 200, 429]);
    });

    it('shares one set of counters between all endpoints at the root, checked before endpoint components', async () => {
      const bots = { 'security/bot-detector': { deny: ['bot'] } };
      gateway = await startGateway({
        extra_config: { [plugin.name]: plans },
        endpoints: [endpoint('/a'), endpoint('/b', bots)],
      });
      deepEqual(await ask(by('/a'), by('/b'), by('/b', 'gold'), by('/nope')), [200, 429, 403, 404]);
    });

    it('at the root identifies clients by a path parameter where the endpoint has it', async () => {
      const limit = { client_max_rate: 1, client_capacity: 1, every: '10m', strategy: 'param', key: 'id' };
      gateway = await startGateway({
        extra_config: { [plugin.name]: { tier_key: 'X-Plan', tiers: [{ tier_value_as: '*', ratelimit: limit }] } },
        endpoints: [endpoint('/u/{id}'), endpoint('/b')],
      });
      deepEqual(await ask(by('/u/1'), by('/u/1'), by('/b'), by('/b')), [200, 429, 200, 200]);
    });

    it('runs after the plain rate limit of the endpoint', async () => {
      const router = { max_rate: 2, capacity: 2, every: '10m' };
      gateway = await startGateway({
        endpoints: [endpoint('/a', { [plugin.name]: plans, 'qos/ratelimit/router': router })],
      });
      deepEqual(await ask(by('/a'), by('/a'), by('/a')), [200, 429, 503]);
    });

    it('is inactive at the root if no tier has a limit', async () => {
      gateway = await startGateway({
        extra_config: { [plugin.name]: { tier_key: 'X-Plan', tiers: [{ tier_value: 'gold' }] } },
        endpoints: [endpoint('/a')],
      });
      deepEqual(await ask(by('/a', 'gold')), [200]);
    });
  });
});
