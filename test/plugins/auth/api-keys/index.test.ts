import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Offer, type PipeRequest, Reply } from '#contract';
import { type Harness, type HarnessOptions, openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/api-keys/index.ts';
import { rememberingLog } from '../../../support/log.ts';
import { findingsOf } from '../fixture.ts';

const keys = [
  { key: 'k-adm', roles: ['admin', 'user'] },
  { key: 'k-usr', roles: ['user'] },
];

/** The API keys that the component at the root provides to those at endpoints. */
async function catalogueOf(config: object, options: HarnessOptions = {}): Promise<readonly Offer[]> {
  return (await openHarness(plugin, 'service', config, options)).attached.offers!;
}

describe('auth/api-keys', () => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const harnesses: Harness[] = [];
  let passed: PipeRequest[];

  beforeEach(() => {
    passed = [];
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0)) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });

  /** Findings except those about plaintext secrets, which tests contain. */
  const warningsOf = ({ warnings }: Harness) => warnings.filter(({ code }) => code !== 'SECRET_LITERAL');
  const open = async (endpoint: object, service: object = {}, options: HarnessOptions = {}) => {
    const offers = await catalogueOf({ keys, propagate_role: 'X-Role', ...service });
    const gate = await openHarness(plugin, 'endpoint', endpoint, {
      services: { clock },
      offers,
      next: (request) => {
        passed.push(request);
        return Reply.data({ ok: true });
      },
      ...options,
    });
    harnesses.push(gate);
    return gate;
  };
  const bearer = (key: string): TestRequest => ({ headers: { Authorization: `Bearer ${key}` } });
  const statusOf = async (gate: Harness, request: TestRequest) => (await gate.send(request)).status;
  const roleOf = () => passed.at(-1)?.headers.get('x-role');

  it('accepts a key with a required role and sends the role to the backend', async () => {
    equal(await statusOf(await open({ roles: ['admin'] }), bearer('k-adm')), 200);
    equal(roleOf(), 'admin');
  });

  it('rejects a key without a required role with 403', async () => {
    const { status, body, data, complete } = await (await open({ roles: ['admin'] })).send(bearer('k-usr'));
    deepEqual([status, body, data, complete, passed.length], [403, null, null, null, 0]);
  });

  for (const [what, request] of [
    ['no key', {}],
    ['an empty key', { headers: { Authorization: '' } }],
    ['"Bearer" without a key', { headers: { Authorization: 'Bearer ' } }],
    ['an unknown key', bearer('nope')],
    ['the key __proto__', bearer('__proto__')],
    ['a key of 10,000 characters', bearer('k'.repeat(10_000))],
    ['a key followed by another one', bearer('k-adm k-usr')],
    ['a hash of a key', bearer(createHash('sha256').update('k-adm').digest('base64'))],
  ] as const) {
    it(`responds with 401 and a challenge to ${what}`, async () => {
      const reply = await (await open({ roles: ['admin'] })).send(request);
      deepEqual([reply.status, reply.headers.get('www-authenticate'), passed.length], [401, 'Bearer', 0]);
    });
  }

  it('sends no challenge if keys are expected in another header or in the query', async () => {
    for (const place of [{ identifier: 'X-Key' }, { strategy: 'query_string' }]) {
      const reply = await (await open({ roles: [] }, place)).send({});
      deepEqual([reply.status, reply.headers.get('www-authenticate')], [401, undefined]);
    }
  });

  it('accepts any key if no role is required, and logs a notice', async () => {
    equal(await statusOf(await open({ roles: [] }), bearer('k-usr')), 200);
    equal(roleOf(), 'ANY');
  });

  it('reads the key from the query parameter that the endpoint configures', async () => {
    const gate = await open({ roles: ['user'], strategy: 'query_string', identifier: 'apikey' });
    const statuses = [];
    for (const target of ['/?apikey=k-usr', '/?ApiKey=k-usr', '/?apikey=no&apikey=k-usr', '/?apikey=k%2Dusr&x=1']) {
      statuses.push(await statusOf(gate, { target }));
    }
    deepEqual(statuses, [200, 401, 401, 200]);
  });

  it('reads the key from the query parameter "key" by default', async () => {
    const gate = await open({ roles: ['user'] }, { strategy: 'query_string' });
    equal(await statusOf(gate, { target: '/?key=k-usr' }), 200);
  });

  const hex = (kind: string, text: string) => createHash(kind).update(text).digest('hex');
  for (const [title, config] of [
    ['as a salted SHA-256 hash', { hash: 'sha256', salt: 's', key: hex('sha256', 'sk1') }],
    ['as a SHA-1 hash in capitals', { hash: 'sha1', key: hex('sha1', 'k1').toUpperCase() }],
    ['as a salted FNV-128 hash', { hash: 'fnv128', salt: 's', key: fnv('sk1') }],
    ['in plaintext, regardless of the salt', { hash: 'plain', salt: 's', key: 'k1' }],
  ] as const) {
    it(`accepts a key that is configured ${title}`, async () => {
      const { key, ...service } = config;
      const gate = await open({ roles: [] }, { ...service, keys: [{ key }] });
      deepEqual(
        [await statusOf(gate, bearer('k1')), await statusOf(gate, bearer(key))],
        [200, key === 'k1' ? 200 : 401],
      );
    });
  }

  for (const text of ['', 'a', 'foobar', 'ä\u0000'.repeat(40)]) {
    it(`hashes ${JSON.stringify(text.slice(0, 8))} with FNV-1 as defined`, async () => {
      const gate = await open({ roles: [] }, { hash: 'fnv128', salt: text, keys: [{ key: fnv(`${text}k`) }] });
      equal(await statusOf(gate, bearer('k')), 200);
    });
  }

  it('limits requests per key to the configured rate and does not count rejected requests', async () => {
    const gate = await open({ roles: ['user'], client_max_rate: 1 });
    const send = (key: string) => gate.send(bearer(key));
    equal((await send('nope')).status, 401);
    const [first, second, other] = [await send('k-usr'), await send('k-usr'), await send('k-adm')];
    deepEqual([first.status, second.status, other.status], [200, 429, 200]);
    deepEqual([second.headers.get('retry-after'), second.body, second.data], ['1', null, null]);
    clock.time += 1000;
    equal((await send('k-usr')).status, 200);
  });

  it('accepts rates below one request a second, with a burst of one', async () => {
    const gate = await open({ roles: [], client_max_rate: 0.3 });
    const statuses = [];
    for (const ms of [0, 3000, 400, 0]) {
      clock.time += ms;
      statuses.push(await statusOf(gate, bearer('k-usr')));
    }
    deepEqual(statuses, [200, 429, 200, 429]);
  });

  it("allows a burst of one second's requests, rounded up", async () => {
    const gate = await open({ roles: [], client_max_rate: 2.5 });
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push(await statusOf(gate, bearer('k-usr')));
    deepEqual(statuses, [200, 200, 200, 429]);
  });

  it('keeps rate limit counts across a reload, and drops those of keys that were idle for ten minutes', async () => {
    const config = { roles: [], client_max_rate: 0.0001 };
    const gate = await open(config);
    await gate.send(bearer('k-usr'));
    await gate.reload(config);
    equal(await statusOf(gate, bearer('k-usr')), 429);
    clock.time += 600_000;
    equal(await statusOf(gate, bearer('k-usr')), 200);
  });

  it('does not limit requests with a rate of 0', async () => {
    const gate = await open({ roles: [], client_max_rate: 0 });
    for (let count = 0; count < 3; count++) equal(await statusOf(gate, bearer('k-usr')), 200);
  });

  it('compares roles case-sensitively', async () =>
    equal(await statusOf(await open({ roles: ['Admin'] }), bearer('k-adm')), 403));

  it('removes a role header that the client sent', async () => {
    const gate = await open({ roles: ['user'] });
    await gate.send({ headers: { Authorization: 'k-usr', 'X-Role': 'root', 'x-ROLE': 'root' } });
    deepEqual(passed[0]!.headers.getAll('x-role'), ['user']);
    deepEqual(passed[0]!.client.headers.getAll('x-role'), ['user']);
  });

  it('leaves the role header unchanged if roles are propagated in another header', async () => {
    const gate = await open({ roles: ['user'] }, { propagate_role: '' });
    await gate.send({ headers: { Authorization: 'k-usr', 'X-Role': 'mine' } });
    equal(roleOf(), 'mine');
    equal(gate.attached.proxy, undefined);
  });

  it("propagates the key's first role that the endpoint requires", async () => {
    const gate = await open({ roles: ['B', 'C'] }, { keys: [{ key: 'k', roles: ['A', 'C', 'B'] }] });
    await gate.send(bearer('k'));
    equal(roleOf(), 'C');
  });

  it('accepts a key after "Bearer" in any letter case, without a scheme, and in a custom header', async () => {
    const gate = await open({ roles: [] });
    for (const value of ['bearer k-usr', 'BEARER  k-usr', 'k-usr']) {
      equal(await statusOf(gate, { headers: { authorization: value } }), 200, value);
    }
    const custom = await open({ roles: [], identifier: 'x-kEY' });
    for (const value of ['Bearer k-usr', 'k-usr']) {
      equal(await statusOf(custom, { headers: { 'X-Key': value } }), 200, value);
    }
  });

  it('decodes keys in headers and query parameters as UTF-8', async () => {
    const service = { keys: [{ key: 'schlüssel✓' }] };
    const raw = Buffer.from('schlüssel✓').toString('latin1');
    equal(await statusOf(await open({ roles: [] }, service), bearer(raw)), 200);
    const target = `/?k=${encodeURIComponent('schlüssel✓')}`;
    const gate = await open({ roles: [], strategy: 'query_string', identifier: 'k' }, service);
    equal(await statusOf(gate, { target }), 200);
  });

  it('merges the roles of a duplicate key and reports a warning', async () => {
    const service = { keys: [...keys, { key: 'k-usr', roles: ['editor', 'user'] }] };
    deepEqual(
      warningsOf(await openHarness(plugin, 'service', service)).map(({ code, pointer, related }) => [
        code,
        pointer,
        related,
      ]),
      [['API_KEYS_TWICE', '/keys/2/key', ['/keys/1/key']]],
    );
    equal(await statusOf(await open({ roles: ['editor'] }, service), bearer('k-usr')), 200);
  });

  it('rejects all requests if no key is configured', async () => {
    const gate = await open({ roles: ['user'] }, { keys: [] });
    deepEqual([await statusOf(gate, bearer('')), await statusOf(gate, bearer('undefined'))], [401, 401]);
    deepEqual(gate.warnings, []);
  });

  it('logs the reason of rejected requests at most once a second, without the key', async () => {
    const log = rememberingLog();
    const gate = await open({ roles: ['admin'] }, {}, { services: { clock, log } });
    for (const key of ['wrong-key', 'wrong-key', 'k-usr']) {
      await gate.send(bearer(key));
      if (key === 'wrong-key') await gate.send(bearer(key));
    }
    clock.time += 1000;
    await gate.send(bearer('k-usr'));
    clock.time += 1000;
    await gate.send({});
    deepEqual(log.lines, [
      'DEBUG [APIKey] enabled, roles [admin]',
      'WARNING [APIKey] rejected: unknown API key',
      `WARNING [APIKey] rejected: the key ${hex('sha256', 'k-usr').slice(0, 8)} has none of the required roles`,
      'WARNING [APIKey] rejected: no API key',
    ]);
    ok(!log.lines.join().includes('wrong-key'));
  });

  describe('in the configuration check', () => {
    it('rejects an endpoint with auth/api-keys if the root has no keys', async () =>
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { roles: [] })), ['API_KEYS_MISSING ']));

    for (const [what, service, finding] of [
      ['a hash of the wrong length', { hash: 'sha256', keys: [{ key: 'ab' }] }, 'API_KEYS_HASH /keys/0/key'],
      ['a malformed hash', { hash: 'sha1', keys: [{ key: 'z'.repeat(40) }] }, 'API_KEYS_HASH /keys/0/key'],
      ['an oversized key', { keys: [{ key: 'k'.repeat(1025) }] }, 'API_KEYS_KEY /keys/0/key'],
      ['a key with characters that a header cannot contain', { keys: [{ key: ' k' }] }, 'API_KEYS_KEY /keys/0/key'],
      ['an invalid header name', { keys: [], identifier: 'a b' }, 'API_KEYS_IDENTIFIER /identifier'],
      ['an invalid role header name', { keys: [], propagate_role: 'ä' }, 'API_KEYS_HEADER /propagate_role'],
    ] as const) {
      it(`rejects ${what}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'service', service)), [finding]));
    }

    for (const [what, service] of Object.entries({
      'no keys': {},
      'an empty key': { keys: [{ key: '' }] },
      'an unknown field': { keys: [], kyes: [] },
      'an unknown field of a key': { keys: [{ key: 'a', role: 'b' }] },
      'an unknown hash': { keys: [], hash: 'md5' },
      'an unknown strategy': { keys: [], strategy: 'cookie' },
    })) {
      it(`rejects ${what} at the root`, () =>
        rejects(openHarness(plugin, 'service', service), { code: 'CONFIG_INVALID' }));
    }

    it('ignores comment keys that begin with @', async () => {
      await openHarness(plugin, 'service', { '@a': 1, keys: [{ key: 'a', '@plan': 'gold' }] });
    });

    it('warns about a role that no key has, and suggests a similar one', async () => {
      const { warnings } = await open({ roles: ['user', 'admni'] });
      deepEqual(
        warnings.map(({ code, pointer, hint }) => [code, pointer, hint]),
        [['API_KEYS_ROLE', '/roles/1', 'did you mean "admin"?']],
      );
    });

    it("warns about an endpoint whose strategy differs from the root's but uses the root's identifier", async () => {
      const { warnings } = await open({ roles: [], strategy: 'query_string' });
      deepEqual(
        warnings.map(({ code, pointer }) => [code, pointer]),
        [['API_KEYS_STRATEGY', '/strategy']],
      );
    });

    it('warns about a salt without effect', async () => {
      deepEqual(
        warningsOf(await openHarness(plugin, 'service', { keys, salt: 's' })).map(({ code }) => code),
        ['API_KEYS_UNUSED'],
      );
    });

    it('warns about plaintext keys, but not about hashed ones', async () => {
      const secrets = async (config: object) =>
        (await openHarness(plugin, 'service', config)).warnings.map(({ code, pointer }) => `${code} ${pointer}`);
      deepEqual(await secrets({ keys: [{ key: 'k' }] }), ['SECRET_LITERAL /keys/0/key']);
      deepEqual(await secrets({ hash: 'sha1', keys: [{ key: hex('sha1', 'k') }] }), []);
    });

    it('rejects an endpoint without "roles"', () => rejects(open({}), { code: 'CONFIG_INVALID' }));
  });

  /** FNV-1 as defined. */
  function fnv(text: string): string {
    let sum = 0x6c62272e07bb014262b821756295c58dn;
    for (const byte of Buffer.from(text)) sum = ((sum * 0x1000000000000000000013bn) % (1n << 128n)) ^ BigInt(byte);
    return sum.toString(16).padStart(32, '0');
  }
});
