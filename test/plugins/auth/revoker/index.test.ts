import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { gzipSync } from 'node:zlib';
import { BackendError, HeaderBag, type PipeRequest, Reply, type TokenCheck } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import type { Harness, HarnessOptions } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/revoker/index.ts';
import { indicesFor, Revocations } from '../../../../plugins/auth/revoker/revocations.ts';
import { plugin as server } from '../../../../plugins/auth/revoker/server/index.ts';
import type { Sizing } from '../../../../plugins/auth/revoker/sizing.ts';
import { until } from '../../../support/conditions.ts';
import { openHarness } from '../../../support/harness.ts';
import { rememberingLog } from '../../../support/log.ts';
import { findingsOf } from '../fixture.ts';

describe('auth/revoker:', () => {
  const clock = { time: 0, now: () => clock.time };
  const key = 'shared-secret';
  const harnesses: Harness[] = [];
  let log: ReturnType<typeof rememberingLog>;

  beforeEach(() => {
    clock.time = 0;
    log = rememberingLog();
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });

  const base = { N: 1000, P: 1e-6, hash_name: 'optimal', TTL: 60, port: 0, token_keys: ['jti', 'sub'] };
  const open = async (config: object = {}, options: HarnessOptions = {}) => {
    const harness = await openHarness(
      plugin,
      'service',
      { ...base, ...config },
      { services: { clock, log }, ...options },
    );
    harnesses.push(harness);
    return harness;
  };
  const passes = (gate: Harness, claims: object) =>
    (gate.attached.offers![0]!.value as TokenCheck).check(claims as never, null as never, null as never);
  const at = (gate: Harness) => `http://127.0.0.1:${gate.ports[0]}`;
  const post = (gate: Harness, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(at(gate) + path, {
      method: 'POST',
      body: body instanceof Uint8Array ? body : typeof body === 'string' ? body : JSON.stringify(body),
      headers,
    });
  const add = async (gate: Harness, ...elems: string[]) => (await post(gate, '/add', { elems })).json();

  describe('the port for revocations', () => {
    it('accepts tokens, which are rejected from then on', async () => {
      const gate = await open();
      equal(passes(gate, { jti: 'abc', sub: 'u1' }), true);
      deepEqual(await add(gate, 'jti-abc'), { count: 1 });
      equal(passes(gate, { jti: 'abc', sub: 'u1' }), false);
      equal(passes(gate, { jti: 'def', sub: 'u1' }), true);
    });

    it('accepts a claim value that revokes the tokens of many users', async () => {
      const gate = await open();
      await add(gate, 'sub-u1');
      deepEqual([passes(gate, { jti: 'abc', sub: 'u1' }), passes(gate, { jti: 'def', sub: 'u1' })], [false, false]);
    });

    it('ignores values that do not begin with the name of a configured claim', async () => {
      const gate = await open();
      await add(gate, 'abc', 'eyJhbGciOiJIUzI1NiJ9.e30.AAAA', 'iss-abc');
      equal(passes(gate, { jti: 'abc', iss: 'abc' }), true);
    });

    it('accepts a value again after three rotations of the filter', async () => {
      const gate = await open();
      clock.time = 5000;
      await add(gate, 'jti-abc');
      for (const [seconds, isGood] of [
        [59, false],
        [90, false],
        [150, false],
        [180, true],
      ] as const) {
        clock.time = seconds * 1000;
        equal(passes(gate, { jti: 'abc' }), isGood, `at ${seconds} s`);
      }
    });

    it('reports whether elements are revoked, and the fill level of the filter', async () => {
      const gate = await open();
      await add(gate, 'jti-a', 'jti-b');
      deepEqual(await (await post(gate, '/check', { elems: ['jti-a', 'jti-c'] })).json(), { checks: [true, false] });
      const stats = (await (await fetch(`${at(gate)}/stats`)).json()) as Record<string, unknown>;
      deepEqual([stats['added'], (stats['fill'] as number[])[0]], [2, 0]);
      ok((stats['capacity'] as number) > 0);
    });

    it('merges a complete filter from another gateway or from the revoke server', async () => {
      const gate = await open();
      const sizing: Sizing = { n: 1000, p: 1e-6, hash: 'optimal', ttl: 60 };
      const other = new Revocations(sizing, 0);
      other.add([indicesFor(sizing)('jti-abc')], 0);
      const answer = await post(gate, '/union', await other.pack(0));
      const { capacity } = (await answer.json()) as { capacity: number };
      ok(capacity > 0 && capacity < 0.01);
      equal(passes(gate, { jti: 'abc' }), false);
      const smaller = new Revocations({ ...sizing, n: 10 }, 0);
      equal((await post(gate, '/union', await smaller.pack(0))).status, 409);
    });

    it('requires the API key if configured, and accepts only local connections otherwise', async () => {
      const gate = await open({ revoke_server_api_key: key });
      deepEqual(gate.warnings, []);
      const status = async (authorization?: string) =>
        (await post(gate, '/add', { elems: [] }, authorization === undefined ? {} : { authorization })).status;
      deepEqual(
        [
          await status(`Bearer ${key}`),
          await status(`bearer ${key}`),
          await status(),
          await status(key),
          await status(`Bearer ${key}x`),
          await status(`Basic ${key}`),
          await status('Bearer '),
        ],
        [200, 200, 401, 401, 401, 401, 401],
      );
      equal((await fetch(`${at(gate)}/stats`)).status, 401);
      deepEqual(
        (await open()).warnings.map(({ code }) => code),
        ['REVOKER_OPEN'],
      );
    });

    it('rejects requests from web pages on the same machine without the API key', async () => {
      const [open_, keyed] = [await open(), await open({ revoke_server_api_key: key })];
      const status = async (gate: Harness, headers: Record<string, string>) => {
        const sent = send(`${at(gate)}/add`, { method: 'POST', headers }).end('{"elems":[]}');
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      };
      const own = { Authorization: `Bearer ${key}` };
      deepEqual(
        [
          await status(open_, {}),
          await status(open_, { Host: 'localhost:1' }),
          await status(open_, { Host: 'rebound.example.com' }),
          await status(open_, { Origin: 'https://example.com' }),
          await status(open_, { Origin: 'null' }),
          await status(keyed, { ...own, Host: 'gateway.example.com' }),
        ],
        [200, 200, 403, 403, 403, 200],
      );
    });

    for (const [what, path, body, status] of [
      ['invalid JSON', '/add', '{', 400],
      ['a body that is a list', '/add', '["jti-a"]', 400],
      ['an object without a list', '/add', '{"elems":"jti-a"}', 400],
      ['numbers', '/add', '{"elems":[1]}', 400],
      ['keys such as __proto__', '/add', '{"__proto__":{"elems":["jti-a"]}}', 400],
      ['data that is not a serialized filter', '/union', 'abc', 409],
      ['an oversized body', '/add', `{"elems":["${'a'.repeat(2 ** 20)}"]}`, 413],
      ['a compression bomb', '/union', gzipSync(Buffer.alloc(2 ** 26)), 413],
      ['another path', '/remove', '{}', 404],
      ['another method', '/stats', '{}', 405],
    ] as const) {
      it(`responds with ${status} to ${what}`, async () => {
        const gate = await open();
        const answer = await post(gate, path, body).catch((error) => error as Error);
        // Accepts a closed connection as well, because a client that is still sending its body might not receive a
        // response.
        if (answer instanceof Error) equal(status, 413);
        else equal(answer.status, status);
        equal(passes(gate, { jti: 'a' }), true);
        deepEqual(await add(gate, 'jti-a'), { count: 1 });
      });
    }

    it('survives a client that disconnects during a request', async () => {
      const gate = await open();
      const leaving = send(`${at(gate)}/add`, { method: 'POST', headers: { 'Content-Length': 100 } });
      leaving.on('error', () => {});
      leaving.write('{"elems":');
      await until(() => leaving.socket?.connecting === false);
      leaving.destroy();
      deepEqual(await add(gate, 'jti-abc'), { count: 1 });
    });
  });

  describe('the claims of a token', () => {
    for (const [what, claims, element] of [
      ['the text "abc"', { jti: 'abc' }, 'jti-abc'],
      ['a text with a slash and a space', { sub: 'a/b c' }, 'sub-a/b c'],
      ['a number', { jti: 12 }, 'jti-12'],
      ['a large number', { jti: JSON.rawJSON('12345678901234567890') }, 'jti-12345678901234567890'],
      ['a number of 22 digits', { jti: 1e21 }, 'jti-1000000000000000000000'],
      ['a fraction', { jti: 1.5 }, 'jti-1.5'],
      ['a boolean', { jti: true }, 'jti-true'],
      ['a member of a list', { sub: ['a', 'b'] }, 'sub-b'],
    ] as const) {
      it(`match a revocation by ${what}`, async () => {
        const gate = await open();
        equal(passes(gate, { ...claims }), true);
        await add(gate, element);
        equal(passes(gate, { ...claims }), false);
      });
    }

    for (const claims of [
      {},
      { jti: null },
      { jti: { a: 'abc' } },
      { jti: [1] },
      { a: { jti: 'abc' } },
      { JTI: 'abc' },
    ]) {
      it(`match no revocation if they are ${JSON.stringify(claims)}`, async () => {
        const gate = await open();
        await add(gate, 'jti-abc', 'jti-null', 'jti-undefined', 'jti-[object Object]', 'jti-1');
        equal(passes(gate, claims), true);
      });
    }

    it('with dots in their names are read from the top level', async () => {
      const gate = await open({ token_keys: ['a.b'] });
      await add(gate, 'a.b-x');
      deepEqual([passes(gate, { a: { b: 'x' } }), passes(gate, { 'a.b': 'x' })], [true, false]);
    });

    it('do not include members of the object prototype', async () => {
      const gate = await open({ token_keys: ['constructor', '__proto__'] });
      await add(gate, 'constructor-x', '__proto__-x');
      equal(passes(gate, {}), true);
      equal(passes(gate, JSON.parse('{"__proto__":"x"}')), false);
    });

    it('are compared with the revocations for every request, even with a cached token', async () => {
      const gate = await open();
      const claims = Object.freeze({ jti: 'abc' });
      equal(passes(gate, claims), true);
      await add(gate, 'jti-abc');
      equal(passes(gate, claims), false);
      clock.time = 180_000;
      equal(passes(gate, claims), true);
    });
  });

  describe('a reload', () => {
    it('keeps revocations and the port', async () => {
      const gate = await open();
      const [port] = gate.ports;
      await add(gate, 'jti-abc');
      await gate.reload({ ...base, token_keys: ['jti'] });
      equal(passes(gate, { jti: 'abc' }), false);
      deepEqual(gate.ports, [port]);
    });

    for (const change of [{ N: 2000 }, { P: 1e-5 }, { hash_name: 'default' }, { TTL: 61 }]) {
      it(`drops the revocations and logs this if ${JSON.stringify(change)} has changed`, async () => {
        const gate = await open();
        await add(gate, 'jti-abc');
        await gate.reload({ ...base, ...change });
        equal(passes(gate, { jti: 'abc' }), true);
        ok(
          log.lines.some((line) => line.startsWith('WARNING') && line.includes('all stored revocations are discarded')),
        );
      });
    }
  });

  describe('the revoke server', () => {
    const serving = (answer: () => Reply) => {
      const requested: PipeRequest[] = [];
      const next = (request: PipeRequest) => {
        requested.push(request);
        return answer();
      };
      return { requested, next };
    };
    const pinging = { revoke_server_ping_url: 'http://revoke.test/instances', revoke_server_api_key: key };

    it("receives the gateway's address and API key when the gateway starts", async () => {
      const { requested, next } = serving(() => Reply.raw(200, new HeaderBag(), null));
      const gate = await open(pinging, { next });
      await until(() => requested.length === 1);
      const [{ origin, target, method, headers, body }] = requested as [PipeRequest];
      deepEqual(
        [method, origin + target, headers.get('authorization')],
        ['POST', 'http://revoke.test/instances', `Bearer ${key}`],
      );
      const { name, port, run } = JSON.parse(Buffer.from(await body!.bytes()).toString());
      deepEqual([typeof name, port, typeof run], ['string', gate.ports[0], 'string']);
    });

    it('can be unreachable, which the gateway logs while it continues to validate tokens', async () => {
      for (const answer of [
        () => Reply.failed(new BackendError('TEST', 'nobody there')),
        () => Reply.raw(401, new HeaderBag(), null),
      ]) {
        const { next } = serving(answer);
        const gate = await open(pinging, { next });
        await until(() => log.lines.some((line) => line.includes('cannot register this gateway')));
        equal(passes(gate, { jti: 'abc' }), true);
        equal(log.lines.join().includes(key), false);
      }
    });
  });

  describe('the configuration check', () => {
    for (const [what, change, finding] of [
      ['a false positive rate of 1', { P: 1 }, 'REVOKER_RATE /P'],
      ['a filter larger than 512 MiB', { N: 1e12 }, 'REVOKER_SIZE /N'],
      ['an invalid server URL', { revoke_server_ping_url: 'revoke' }, 'REVOKER_URL /revoke_server_ping_url'],
      [
        'a server URL without an API key',
        { revoke_server_ping_url: 'http://revoke.test/instances' },
        'REVOKER_URL /revoke_server_ping_url',
      ],
      [
        'a heartbeat without an interval',
        {
          revoke_server_ping_url: 'http://revoke.test',
          revoke_server_api_key: key,
          revoke_server_ping_interval: '0s',
        },
        'REVOKER_INTERVAL /revoke_server_ping_interval',
      ],
    ] as const) {
      it(`rejects ${what}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'service', { ...base, ...change })), [finding]));
    }

    it('rejects a revoke server that polls gateways without an interval', async () => {
      const { port: _, token_keys: __, ...shared } = base;
      const config = { ...shared, revoke_server_api_key: key, revoke_server_ping_interval: '0s' };
      deepEqual(await findingsOf(openHarness(server, 'service', config)), [
        'REVOKER_INTERVAL /revoke_server_ping_interval',
      ]);
    });

    for (const change of [
      { N: 0 },
      { N: 1.5 },
      { n: 5 },
      { P: 0 },
      { P: 1.5 },
      { P: '1e-7' },
      { TTL: 0 },
      { hash_name: 'sha256' },
      { port: 70000 },
      { token_keys: [] },
      { token_keys: 'jti' },
      { unknown: 1 },
    ]) {
      it(`rejects ${JSON.stringify(change)}`, () =>
        rejects(openHarness(plugin, 'service', { ...base, ...change }), ConfigErrors));
    }

    for (const field of Object.keys(base)) {
      it(`rejects a configuration without ${field}`, () => {
        const { [field as 'N']: _missing, ...rest } = base;
        return rejects(openHarness(plugin, 'service', rest), ConfigErrors);
      });
    }

    it('rejects a port that is in use', async () => {
      const gate = await open();
      await rejects(openHarness(plugin, 'service', { ...base, port: gate.ports[0] }), { code: 'LISTENER_BIND' });
    });

    it('accepts N, P and TTL in any letter case', async () => {
      const { N: n, P: p, TTL: ttl, ...rest } = base;
      for (const sizes of [
        { n, p, ttl },
        { n, p, Ttl: ttl },
      ]) {
        const harness = await openHarness(plugin, 'service', { ...rest, ...sizes });
        deepEqual(await harness.close(), { kept: 0, deferred: 0 });
      }
    });
  });
});
