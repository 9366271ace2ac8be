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

/** What the service offers the endpoints. */
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

  /** Findings but for those of secrets in clear: tests write them so. */
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

  it('case 1: lets in whose key has the role, and tells the backend', async () => {
    equal(await statusOf(await open({ roles: ['admin'] }), bearer('k-adm')), 200);
    equal(roleOf(), 'admin');
  });

  it('case 2: rejects a key without the role with 403', async () => {
    const { status, body, data, complete } = await (await open({ roles: ['admin'] })).send(bearer('k-usr'));
    deepEqual([status, body, data, complete, passed.length], [403, null, null, null, 0]);
  });

  for (const [what, request] of [
    ['no key', {}],
    ['an empty key', { headers: { Authorization: '' } }],
    ['an empty bearer', { headers: { Authorization: 'Bearer ' } }],
    ['a key that there is not', bearer('nope')],
    ['a name of what all objects have', bearer('__proto__')],
    ['a key of any length', bearer('k'.repeat(10_000))],
    ['a key and more', bearer('k-adm k-usr')],
    ['a hash of a key', bearer(createHash('sha256').update('k-adm').digest('base64'))],
  ] as const) {
    it(`case 3: refuses ${what} with 401 and a challenge`, async () => {
      const reply = await (await open({ roles: ['admin'] })).send(request);
      deepEqual([reply.status, reply.headers.get('www-authenticate'), passed.length], [401, 'Bearer', 0]);
    });
  }

  it('sends no challenge if the key is in another header or in the query', async () => {
    for (const place of [{ identifier: 'X-Key' }, { strategy: 'query_string' }]) {
      const reply = await (await open({ roles: [] }, place)).send({});
      deepEqual([reply.status, reply.headers.get('www-authenticate')], [401, undefined]);
    }
  });

  it('case 4: accepts any key if no role is required, and logs that', async () => {
    equal(await statusOf(await open({ roles: [] }), bearer('k-usr')), 200);
    equal(roleOf(), 'ANY');
  });

  it('case 5: takes the key from the parameter that the endpoint names', async () => {
    const gate = await open({ roles: ['user'], strategy: 'query_string', identifier: 'apikey' });
    const statuses = [];
    for (const target of ['/?apikey=k-usr', '/?ApiKey=k-usr', '/?apikey=no&apikey=k-usr', '/?apikey=k%2Dusr&x=1']) {
      statuses.push(await statusOf(gate, { target }));
    }
    deepEqual(statuses, [200, 401, 401, 200]);
  });

  it('case 6: takes the parameter "key" where the service names none', async () => {
    const gate = await open({ roles: ['user'] }, { strategy: 'query_string' });
    equal(await statusOf(gate, { target: '/?key=k-usr' }), 200);
  });

  const hex = (kind: string, text: string) => createHash(kind).update(text).digest('hex');
  for (const [title, config] of [
    ['case 7: by sha256 with a salt', { hash: 'sha256', salt: 's', key: hex('sha256', 'sk1') }],
    ['by sha1, written in capitals', { hash: 'sha1', key: hex('sha1', 'k1').toUpperCase() }],
    ['by fnv128 with a salt', { hash: 'fnv128', salt: 's', key: fnv('sk1') }],
    ['as it is, whatever the salt', { hash: 'plain', salt: 's', key: 'k1' }],
  ] as const) {
    it(`knows a key that is written ${title}`, async () => {
      const { key, ...service } = config;
      const gate = await open({ roles: [] }, { ...service, keys: [{ key }] });
      deepEqual(
        [await statusOf(gate, bearer('k1')), await statusOf(gate, bearer(key))],
        [200, key === 'k1' ? 200 : 401],
      );
    });
  }

  for (const text of ['', 'a', 'foobar', 'ä\u0000'.repeat(40)]) {
    it(`computes FNV-1 of ${JSON.stringify(text.slice(0, 8))} as its definition says`, async () => {
      const gate = await open({ roles: [] }, { hash: 'fnv128', salt: text, keys: [{ key: fnv(`${text}k`) }] });
      equal(await statusOf(gate, bearer('k')), 200);
    });
  }

  it('case 8: admits as many requests with a key as its rate gives, and counts only those that may enter', async () => {
    const gate = await open({ roles: ['user'], client_max_rate: 1 });
    const send = (key: string) => gate.send(bearer(key));
    equal((await send('nope')).status, 401);
    const [first, second, other] = [await send('k-usr'), await send('k-usr'), await send('k-adm')];
    deepEqual([first.status, second.status, other.status], [200, 429, 200]);
    deepEqual([second.headers.get('retry-after'), second.body, second.data], ['1', null, null]);
    clock.time += 1000;
    equal((await send('k-usr')).status, 200);
  });

  it('takes rates of less than one a second, with a burst of one', async () => {
    const gate = await open({ roles: [], client_max_rate: 0.3 });
    const statuses = [];
    for (const ms of [0, 3000, 400, 0]) {
      clock.time += ms;
      statuses.push(await statusOf(gate, bearer('k-usr')));
    }
    deepEqual(statuses, [200, 429, 200, 429]);
  });

  it('has bursts of the whole requests of a second, rounded up', async () => {
    const gate = await open({ roles: [], client_max_rate: 2.5 });
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push(await statusOf(gate, bearer('k-usr')));
    deepEqual(statuses, [200, 200, 200, 429]);
  });

  it('keeps the counts over a reload, and forgets a key that was idle for ten minutes', async () => {
    const config = { roles: [], client_max_rate: 0.0001 };
    const gate = await open(config);
    await gate.send(bearer('k-usr'));
    await gate.reload(config);
    equal(await statusOf(gate, bearer('k-usr')), 429);
    clock.time += 600_000;
    equal(await statusOf(gate, bearer('k-usr')), 200);
  });

  it('has no limit with a rate of 0', async () => {
    const gate = await open({ roles: [], client_max_rate: 0 });
    for (let count = 0; count < 3; count++) equal(await statusOf(gate, bearer('k-usr')), 200);
  });

  it('case 9: compares roles in their case', async () =>
    equal(await statusOf(await open({ roles: ['Admin'] }), bearer('k-adm')), 403));

  it('case 10: takes the role that a client claims from its request', async () => {
    const gate = await open({ roles: ['user'] });
    await gate.send({ headers: { Authorization: 'k-usr', 'X-Role': 'root', 'x-ROLE': 'root' } });
    deepEqual(passed[0]!.headers.getAll('x-role'), ['user']);
    deepEqual(passed[0]!.client.headers.getAll('x-role'), ['user']);
  });

  it('leaves a header alone that no role is propagated in', async () => {
    const gate = await open({ roles: ['user'] }, { propagate_role: '' });
    await gate.send({ headers: { Authorization: 'k-usr', 'X-Role': 'mine' } });
    equal(roleOf(), 'mine');
    equal(gate.attached.proxy, undefined);
  });

  it('uses the first role of the key that the endpoint requires', async () => {
    const gate = await open({ roles: ['B', 'C'] }, { keys: [{ key: 'k', roles: ['A', 'C', 'B'] }] });
    await gate.send(bearer('k'));
    equal(roleOf(), 'C');
  });

  it('takes a key with Bearer in any letter case, bare, and in a header of any other name', async () => {
    const gate = await open({ roles: [] });
    for (const value of ['bearer k-usr', 'BEARER  k-usr', 'k-usr']) {
      equal(await statusOf(gate, { headers: { authorization: value } }), 200, value);
    }
    const custom = await open({ roles: [], identifier: 'x-kEY' });
    for (const value of ['Bearer k-usr', 'k-usr']) {
      equal(await statusOf(custom, { headers: { 'X-Key': value } }), 200, value);
    }
  });

  it('reads keys in headers and parameters as UTF-8', async () => {
    const service = { keys: [{ key: 'schlüssel✓' }] };
    const raw = Buffer.from('schlüssel✓').toString('latin1');
    equal(await statusOf(await open({ roles: [] }, service), bearer(raw)), 200);
    const target = `/?k=${encodeURIComponent('schlüssel✓')}`;
    const gate = await open({ roles: [], strategy: 'query_string', identifier: 'k' }, service);
    equal(await statusOf(gate, { target }), 200);
  });

  it('merges the roles of a duplicate key, with a warning', async () => {
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

  it('rejects everything without keys', async () => {
    const gate = await open({ roles: ['user'] }, { keys: [] });
    deepEqual([await statusOf(gate, bearer('')), await statusOf(gate, bearer('undefined'))], [401, 401]);
    deepEqual(gate.warnings, []);
  });

  it('says in the log once a second why requests are rejected, and never with which key', async () => {
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
      'WARNING [APIKey] refused: unknown API key',
      `WARNING [APIKey] refused: the key ${hex('sha256', 'k-usr').slice(0, 8)} has none of the roles`,
      'WARNING [APIKey] refused: no key',
    ]);
    ok(!log.lines.join().includes('wrong-key'));
  });

  describe('check', () => {
    it('refuses an endpoint where the service has no keys', async () =>
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { roles: [] })), ['API_KEYS_MISSING ']));

    for (const [what, service, finding] of [
      ['a hash of the wrong length', { hash: 'sha256', keys: [{ key: 'ab' }] }, 'API_KEYS_HASH /keys/0/key'],
      ['a hash that is none', { hash: 'sha1', keys: [{ key: 'z'.repeat(40) }] }, 'API_KEYS_HASH /keys/0/key'],
      ['a key of any length', { keys: [{ key: 'k'.repeat(1025) }] }, 'API_KEYS_KEY /keys/0/key'],
      ['a key that no client can send', { keys: [{ key: ' k' }] }, 'API_KEYS_KEY /keys/0/key'],
      ['a header that is none', { keys: [], identifier: 'a b' }, 'API_KEYS_IDENTIFIER /identifier'],
      ['a header for roles that is none', { keys: [], propagate_role: 'ä' }, 'API_KEYS_HEADER /propagate_role'],
    ] as const) {
      it(`refuses ${what}`, async () =>
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
      it(`refuses ${what} at the service`, () =>
        rejects(openHarness(plugin, 'service', service), { code: 'CONFIG_INVALID' }));
    }

    it('takes comments', async () => {
      await openHarness(plugin, 'service', { '@a': 1, keys: [{ key: 'a', '@plan': 'gold' }] });
    });

    it('warns of a role that no key has, with the one that was meant', async () => {
      const { warnings } = await open({ roles: ['user', 'admni'] });
      deepEqual(
        warnings.map(({ code, pointer, hint }) => [code, pointer, hint]),
        [['API_KEYS_ROLE', '/roles/1', 'did you mean "admin"?']],
      );
    });

    it('warns of another strategy under the identifier of the service', async () => {
      const { warnings } = await open({ roles: [], strategy: 'query_string' });
      deepEqual(
        warnings.map(({ code, pointer }) => [code, pointer]),
        [['API_KEYS_STRATEGY', '/strategy']],
      );
    });

    it('warns of a salt that salts nothing', async () => {
      deepEqual(
        warningsOf(await openHarness(plugin, 'service', { keys, salt: 's' })).map(({ code }) => code),
        ['API_KEYS_UNUSED'],
      );
    });

    it('warns of keys that are written in clear, and not of their hashes', async () => {
      const secrets = async (config: object) =>
        (await openHarness(plugin, 'service', config)).warnings.map(({ code, pointer }) => `${code} ${pointer}`);
      deepEqual(await secrets({ keys: [{ key: 'k' }] }), ['SECRET_LITERAL /keys/0/key']);
      deepEqual(await secrets({ hash: 'sha1', keys: [{ key: hex('sha1', 'k') }] }), []);
    });

    it('refuses an endpoint that says nothing of roles', () => rejects(open({}), { code: 'CONFIG_INVALID' }));
  });

  /** FNV-1 by its definition. */
  function fnv(text: string): string {
    let sum = 0x6c62272e07bb014262b821756295c58dn;
    for (const byte of Buffer.from(text)) sum = ((sum * 0x1000000000000000000013bn) % (1n << 128n)) ^ BigInt(byte);
    return sum.toString(16).padStart(32, '0');
  }
});
