import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { explainRequest } from '../../../../kernel/inspect/index.ts';
import { serve } from '../../../kernel/inspect/serve.ts';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const stable = { name: 'stable', backends: [0], weight: 90 };
const canary = { name: 'canary', backends: [1], weight: 10 };

describe('proxy/split in a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/failing') response.writeHead(503).end();
      else response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ [target.slice(1)]: true }));
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const config = (
    split: object,
    {
      backends = ['/v1', '/v2'],
      extra = {},
      ...endpoint
    }: { backends?: (string | object)[]; extra?: object; [field: string]: unknown } = {},
  ) => ({
    host: [backend.url],
    endpoints: [
      {
        endpoint: '/a',
        ...endpoint,
        backend: backends.map((each) => (typeof each === 'string' ? { url_pattern: each } : each)),
        extra_config: { 'proxy/split': split, ...extra },
      },
    ],
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given));
  };
  const get = async (headers: Record<string, string> = {}, remoteAddress = '10.0.0.1') => {
    const { body } = await gateway!.inject({ url: '/a', headers, remoteAddress });
    return Object.keys(JSON.parse(body)).sort().join();
  };
  const counted = async (times: number, headers: (at: number) => Record<string, string> = () => ({})) => {
    const counts: Record<string, number> = {};
    for (let at = 0; at < times; at++) {
      const variant = await get(headers(at));
      counts[variant] = (counts[variant] ?? 0) + 1;
    }
    return counts;
  };

  it('splits 10,000 requests 90 to 10', async function () {
    this.timeout(120_000);
    await start({ variants: [stable, canary] });
    const counts = await counted(10_000);
    if (process.env['SLUICE_TEST_FIGURES']) console.log(counts);
    equal(counts['v1']! + counts['v2']!, 10_000);
    // The tolerance is five standard deviations.
    ok(Math.abs(counts['v2']! - 1000) < 150, JSON.stringify(counts));
  });

  it('calls all backends of a variant, and always the backends that belong to no variant', async () => {
    await start(
      {
        variants: [
          { name: 'old', backends: [0] },
          { name: 'new', backends: [1, 2], weight: 1 },
        ],
      },
      { backends: ['/v1', '/v2', '/v2-prices', '/common'] },
    );
    equal(await get(), 'common,v2,v2-prices');
  });

  it('assigns matching requests their variant, regardless of weights', async () => {
    const matching = (strategy: string, key: string, value?: string) => ({
      ...canary,
      weight: 0,
      match: { strategy, key, ...(value !== undefined && { value }) },
    });
    await start({ variants: [stable, matching('header', 'X-Canary', 'yes')] });
    deepEqual([await get({ 'x-canary': 'yes' }), await get({ 'x-canary': 'no' }), await get()], ['v2', 'v1', 'v1']);
    await gateway!.close();
    await start({ variants: [stable, matching('cookie', 'beta')] });
    deepEqual([await get({ cookie: 'a=b; beta=1' }), await get({ cookie: 'alphabeta=1' })], ['v2', 'v1']);
  });

  it('does not need the header in input_headers, and does not forward it', async () => {
    await start({ variants: [stable, { ...canary, match: { strategy: 'header', key: 'X-Canary' } }] });
    await get({ 'x-canary': 'yes' });
    equal(backend.requests.at(-1)!.headers['x-canary'], undefined);
  });

  it('assigns a caller the same variant each time', async () => {
    const sticky = { strategy: 'header', key: 'X-User' };
    await start({
      variants: [
        { ...stable, weight: 50 },
        { ...canary, weight: 50 },
      ],
      sticky,
    });
    const seen = new Set<string>();
    for (let user = 0; user < 30; user++) {
      const first = await get({ 'x-user': `user-${user}` });
      seen.add(first);
      for (let again = 0; again < 3; again++) equal(await get({ 'x-user': `user-${user}` }), first);
    }
    deepEqual([...seen].sort(), ['v1', 'v2']);
  });

  it('reassigns only as many callers as a change of weights requires, and no callers of a variant whose weight has increased', async () => {
    const sticky = { strategy: 'cookie', key: 'session' };
    const shares = (share: number) => ({
      variants: [
        { ...stable, weight: 100 - share },
        { ...canary, weight: share },
      ],
      sticky,
    });
    const all = async () => {
      const variants: string[] = [];
      for (let user = 0; user < 400; user++) variants.push(await get({ cookie: `session=s${user}` }));
      return variants;
    };
    await start(shares(10));
    const before = await all();
    await gateway!.apply({ source: { version: 3, ...config(shares(30)) } as never, trigger: 'api' });
    const after = await all();
    const moved = before.flatMap((variant, user) => (variant === after[user] ? [] : [`${variant}>${after[user]}`]));
    deepEqual([...new Set(moved)], ['v1>v2']);
    ok(moved.length > 50 && moved.length < 110, `${moved.length}`);
    await gateway!.apply({ source: { version: 3, ...config(shares(10)) } as never, trigger: 'api' });
    deepEqual(await all(), before);
  });

  it('identifies callers by their address, and treats an IPv6 network of 64 bits as one caller', async () => {
    await start({
      variants: [
        { ...stable, weight: 50 },
        { ...canary, weight: 50 },
      ],
      sticky: { strategy: 'ip' },
    });
    const of = (address: string) => get({}, address);
    const seen = new Set<string>();
    for (let host = 1; host < 40; host++) {
      const first = await of(`2001:db8:0:${host}::1`);
      seen.add(first);
      equal(await of(`2001:db8:0:${host}:ffff::2`), first);
    }
    equal(seen.size, 2);
  });

  it('splits callers that have no identifying value at random', async () => {
    await start({
      variants: [
        { ...stable, weight: 50 },
        { ...canary, weight: 50 },
      ],
      sticky: { strategy: 'claim', key: 'sub' },
    });
    deepEqual(Object.keys(await counted(60)).sort(), ['v1', 'v2']);
  });

  it('makes splits with different seeds independent of one another', async () => {
    const sticky = { strategy: 'header', key: 'X-User' };
    const variants = [
      { ...stable, weight: 50 },
      { ...canary, weight: 50 },
    ];
    const all = async (seed?: string) => {
      await start({ variants, sticky, ...(seed !== undefined && { seed }) });
      const seen: string[] = [];
      for (let user = 0; user < 60; user++) seen.push(await get({ 'x-user': `user-${user}` }));
      await gateway!.close();
      return seen.join();
    };
    const first = await all();
    equal(await all(), first);
    ok((await all('other')) !== first);
    gateway = undefined;
  });

  it('forwards the undecoded bytes of the chosen backend', async () => {
    await start(
      { variants: [stable, { ...canary, match: { strategy: 'header', key: 'X-Canary' } }] },
      { output_encoding: 'no-op' },
    );
    deepEqual(gateway!.status.warnings, []);
    equal(await get({ 'x-canary': 'yes' }), 'v2');
  });

  it('returns the status of the chosen backend, if each variant has one backend', async () => {
    const passing = (url_pattern: string) => ({
      url_pattern,
      extra_config: { 'backend/http': { return_error_code: true } },
    });
    await start(
      { variants: [stable, { ...canary, match: { strategy: 'header', key: 'X-Canary' } }] },
      { backends: [passing('/v1'), passing('/failing')] },
    );
    deepEqual(gateway!.status.warnings, []);
    equal((await gateway!.inject({ url: '/a', headers: { 'x-canary': '1' } })).statusCode, 503);
  });

  it('does not warn about equal groups in different variants', async () => {
    const grouped = (url_pattern: string) => ({ url_pattern, group: 'user' });
    await start({ variants: [stable, canary] }, { backends: [grouped('/v1'), grouped('/v2')] });
    deepEqual(gateway!.status.warnings, []);
  });

  it('selects the variant once for a sequence of backends', async () => {
    await start(
      {
        variants: [
          { name: 'a', backends: [0, 1], weight: 1 },
          { name: 'b', backends: [2, 3], weight: 1 },
        ],
      },
      { backends: ['/a1', '/a2', '/b1', '/b2'], extra: { proxy: { sequential: true } } },
    );
    deepEqual(Object.keys(await counted(40)).sort(), ['a1,a2', 'b1,b2']);
  });

  it('cannot be combined with another condition of the same backend', async () => {
    const conditional = { url_pattern: '/v1', extra_config: { 'backend/conditional': { strategy: 'fallback' } } };
    const error = await start({ variants: [stable, canary] }, { backends: [conditional, '/v2'] }).catch(
      (reason) => reason,
    );
    match(String(error), /PLUGINS_CONFLICT/);
  });

  it('is shown by the command explain', async () => {
    const given = config({
      variants: [stable, { ...canary, match: { strategy: 'header', key: 'X-Canary', value: 'yes' } }],
    });
    const { forwarded } = await explainRequest(await serve(given), { method: 'GET', target: '/a' });
    deepEqual(
      forwarded.map(({ condition }) => condition),
      ['variant stable: 90 % of the requests', 'variant canary: header X-Canary = "yes", and 10 % of the requests'],
    );
  });
});
