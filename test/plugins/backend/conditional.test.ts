import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { Call, HeaderBag, makeRequest, PipeRequest, Query } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/backend/conditional.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { rememberingLog } from '../../support/log.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('backend/conditional', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const path = target.split('?')[0]!.slice(1);
      if (path.startsWith('fail')) response.writeHead(500).end();
      else if (path === 'gone') response.writeHead(404).end();
      else if (path.startsWith('label/')) response.end(JSON.stringify({ label: path.slice(6) }));
      else response.end(JSON.stringify({ [path]: true }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const on = (url: string, condition: object | null, more: object = {}, fields: object = {}) => ({
    url_pattern: url,
    extra_config: { ...(condition && { 'backend/conditional': condition }), ...more },
    ...fields,
  });
  const header = (value: string) => ({ strategy: 'header', name: 'x-m', value });
  const policy = (value: string) => ({ strategy: 'policy', value });
  const fallback = { strategy: 'fallback' };
  const config = (backends: object[], fields: object = {}, more: object = {}) => ({
    host: [backend.url],
    endpoints: [{ endpoint: '/a/{id}', input_headers: ['X-M'], backend: backends, ...fields }],
    ...more,
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
  };
  const get = async (value?: string | string[], url = '/a/7') => {
    const { statusCode, headers, body } = await gateway!.inject({
      url,
      headers: value === undefined ? {} : { 'x-m': value },
    });
    return { status: statusCode, body, completed: headers['x-gateway-completed'] };
  };
  const answered = async (value?: string | string[], url?: string) => {
    const { body } = await get(value, url);
    return Object.keys(JSON.parse(body)).sort().join();
  };
  const three = () => [on('/a', header('a')), on('/b', header('b')), on('/c', fallback)];

  it('calls the backend whose header value matches exactly, and the fallback otherwise', async () => {
    await start(three());
    equal(await answered('a'), 'a');
    equal(await answered('A'), 'c');
    equal(await answered(), 'c');
    equal(await answered(['x', 'b']), 'b');
    equal((await get('a')).completed, 'true');
  });

  it('reads only forwarded headers, and warns about conditions on other headers', async () => {
    await start(three(), { input_headers: [] });
    equal(await answered('a'), 'c');
    deepEqual([...new Set(gateway!.status.warnings.map(({ code }) => code))], ['CONDITION_HEADER']);
  });

  it('always calls backends without a condition', async () => {
    await start([...three(), on('/d', null)]);
    equal(await answered('b'), 'b,d');
    equal((await get('b')).completed, 'true');
    equal(await answered(), 'c,d');
  });

  it('does not call the fallback if a selected backend fails', async () => {
    await start([on('/fail', header('a')), on('/c', fallback)]);
    const before = backend.requests.length;
    equal((await get('a')).status, 500);
    equal(backend.requests.length, before + 1);
  });

  it('returns an empty and complete response if no backend is selected', async () => {
    await start([on('/a', header('a')), on('/b', header('b'))]);
    deepEqual(await get(), { status: 200, body: '{}', completed: 'true' });
    await gateway!.close();
    await start([on('/a', header('a'))]);
    deepEqual(await get(), { status: 200, body: '{}', completed: 'true' });
    equal(await answered('a'), 'a');
  });

  it('calls and merges all selected backends', async () => {
    await start([on('/a', header('a')), on('/b', policy("'a' in req_headers['X-M']")), on('/c', fallback)]);
    equal(await answered('a'), 'a,b');
    equal(await answered('b'), 'c');
  });

  it('logs nothing for unselected backends', async () => {
    await start(three());
    await get('a');
    ok(!sinks.lines.some((line) => / (?:WARNING|ERROR) /.test(line)), sinks.lines.join(''));
  });

  describe('with a policy', () => {
    it("evaluates the endpoint's request with the functions of security/policies", async () => {
      const beta =
        "hasHeader('X-M') && req_method == 'GET' && req_path.startsWith('/a/') && req_querystring.q == ['1']";
      await start([on('/a', policy(beta)), on('/b', policy("req_params.Id == '7'"))], { input_query_strings: ['q'] });
      equal(await answered('x', '/a/7?q=1'), 'a,b');
      equal(await answered('x', '/a/8?q=2'), '');
    });

    it('does not select a backend whose policy fails to evaluate, and logs a warning', async () => {
      await start([on('/a', policy("req_headers['X-M'][0] == 'a'")), on('/c', fallback)]);
      equal(await answered(), 'c');
      ok(sinks.lines.some((line) => line.includes('WARNING') && line.includes('counts as not met')));
    });

    it('logs failed evaluations at most once a second', async () => {
      let now = 0;
      const log = rememberingLog();
      const services = { clock: { now: () => now }, log };
      const gate = await openHarness(plugin, 'backend', policy("req_headers['X-M'][0] == 'a'"), { services });
      const request = new PipeRequest(makeRequest({}), {}, new Query(), new HeaderBag(), null);
      const { holds } = gate.attached.condition!;
      for (const at of [0, 10, 999, 1000]) {
        now = at;
        equal(holds!(request, new Call()), false);
      }
      equal(log.lines.filter((line) => line.includes('counts as not met')).length, 2);
      await gate.close();
    });
  });

  describe('with sequential backends', () => {
    const sequence = (more: object = {}) => ({ extra_config: { proxy: { sequential: true, ...more } } });
    const label = { sequential_propagated_params: ['resp0_label'] };

    it('evaluates the condition after the earlier backends have responded, with their responses', async () => {
      await start([on('/label/{id}', null), on('/b', policy("req_params.Resp0_label == 'OK'"))], sequence(label));
      equal(await answered(undefined, '/a/OK'), 'b,label');
      const { body, completed } = await get(undefined, '/a/NO');
      deepEqual([JSON.parse(body), completed], [{ label: 'NO' }, 'true']);
    });

    it('skips unselected backends, and treats their response as empty', async () => {
      await start([on('/label/x', header('a')), on('/p/{resp0_label}', null, {}, { group: 'p' })], sequence());
      deepEqual(JSON.parse((await get()).body), { p: { 'p/': true } });
    });

    it('calls the fallback if no earlier backend was selected, and none without a fallback', async () => {
      await start(three(), sequence());
      deepEqual([await answered('b'), await answered()], ['b', 'c']);
      await gateway!.close();
      await start([on('/a', header('a')), on('/b', header('b'))], sequence());
      deepEqual(await get(), { status: 200, body: '{}', completed: 'true' });
    });

    it('warns about a fallback that is not the last backend', async () => {
      await start([on('/c', fallback), on('/a', header('a'))], sequence());
      deepEqual(
        gateway!.status.warnings.map(({ code }) => code),
        ['CONDITION_ORDER'],
      );
    });
  });

  it('runs outside all other components, so that rate limits and circuit breakers ignore unselected backends', async () => {
    const limited = { 'qos/ratelimit/proxy': { max_rate: 1, capacity: 1, every: '10m' } };
    await start([on('/a', header('a'), limited), on('/c', fallback)]);
    for (let round = 0; round < 3; round++) equal(await answered(), 'c');
    equal(await answered('a'), 'a');
    equal((await get('a')).status, 500);
  });

  it('does not require the path parameters of unselected backends', async () => {
    await start([on('/p/{input_headers.X-M}', header('a'), {}, { group: 'p' }), on('/c', fallback)]);
    equal(await answered(), 'c');
    equal(await answered('a'), 'p');
  });

  it('returns the status of the selected backend as if it were the only one', async () => {
    const code = { 'backend/http': { return_error_code: true } };
    await start([on('/gone', header('a'), code), on('/c', fallback, code)]);
    equal((await get('a')).status, 404);
    deepEqual(gateway!.status.warnings, []);
  });

  it('calls only the first selected backend with the no-op encoding', async () => {
    const raw = { output_encoding: 'no-op' };
    await start([on('/a', header('a')), on('/b', policy("'a' in req_headers['X-M']")), on('/gone', fallback)], raw);
    const before = backend.requests.length;
    equal((await get('a')).body, '{"a":true}');
    equal(backend.requests.length, before + 1);
    equal((await get()).status, 404);
    await gateway!.close();
    await start([on('/a', header('a')), on('/b', header('b'))], raw);
    deepEqual([(await get()).status, (await get()).body], [200, '']);
    const mixed = await refusalsOf(startGateway(config([on('/a', header('a')), on('/b', null)], raw)));
    deepEqual(
      mixed.map(({ code }) => code),
      ['OUTPUT_ONE_BACKEND'],
    );
  });

  it("selects backends in a workflow by the workflow's request", async () => {
    const workflow = { endpoint: '/w', backend: three() };
    await start([{ url_pattern: '/__workflow', extra_config: { workflow } }]);
    deepEqual([await answered('a'), await answered()], ['a', 'c']);
  });

  it('decides whether a shadow backend receives a copy', async () => {
    await start([on('/d', null), on('/shadow', header('a'), { proxy: { shadow: true } })]);
    const before = backend.requests.length;
    equal(await answered('b'), 'd');
    equal(backend.requests.length, before + 1);
  });

  describe('is rejected', () => {
    const at = (index: number) => `/endpoints/0/backend/${index}/extra_config/backend~1conditional`;
    const refused = async (...backends: object[]) =>
      (await refusalsOf(startGateway(config(backends)))).map(({ code, pointer }) => [code, pointer]);

    it('with two fallbacks', async () => {
      deepEqual(await refused(on('/a', fallback), on('/b', fallback)), [['CONDITION_FALLBACK', `${at(1)}/strategy`]]);
    });

    it('without the required fields of its strategy, and with an unknown strategy', async () => {
      deepEqual(await refused(on('/a', { strategy: 'header', value: 'a' })), [['CONDITION_FIELD', at(0)]]);
      deepEqual(await refused(on('/a', { strategy: 'header', name: 'X-M' })), [['CONDITION_FIELD', at(0)]]);
      deepEqual(await refused(on('/a', { strategy: 'policy' })), [['CONDITION_FIELD', at(0)]]);
      equal((await refused(on('/a', { strategy: 'weight' })))[0]![1], `${at(0)}/strategy`);
      equal((await refused(on('/a', { ...fallback, weight: 1 })))[0]![0], 'SCHEMA_UNKNOWN_KEY');
    });

    it('for an invalid policy', async () => {
      const [refusal] = await refusalsOf(startGateway(config([on('/a', policy('req_method =='))])));
      deepEqual([refusal!.code, refusal!.pointer], ['CEL_SYNTAX', `${at(0)}/value`]);
      match((await refused(on('/a', policy("resp_data.x == 'y'"))))[0]![0]!, /^CEL_NAME$/);
    });
  });
});
