import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExact } from '#contract';
import { normalizeInBatches } from '../../../kernel/config/normalize/in-batches.ts';
import { type Normalized, normalize } from '../../../kernel/config/normalize/normalize.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { catalogue } from '../../../plugins/index.ts';
import { turnsDuring } from '../../support/turns.ts';

const known = new Registry(catalogue, {} as never);

/** All parts of the result that must be equal. Warnings are sorted, because their order can differ. */
const shown = ({ config, errors, warnings, isPlain, origin }: Normalized, pointers: readonly string[]) => ({
  config,
  isPlain,
  errors: errors.map(String),
  warnings: warnings.map(({ code, pointer, message }) => `${code} ${pointer} ${message}`).toSorted(),
  origins: pointers.map(origin),
});

const places = ['/endpoints/0/backend/0', '/endpoints/2/timeout', '/extra_config'];

const backend = [{ host: ['http://a.test'], url_pattern: '/' }];
const endpoint = (at: number, more: object = {}) => ({ endpoint: `/path-${at}`, backend, ...more });
const document = (endpoints: readonly object[], more: object = {}) => ({
  version: 3,
  timeout: '3s',
  ...more,
  endpoints,
});
const some = [0, 1, 2, 3, 4].map((at) => endpoint(at));

describe('a configuration that is normalized in batches of endpoints', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['plain endpoints', document(some)],
    ['inherited fields', document(some, { host: ['http://b.test'], cache_ttl: '1m', output_encoding: 'no-op' })],
    ['components', document(some.with(2, endpoint(2, { extra_config: { 'qos/ratelimit/router': { max_rate: 3 } } })))],
    [
      'options without effect',
      document(some.with(3, endpoint(3, { concurrent_calls: 1 })), { sequential_start: true }),
    ],
    ['an error in one endpoint', document(some.with(3, endpoint(3, { timeout: 'soon' })))],
    ['an error at the root', document(some, { timeout: 'soon' })],
    ['a duplicate endpoint', document([...some, endpoint(3)])],
    [
      'two endpoints that collide',
      document([...some, endpoint(8, { endpoint: '/{a}/b' }), endpoint(9, { endpoint: '/{b}/b' })]),
    ],
    ['an old version', { ...document(some), version: 2 }],
    [
      'old names',
      document(
        some.with(1, endpoint(1, { extra_config: { 'github.com/devopsfaith/krakend-ratelimit/juju/router': {} } })),
      ),
    ],
    ['an endpoint that is not an object', document([...some, [] as object])],
    ['fewer endpoints than fit into a batch', document([endpoint(1)])],
    ['no endpoints', document([])],
    ['endpoints that are not a list', { version: 3, endpoints: {} }],
    ['a document that is not an object', []],
  ];
  for (const [what, data] of cases) {
    for (const least of [1, 2, 4]) {
      it(`equals one normalized in one go: ${what}, ${least} at a time`, async () => {
        const options = { known };
        deepEqual(
          shown(await normalizeInBatches(data, options, least), places),
          shown(normalize(data, options), places),
        );
      });
    }
  }

  it('equals one normalized in one go for every sample', async () => {
    const folder = join(import.meta.dirname, '../../../samples');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
    let compared = 0;
    for (const name of files) {
      const data = parseExact(readFileSync(join(folder, name), 'utf8'));
      if (typeof data !== 'object' || data === null || !('endpoints' in data)) continue;
      compared++;
      const whole = shown(normalize(data, { known }), places);
      deepEqual(shown(await normalizeInBatches(data, { known }, 1), places), whole, name);
    }
    ok(compared > 15, String(compared));
  });

  it('lets the event loop run between batches', async () => {
    const endpoints = Array.from({ length: 4000 }, (_, at) => endpoint(at));
    const turns = await turnsDuring(async () => {
      const { config } = await normalizeInBatches(document(endpoints), { known });
      equal(config.endpoints.length, 4000);
    });
    ok(turns > 10, String(turns));
  });
});
