import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { type Log, PatternLimit } from '#contract';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../../kernel/index.ts';
import { openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/bot-detector/index.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const config = {
  deny: ['a', 'b'],
  allow: ['c', 'Pingdom.com_bot_version_1.1'],
  patterns: ['(Pingdom.com_bot_version_).*', '(facebookexternalhit)/.*'],
};
const levels = ['service', 'endpoint'] as const;

const by = (agent?: string): TestRequest => (agent === undefined ? {} : { headers: { 'User-Agent': agent } });

/** A detector whose patterns match equal strings, and the number of evaluations. */
async function counted(rules: object) {
  const requested: string[] = [];
  const patterns = {
    compile: (source: string) => ({
      source,
      test(text: string) {
        requested.push(text);
        if (source === 'limit') throw new PatternLimit(source);
        return text === source;
      },
      testWhole: (text: string) => text === source,
      replacer: () => (text: string) => text,
    }),
  };
  const gate = await openHarness(plugin, 'service', rules, { services: { patterns } });
  const send = async (...agents: string[]) => {
    const statuses: number[] = [];
    for (const agent of agents) statuses.push((await gate.send(by(agent))).status);
    return statuses;
  };
  return { requested, gate, send };
}

describe('security/bot-detector', () => {
  for (const level of levels) {
    for (const [what, agent, status] of [
      ['rejects a denied user agent', 'a', 403],
      ['compares denied user agents case-sensitively', 'A', 200],
      ['compares denied user agents as a whole', 'ab', 200],
      ['accepts an allowed user agent even if it matches a pattern', 'Pingdom.com_bot_version_1.1', 200],
      ['rejects a user agent that matches a pattern', 'Pingdom.com_bot_version_1.2', 403],
      ['matches a pattern anywhere in the user agent', 'x facebookexternalhit/1.1 y', 403],
      ['accepts a request without a user agent', undefined, 200],
      ['accepts a request with an empty user agent', '', 200],
    ] as const) {
      it(`${what}, at ${level} level`, async () => {
        const gate = await openHarness(plugin, level, config);
        equal((await gate.send(by(agent))).status, status);
      });
    }
  }

  it('rejects requests without a user agent if empty_user_agent_is_bot is set, regardless of other rules', async () => {
    const gate = await openHarness(plugin, 'service', { ...config, allow: [''], empty_user_agent_is_bot: true });
    for (const agent of [undefined, '']) equal((await gate.send(by(agent))).status, 403);
  });

  it('caches as many user agents as configured, and evicts the least recently used one', async () => {
    const { requested, send } = await counted({ patterns: ['2'], cache_size: 2 });
    deepEqual(await send('1', '2', '3', '1'), [200, 403, 200, 200]);
    deepEqual(requested, ['1', '2', '3', '1']);
    deepEqual(await send('3', '1', '3'), [200, 200, 200]);
    equal(requested.length, 4);
  });

  it('caches no user agents by default, and never one that is longer than 1024 characters', async () => {
    const long = 'x'.repeat(1025);
    const without = await counted({ patterns: ['1'] });
    await without.send('1', '1');
    equal(without.requested.length, 2);
    const { requested, send } = await counted({ patterns: ['1'], cache_size: 9 });
    await send(long, long, long.slice(1), long.slice(1));
    equal(requested.length, 3);
  });

  it('keeps its cache across a reload unless the rules change', async () => {
    const { requested, gate, send } = await counted({ patterns: ['1'], cache_size: 9 });
    await send('1');
    await gate.reload({ patterns: ['1'], cache_size: 9, deny: ['2'] });
    deepEqual([await send('1', '2'), requested], [[403, 403], ['1']]);
    await gate.reload({ patterns: ['3'], cache_size: 9 });
    deepEqual(await send('1'), [200]);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('rejects a user agent that is too long for a pattern', async () => {
    deepEqual(await (await counted({ patterns: ['limit'] })).send('x'), [403]);
  });

  it('reads the first of several User-Agent headers', async () => {
    const gate = await openHarness(plugin, 'service', config);
    equal((await gate.send({ headers: { 'User-Agent': 'good', 'user-agent': 'a' } })).status, 200);
  });

  it('rejects without a body, content type and completeness header, even if return_error_msg is set', async () => {
    const gateway = await startGateway({
      extra_config: { router: { return_error_msg: true }, 'security/bot-detector': config },
      endpoints: [],
    });
    try {
      const { statusCode, body, headers } = await gateway.inject({ url: '/', headers: { 'user-agent': 'a' } });
      deepEqual(
        [statusCode, body, headers['content-type'], headers['x-gateway-completed']],
        [403, '', undefined, undefined],
      );
    } finally {
      await gateway.close();
    }
  });

  it('logs each rejected request', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, error: (line) => lines.push(String(line)) };
    const gate = await openHarness(plugin, 'endpoint', config, { services: { log } });
    await gate.send(by('a'));
    await gate.send(by('good'));
    deepEqual(lines, ['[Botdetector] bot rejected']);
  });

  describe('in a gateway', () => {
    let backend: TestBackend;
    let gateway: Gateway;

    before(async () => {
      backend = await startBackend(json({ ok: true }));
    });
    after(() => backend.close());
    afterEach(() => gateway.close());

    const start = async (root: object, own: object = {}) => {
      const to = { host: [backend.url], url_pattern: '/' };
      gateway = await startGateway({
        extra_config: root,
        endpoints: [
          { endpoint: '/a', backend: [to], input_headers: ['User-Agent'], extra_config: own },
          { endpoint: '/b', backend: [to] },
        ],
      });
    };
    const statusOf = async (url: string, agent: string) =>
      (await gateway.inject({ url, headers: { 'user-agent': agent } })).statusCode;

    it("covers unknown paths and the gateway's own paths at the root", async () => {
      await start({ 'security/bot-detector': config });
      for (const path of ['/a', '/nope', '/__health']) equal(await statusOf(path, 'a'), 403, path);
      deepEqual([await statusOf('/nope', 'good'), await statusOf('/__health', 'good')], [404, 200]);
    });

    it('covers only its own endpoint', async () => {
      await start({}, { 'security/bot-detector': config });
      deepEqual([await statusOf('/a', 'a'), await statusOf('/b', 'a'), await statusOf('/nope', 'a')], [403, 200, 404]);
    });

    it('requires a request to pass the rules of both levels', async () => {
      await start(
        { 'security/bot-detector': { deny: ['a'] } },
        { 'security/bot-detector': { allow: ['a'], deny: ['b'] } },
      );
      deepEqual([await statusOf('/a', 'a'), await statusOf('/a', 'b'), await statusOf('/a', 'c')], [403, 403, 200]);
    });

    it('runs first at an endpoint: a rejected client consumes no rate limit', async () => {
      await start(
        {},
        { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' }, 'security/bot-detector': config },
      );
      deepEqual([await statusOf('/a', 'a'), await statusOf('/a', 'good'), await statusOf('/a', 'a')], [403, 200, 403]);
    });

    it('does not affect CORS preflights, and its rejections have CORS headers', async () => {
      await start({ 'security/bot-detector': config, 'security/cors': { allow_origins: ['*'] } });
      const headers = { origin: 'https://a.io', 'user-agent': 'a' };
      const refused = await gateway.inject({ url: '/a', headers });
      deepEqual([refused.statusCode, refused.headers['access-control-allow-origin']], [403, '*']);
      const asking = { ...headers, 'access-control-request-method': 'GET' };
      equal((await gateway.inject({ method: 'OPTIONS', url: '/a', headers: asking })).statusCode, 204);
    });

    it('forwards the User-Agent header unchanged', async () => {
      await start({ 'security/bot-detector': config });
      await statusOf('/a', 'good');
      equal(backend.requests.at(-1)!.headers['user-agent'], 'good');
    });

    it('is not slowed down by a user agent that causes catastrophic backtracking in other engines', async () => {
      await start({ 'security/bot-detector': { patterns: ['(a+)+$'], cache_size: 1 } });
      const before = process.cpuUsage().user;
      equal(await statusOf('/a', `${'a'.repeat(8000)}!`), 200);
      ok(process.cpuUsage().user - before < 5_000_000);
    });
  });

  describe('in the configuration', () => {
    for (const [what, wrong] of Object.entries({
      'an empty object': {},
      'only a comment': { '@comment': 'none' },
      'a negative cache': { cache_size: -1 },
      'an unlimited cache': { cache_size: 1e9 },
      'an unknown field': { denny: ['a'] },
      'a string instead of a list': { deny: 'a' },
      'a value that is not an object': ['a'],
    })) {
      it(`rejects ${what}`, () => rejects(openHarness(plugin, 'service', wrong), { code: 'CONFIG_INVALID' }));
    }

    for (const pattern of ['(', '(?=a)', '(a)\\1', 'a(?!b)']) {
      it(`rejects the pattern ${pattern} with its location`, async () => {
        await rejects(openHarness(plugin, 'service', { patterns: ['ok', pattern] }), ({ errors: [error] }) => {
          deepEqual([error.code, error.pointer], ['PATTERN_INVALID', '/patterns/1']);
          return true;
        });
      });
    }

    for (const [what, idle, code, pointer] of [
      ['rules that reject no client', { allow: ['a'] }, 'BOT_OFF', ''],
      ['a cache without patterns', { deny: ['a'], cache_size: 1 }, 'BOT_UNUSED', '/cache_size'],
      ['a user agent that is both denied and allowed', { deny: ['b', 'a'], allow: ['a'] }, 'BOT_UNUSED', '/deny/1'],
      ['an empty user agent', { deny: ['a', ''] }, 'BOT_UNUSED', '/deny/1'],
    ] as const) {
      it(`warns about ${what}`, async () => {
        const { warnings } = await openHarness(plugin, 'service', idle);
        deepEqual(
          warnings.map((warning) => [warning.code, warning.pointer]),
          [[code, pointer]],
        );
      });
    }
  });
});
