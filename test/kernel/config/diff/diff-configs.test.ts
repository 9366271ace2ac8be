import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Data, DataObject, Schema } from '#contract';
import {
  type ConfigDiff,
  canonicalData,
  type DiffOptions,
  diffConfigs,
  isSecret,
} from '../../../../kernel/config/index.ts';
import { cost } from '../../../support/cost.ts';
import { known, normalize } from '../../../support/known.ts';
import { applyPatch } from './apply-patch.ts';

const config = (fields: DataObject) => normalize({ version: 3, host: ['http://h'], ...fields }).config;
const diff = (from: DataObject, to: DataObject, options?: DiffOptions): ConfigDiff =>
  diffConfigs(config(from), config(to), { known, ...options });

const endpoint = (path: string, fields: DataObject = {}): DataObject => ({
  endpoint: path,
  backend: [{ url_pattern: '/' }],
  ...fields,
});
const service = (...endpoints: DataObject[]): DataObject => ({ endpoints });

describe('the difference between two configurations', () => {
  describe('is empty', () => {
    const none = (from: DataObject, to: DataObject) => {
      const { equal: isEqual, changes, patch } = diff(from, to);
      deepEqual([isEqual, changes, patch], [true, [], []]);
    };

    it('if a default is written out', () => none({}, { port: 8080, timeout: '2s' }));
    it('if a duration is written in another unit', () => none({ timeout: '1m' }, { timeout: '60000ms' }));
    it('if endpoints are in another order', () =>
      none(service(endpoint('/a'), endpoint('/b')), service(endpoint('/b'), endpoint('/a'))));
    it('if keys are in another order', () => none({ name: 'a', port: 1 }, { port: 1, name: 'a' }));
    it('if only comments differ', () => none({ '@why': 'x' }, { _who: 'y', $schema: 'z' }));
    it('if an inherited value is written out', () =>
      none(service(endpoint('/a')), service(endpoint('/a', { timeout: '2s', method: 'GET' }))));
    it('if an old field name is used', () => {
      const old = { version: 2, host: ['http://h'], ...service(endpoint('/a', { headers_to_pass: ['A'] })) };
      const present = config(service(endpoint('/a', { input_headers: ['A'] })));
      equal(diffConfigs(normalize(old).config, present).equal, true);
    });
  });

  it('contains the old and new value, with durations as they are written', () => {
    deepEqual(diff({}, { timeout: '3s' }).changes, [
      { op: 'replace', pointer: '/timeout', from: '2s', to: '3s', effect: 'swap' },
    ]);
  });

  describe('in a field that endpoints inherit from the service', () => {
    const pointers = ({ changes }: ConfigDiff) => changes.map(({ pointer }) => pointer);
    const withOutput = (name: string) => service(endpoint('/a', { output_encoding: name }));

    for (const [field, before, after] of [
      ['timeout', '1s', '3s'],
      ['cache_ttl', '10s', '20s'],
      ['output_encoding', 'json', 'no-op'],
      ['host', ['http://x'], ['http://y', 'http://z']],
    ] as [string, Data, Data][]) {
      it(`is listed once, at the service: ${field}`, () => {
        const endpoints = [endpoint('/a'), endpoint('/b')];
        const difference = diff({ [field]: before, endpoints }, { [field]: after, endpoints });
        deepEqual(pointers(difference), [`/${field}`]);
        equal(difference.summary.changed, 1);
      });
    }

    it('names every endpoint whose value changes, and patches all of them', () => {
      const endpoints = [endpoint('/a'), endpoint('/b', { timeout: '5s' })];
      const difference = diff({ timeout: '1s', endpoints }, { timeout: '3s', endpoints });
      deepEqual(difference.endpoints.changed, [{ method: 'GET', endpoint: '/a' }]);
      deepEqual(
        difference.patch.map(({ path }) => path),
        ['/timeout', '/endpoints/0/timeout'],
      );
    });

    it('is also listed at an endpoint that changes to another value', () => {
      const to = { timeout: '3s', endpoints: [endpoint('/a', { timeout: '4s' })] };
      deepEqual(pointers(diff({ timeout: '1s', endpoints: [endpoint('/a')] }, to)), [
        '/timeout',
        '/endpoints/0/timeout',
      ]);
    });

    it('is listed at the endpoint if the service does not change', () => {
      deepEqual(pointers(diff(service(endpoint('/a')), service(endpoint('/a', { timeout: '4s' })))), [
        '/endpoints/0/timeout',
      ]);
    });

    it('omits the decoding of backends, which changes when an output becomes a stream or is no longer one', () => {
      deepEqual(pointers(diff(withOutput('json'), withOutput('sse'))), ['/endpoints/0/output_encoding']);
      deepEqual(pointers(diff(withOutput('ndjson'), withOutput('json'))), ['/endpoints/0/output_encoding']);
    });
  });

  it('names the endpoint that a change belongs to', () => {
    const { changes } = diff(
      { endpoints: [endpoint('/a')] },
      { port: 1, endpoints: [endpoint('/a', { timeout: '9s' })] },
    );
    deepEqual(
      changes.map(({ route }) => route),
      [undefined, { method: 'GET', endpoint: '/a' }],
    );
  });

  it('has pointers into the new document, even for endpoints that were moved', () => {
    const from = service(endpoint('/a'), endpoint('/b'));
    const to = service(endpoint('/c'), endpoint('/b', { cache_ttl: '5s' }), endpoint('/a'));
    deepEqual(
      diff(from, to).changes.map(({ op, pointer }) => [op, pointer]),
      [
        ['replace', '/endpoints/1/cache_ttl'],
        ['add', '/endpoints/0'],
      ],
    );
  });

  it('has pointers into the old document for removed values', () => {
    const from = service(endpoint('/a'), endpoint('/b', { extra_config: { 'x/y': 1 } }));
    const to = service(endpoint('/b'));
    deepEqual(
      diff(from, to).changes.map(({ op, pointer }) => [op, pointer]),
      [
        ['remove', '/endpoints/0'],
        ['remove', '/endpoints/1/extra_config/x~1y'],
      ],
    );
  });

  it('treats an endpoint with another method as another endpoint', () => {
    const { endpoints } = diff(service(endpoint('/a')), service(endpoint('/a', { method: 'POST' })));
    deepEqual(endpoints, {
      added: [{ method: 'POST', endpoint: '/a' }],
      changed: [],
      removed: [{ method: 'GET', endpoint: '/a' }],
    });
  });

  it('lists a changed endpoint once', () => {
    const to = service(endpoint('/a', { cache_ttl: '5s', timeout: '1s' }));
    deepEqual(diff(service(endpoint('/a')), to).endpoints.changed, [{ method: 'GET', endpoint: '/a' }]);
  });

  it('compares backends by their positions', () => {
    const from = service(endpoint('/a', { backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] }));
    const to = service(endpoint('/a', { backend: [{ url_pattern: '/2' }] }));
    deepEqual(
      diff(from, to).changes.map(({ op, pointer }) => [op, pointer]),
      [
        ['replace', '/endpoints/0/backend/0/url_pattern'],
        ['remove', '/endpoints/0/backend/1'],
      ],
    );
  });

  it('contains lists of strings as a whole', () => {
    const [change] = diff({ host: ['http://a'] }, { host: ['http://b', 'http://a'] }).changes;
    deepEqual(change, {
      op: 'replace',
      pointer: '/host',
      from: ['http://a'],
      to: ['http://b', 'http://a'],
      effect: 'swap',
    });
  });

  it('locates a router option by its JSON pointer in extra_config', () => {
    const [change] = diff({}, { extra_config: { router: { max_payload: 5 } } }).changes;
    equal(change!.pointer, '/extra_config/router/max_payload');
  });

  it('distinguishes numbers beyond the precision of JavaScript', () => {
    const number = (text: string) => service(endpoint('/a', { extra_config: { 'x/y': { n: JSON.rawJSON(text) } } }));
    equal(diff(number('12345678901234567890'), number('12345678901234567891')).equal, false);
    equal(diff(number('12345678901234567890'), number('12345678901234567890')).equal, true);
  });

  it('counts changes by their kind', () => {
    const from = { ...service(endpoint('/a'), endpoint('/b')), port: 1 };
    const to = { ...service(endpoint('/b'), endpoint('/c'), endpoint('/d')), port: 2 };
    deepEqual(diff(from, to).summary, { added: 2, changed: 1, removed: 1 });
  });

  it('lists the service before the endpoints, which are sorted by path and method', () => {
    const to = { ...service(endpoint('/b'), endpoint('/a')), port: 1 };
    deepEqual(
      diff({}, to).changes.map(({ pointer }) => pointer),
      ['/port', '/endpoints/1', '/endpoints/0'],
    );
  });

  describe('has an effect:', () => {
    const effect = (from: DataObject, to: DataObject) => diff(from, to).changes.map((change) => change.effect);
    const tls = { keys: [{ public_key: 'a', private_key: 'b' }] };

    const rebinds: readonly DataObject[] = [
      { port: 1 },
      { listen_ip: '::1' },
      { tls },
      { use_h2c: true },
      { max_header_bytes: 5000 },
      { read_timeout: '1s' },
      { write_timeout: '1s' },
      { idle_timeout: '1s' },
      { send_timeout: '1s' },
      { max_connections: 10 },
      { max_requests_per_connection: 10 },
      { read_header_timeout: '1s' },
    ];
    for (const fields of rebinds) {
      it(`"rebind" (the port is opened again) for ${Object.keys(fields)}`, () =>
        deepEqual(effect({}, fields), ['rebind']));
    }

    it('"rebind" (the port is opened again) for a field of tls', () => {
      deepEqual(effect({ tls }, { tls: { ...tls, min_version: 'TLS12' } }), ['rebind']);
    });

    const swaps: readonly DataObject[] = [{ max_shutdown_wait_time: '1s' }, { dns_cache_ttl: '5s' }, { name: 'x' }];
    for (const fields of swaps) {
      it(`"swap" (the port stays open) for ${Object.keys(fields)}`, () => deepEqual(effect({}, fields), ['swap']));
    }

    for (const output of ['streaming', 'sse', 'ndjson', 'eventstream', 'no-op']) {
      it(`"stream" (open streams end) for an endpoint with the output ${output}`, () => {
        const from = service(endpoint('/a', { output_encoding: output }));
        const to = service(endpoint('/a', { output_encoding: output, cache_ttl: '1s' }));
        deepEqual(effect(from, to), ['stream']);
        deepEqual(effect(from, service()), ['stream']);
      });
    }

    it('"swap" (the port stays open) for a new endpoint, which has no connections yet', () => {
      deepEqual(effect({}, service(endpoint('/a', { output_encoding: 'sse' }))), ['swap']);
    });

    it('"swap" (the port stays open) for an endpoint that does not stream', () => {
      deepEqual(effect(service(endpoint('/a')), service(endpoint('/a', { cache_ttl: '1s' }))), ['swap']);
    });
  });

  describe('with secrets', () => {
    const secret = (client_secret: string) => service(endpoint('/a', { extra_config: { 'x/y': { client_secret } } }));

    it('shows that a secret changed, without its values', () => {
      const [change] = diff(secret('old'), secret('new'), { isSecret }).changes;
      deepEqual([change!.from, change!.to], ['***', '***']);
    });

    it('masks secrets inside an added endpoint and in the patch', () => {
      const result = diff(service(), secret('new'), { isSecret });
      ok(!JSON.stringify(result).includes('"new"'));
    });

    it('masks passwords of addresses in a list', () => {
      const [change] = diff(
        {},
        { extra_config: { 'x/y': { at: ['http://u:p@h', 'http://i'] } } },
        { isSecret },
      ).changes;
      deepEqual(change!.to, { at: ['***', 'http://i'] });
    });
  });

  it('adds positions in the file to a change', () => {
    const places = (pointer: string, side: string) => ({ file: side, line: pointer.length });
    const [change] = diff({}, { port: 1 }, { places }).changes;
    deepEqual([change!.file, change!.line], ['to', 5]);
  });

  describe('in components', () => {
    const schema = {
      type: 'object',
      properties: { rate: { type: 'integer', default: 5 }, every: { type: 'duration', default: '1s' } },
    } as const satisfies Schema;
    const componentSchema = (namespace: string) => (namespace === 'x/y' ? schema : undefined);
    const component = (settings: DataObject) => service(endpoint('/a', { extra_config: { 'x/y': settings } }));

    it('is empty for defaults, units and comments if their schema is known', () => {
      const from = component({ every: '1000ms', '@why': 'x' });
      equal(diff(from, component({ rate: 5 }), { componentSchema }).equal, true);
    });

    it('contains durations as they are written', () => {
      const [change] = diff(component({}), component({ every: '2s' }), { componentSchema }).changes;
      deepEqual([change!.from, change!.to], ['1s', '2s']);
    });
  });

  describe('as a JSON patch', () => {
    const applies = (from: DataObject, to: DataObject) => {
      const { patch } = diff(from, to);
      deepEqual(applyPatch(canonicalData(config(from)), patch), canonicalData(config(to)));
    };

    it('turns one configuration into the other', () =>
      applies(
        service(endpoint('/a'), endpoint('/b'), endpoint('/c'), endpoint('/d')),
        service(
          endpoint('/e'),
          endpoint('/d', { timeout: '1s' }),
          endpoint('/a0'),
          endpoint('/b', { cache_ttl: '1s' }),
        ),
      ));

    it('is correct for reordered endpoints', () =>
      applies(
        service(endpoint('/a'), endpoint('/b'), endpoint('/c')),
        service(endpoint('/c', { timeout: '1s' }), endpoint('/a'), endpoint('/aa')),
      ));

    it('is correct for added and removed backends', () => {
      const backends = (...patterns: string[]) =>
        service(endpoint('/a', { backend: patterns.map((url_pattern) => ({ url_pattern })) }));
      applies(backends('/1', '/2', '/3'), backends('/2'));
      applies(backends('/2'), backends('/1', '/2', '/3'));
    });

    it('is correct for fields and components', () =>
      applies(
        { port: 1, extra_config: { 'a/b': { x: [1, { y: 2 }] } }, client_tls: { allow_insecure_connections: true } },
        { name: 'n', extra_config: { 'a/b': { x: [{ y: 3 }] }, 'c~d/e': 1 } },
      ));

    it('is correct for two endpoints with the same path', () =>
      applies(service(endpoint('/a'), endpoint('/a', { timeout: '1s' })), service(endpoint('/a'))));
  });

  describe('is computed on data that', () => {
    it('means the same as the document when it is parsed again', () => {
      const original = config({
        timeout: '90us',
        extra_config: { router: { max_payload: 3 } },
        endpoints: [
          endpoint('/a', { output_encoding: 'no-op', timeout: '1500ms' }),
          endpoint('/__catchall', { backend: [{ url_pattern: '/', timeout: '36h' }] }),
        ],
      });
      const { config: again, errors } = normalize(canonicalData(original));
      deepEqual(errors, []);
      const byPath = (one: { endpoint: string }, other: { endpoint: string }) =>
        one.endpoint < other.endpoint ? -1 : 1;
      deepEqual(again, { ...original, endpoints: original.endpoints.toSorted(byPath) });
    });
  });

  it('runs in time proportional to the number of endpoints', () => {
    const many = (count: number, timeout: string) => {
      const endpoints = Array.from({ length: count }, (_, index) => endpoint(`/e/${index}`, { timeout }));
      return config({ endpoints });
    };
    const costOf = (count: number) => {
      const [from, to] = [many(count, '1s'), many(count, '3s')];
      return cost(() => equal(diffConfigs(from, to).summary.changed, count));
    };
    const small = costOf(1_000);
    ok(costOf(8_000) < 30 * small, 'eight times the endpoints, thirty times the time');
  });
});
