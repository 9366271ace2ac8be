import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { BackendError, HeaderBag, offer, type PipeRequest, Reply } from '#contract';
import { toolServices } from '../../../../kernel/cli/tools.ts';
import { Registry } from '../../../../kernel/registry/registry.ts';
import { examine } from '../../../../kernel/runtime/build/build.ts';
import { type Harness, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/validator/index.ts';
import { sharedAge } from '../../../../plugins/auth/validator/shared-cache.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { until } from '../../../support/conditions.ts';
import { issue, makeSigner, type Signer } from '../fixture.ts';

/** A key server behind the gateway's HTTP client, with a mocked clock. */
class FakeServer {
  keys: object[] = [];
  /** Requested URLs, in order. */
  requested: string[] = [];
  requests: PipeRequest[] = [];
  answer: (() => Reply | Promise<Reply>) | null = null;

  readonly next = (request: PipeRequest): Reply | Promise<Reply> => {
    if (request.target === '') return Reply.data({ ok: true });
    this.requested.push(request.origin + request.target);
    this.requests.push(request);
    return this.answer ? this.answer() : jsonReply({ keys: this.keys });
  };
}

function jsonReply(body: object | string, type = 'application/json', status = 200): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return Reply.raw(status, new HeaderBag(['Content-Type', type]), Buffer.from(text));
}

describe('keys that auth/validator downloads', () => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const url = 'https://id.test/keys';
  const harnesses: Harness[] = [];
  let server: FakeServer;
  let ada: Signer;
  let bob: Signer;

  before(async () => {
    [ada, bob] = await Promise.all([makeSigner('RS256', 'ada'), makeSigner('RS256', 'bob')]);
  });
  beforeEach(() => {
    server = new FakeServer();
    server.keys = [ada.jwk];
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
    mock.timers.reset();
  });

  const open = async (config: object = {}, options: Parameters<typeof openHarness>[3] = {}) => {
    const settings = { alg: 'RS256', jwk_url: url, cache: true, ...config };
    const harness = await openHarness(plugin, 'endpoint', settings, {
      next: server.next,
      services: { clock },
      ...options,
    });
    harnesses.push(harness);
    return harness;
  };
  const call = async (gate: Harness, signer: Signer, claims: object = {}) =>
    (await gate.send({ headers: { Authorization: `Bearer ${await issue(signer, claims)}` } })).status;
  const warmed = async (config: object = {}) => {
    const gate = await open(config);
    await until(() => server.requested.length === 1);
    return gate;
  };
  const later = (seconds: number) => {
    clock.time += seconds * 1000;
  };

  it('are available before the first request, with one download', async () => {
    const gate = await warmed();
    equal(await call(gate, ada), 200);
    equal(await call(gate, ada), 200);
    deepEqual(server.requested, [url]);
  });

  it('are requested without any data from the client', async () => {
    await warmed();
    const { headers, method } = server.requests[0]!;
    equal(method, 'GET');
    ok(headers.get('user-agent')!.startsWith('Sluice Version '));
    equal(headers.has('authorization'), false);
  });

  it('are requested with the user name and password of the URL, which are never logged', async () => {
    await warmed({ jwk_url: 'https://name:pass%20word@id.test/keys' });
    equal(
      server.requests[0]!.headers.get('authorization'),
      `Basic ${Buffer.from('name:pass word').toString('base64')}`,
    );
    deepEqual(server.requested, [url]);
  });

  it('are downloaded again once when they expire', async () => {
    const gate = await warmed({ cache_duration: 60 });
    later(60);
    equal(await call(gate, ada), 200);
    equal(server.requested.length, 1);
    later(1);
    deepEqual(await Promise.all([call(gate, ada), call(gate, ada), call(gate, ada)]), [200, 200, 200]);
    equal(server.requested.length, 2);
  });

  it('are cached for 900 seconds if the duration is 0', async () => {
    const gate = await warmed({ cache_duration: 0 });
    later(900);
    equal(await call(gate, ada), 200);
    equal(server.requested.length, 1);
  });

  it('are downloaded immediately, and once for a hundred concurrent requests, if a token has an unknown key ID', async () => {
    const gate = await warmed();
    server.keys = [bob.jwk];
    const statuses = await Promise.all(Array.from({ length: 100 }, () => call(gate, bob)));
    deepEqual(new Set(statuses), new Set([200]));
    equal(server.requested.length, 2);
  });

  it('are no longer accepted after the key server withdraws them, even for cached tokens', async () => {
    const gate = await warmed();
    equal(await call(gate, ada), 200);
    server.keys = [bob.jwk];
    equal(await call(gate, bob), 200);
    equal(await call(gate, ada), 401);
  });

  it('are no longer accepted after the key server replaces them under the same ID', async () => {
    const gate = await warmed({ cache_duration: 60 });
    equal(await call(gate, ada), 200);
    server.keys = [{ ...bob.jwk, kid: 'ada' }];
    later(61);
    equal(await call(gate, ada), 401);
    equal(await call(gate, { ...bob, kid: 'ada' }), 200);
  });

  it('are downloaded at most once in 5 s, regardless of how many unknown key IDs arrive', async () => {
    const gate = await warmed();
    for (let count = 0; count < 50; count++) equal(await call(gate, { ...bob, kid: `k${count}` }), 401);
    equal(server.requested.length, 2);
    later(4.9);
    equal(await call(gate, { ...bob, kid: 'x' }), 401);
    equal(server.requested.length, 2);
    later(0.2);
    equal(await call(gate, { ...bob, kid: 'y' }), 401);
    equal(server.requested.length, 3);
    equal(await call(gate, ada), 200);
  });

  it('are not requested again for an unknown ID during the cooldown of that ID', async () => {
    const gate = await warmed({ failed_jwk_key_cooldown: '60s' });
    equal(await call(gate, bob), 401);
    server.keys = [ada.jwk, bob.jwk];
    later(30);
    equal(await call(gate, bob), 401);
    equal(server.requested.length, 2);
    later(31);
    equal(await call(gate, bob), 200);
    equal(server.requested.length, 3);
  });

  it('are requested for another unknown ID during the cooldown of the first one', async () => {
    const gate = await warmed({ failed_jwk_key_cooldown: '60s' });
    equal(await call(gate, { ...bob, kid: 'invented' }), 401);
    server.keys = [ada.jwk, bob.jwk];
    later(1);
    equal(await call(gate, bob), 401);
    equal(server.requested.length, 2);
    later(4.1);
    equal(await call(gate, bob), 200);
    equal(await call(gate, { ...bob, kid: 'invented' }), 401);
    equal(server.requested.length, 3);
  });

  it('are downloaded for every request without a cache, and once for concurrent requests', async () => {
    const gate = await open({ cache: false });
    for (let count = 1; count <= 4; count++) {
      equal(await call(gate, ada), 200);
      equal(server.requested.length, count);
    }
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => issue(ada, { n })));
    const replies = await Promise.all(tokens.map((token) => gate.send({ headers: { Authorization: token } })));
    deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    equal(server.requested.length, 5);
  });

  it('are kept across a reload, even if it changes the validation rules', async () => {
    const gate = await warmed();
    await gate.reload({ alg: 'RS256', jwk_url: url, cache: true, issuer: 'me' });
    equal(await call(gate, ada), 401);
    equal(await call(gate, ada, { iss: 'me' }), 200);
    equal(server.requested.length, 1);
  });

  it('are not shared between URLs or TLS settings', async () => {
    const gate = await warmed();
    await gate.reload({ alg: 'RS256', jwk_url: `${url}2`, cache: true });
    await until(() => server.requested.length === 2);
    await gate.reload({ alg: 'RS256', jwk_url: `${url}2`, cache: true, disable_jwk_security: true });
    await until(() => server.requested.length === 3);
  });

  describe('if the key server', () => {
    for (const [what, respond] of [
      ['is down', () => Reply.failed(new BackendError('TEST', 'nobody there'))],
      ['responds with 500', () => jsonReply({ keys: [ada.jwk] }, 'application/json', 500)],
      ['responds with 304', () => jsonReply({ keys: [ada.jwk] }, 'application/json', 304)],
      ['responds with HTML', () => jsonReply({ keys: [ada.jwk] }, 'text/html')],
      ['responds with invalid JSON', () => jsonReply('<html>')],
      ['responds without a body', () => Reply.raw(200, new HeaderBag(['Content-Type', 'application/json']), null)],
      ['has no keys', () => jsonReply({ keys: [] })],
      ['responds with a list', () => jsonReply([ada.jwk])],
      ['responds with invalid keys', () => jsonReply({ keys: [1, null, 'a', []] })],
      ['redirects to plain HTTP', () => Reply.raw(302, new HeaderBag(['Location', 'http://id.test/keys']), null)],
      ['redirects to a file', () => Reply.raw(302, new HeaderBag(['Location', 'file:///etc/passwd']), null)],
      ['redirects to an invalid URL', () => Reply.raw(302, new HeaderBag(['Location', 'http://[']), null)],
      ['redirects in a loop', () => Reply.raw(302, new HeaderBag(['Location', url]), null)],
    ] as const) {
      it(`${what}, are not used: no token is accepted, and the server is queried again after 5 s`, async () => {
        server.answer = respond;
        const gate = await open();
        await until(() => server.requested.length >= 1);
        equal(await call(gate, ada), 401);
        const { length } = server.requested;
        for (let count = 0; count < 10; count++) equal(await call(gate, ada), 401);
        equal(server.requested.length, length);
        server.answer = null;
        later(5.1);
        equal(await call(gate, ada), 200);
      });
    }

    it('responds with a redirect, are downloaded from there without the user name and password', async () => {
      server.answer = () => {
        server.answer = null;
        return Reply.raw(301, new HeaderBag(['Location', 'https://other.test/set?a=b']), null);
      };
      const gate = await open({ jwk_url: 'https://name:password@id.test/keys' });
      await until(() => server.requested.length === 2);
      equal(await call(gate, ada), 200);
      deepEqual(server.requested, [url, 'https://other.test/set?a=b']);
      equal(server.requests[1]!.headers.has('authorization'), false);
    });

    it('sends the content type of a key set, are accepted', async () => {
      server.answer = () => jsonReply({ keys: [ada.jwk] }, 'application/jwk-set+json; charset=utf-8');
      equal(await call(await open(), ada), 200);
    });

    it('sends unknown kinds of keys, are used without the unknown ones', async () => {
      const odd = [{ kty: 'OKP', crv: 'X25519', kid: 'ada', x: 'a' }, { kty: 'future', kid: 'ada' }, {}];
      server.keys = [...odd, ada.jwk, ...odd];
      equal(await call(await open(), ada), 200);
    });

    it('goes down, are used until they expire', async () => {
      const gate = await warmed({ cache_duration: 60 });
      server.answer = () => Reply.failed(new BackendError('TEST', 'nobody there'));
      equal(await call(gate, ada), 200);
      later(61);
      equal(await call(gate, ada), 401);
    });
  });

  describe('if the key server never responds', () => {
    it('delay a request at most until its timeout, and the request is rejected with 401', async () => {
      server.answer = () => new Promise(() => {});
      const gate = await open({}, { endpoint: { timeout: 50 } });
      equal(await call(gate, ada), 401);
      equal(server.requested.length, 1);
    });
  });

  describe('with several workers', () => {
    const openWorkers = async (count: number) => {
      const owner = await open({}, { role: 'owner' });
      const workers = [];
      for (let each = 0; each < count; each++) workers.push(await open({}, { owner }));
      return workers;
    };

    it('are downloaded only by workers that the main process permits', async () => {
      server.answer = () => Reply.failed(new BackendError('TEST', 'nobody there'));
      const workers = await openWorkers(3);
      await until(() => server.requested.length === 1);
      for (const worker of workers) equal(await call(worker, ada), 401);
      equal(server.requested.length, 1);
    });
  });

  describe("with the root's shared cache", () => {
    const sharing = { offers: [offer(sharedAge, 3000)] };
    const openShared = async (options: Parameters<typeof openHarness>[3] = {}) => {
      const gate = await open({ cache_duration: 1 }, options);
      await until(() => server.requested.length === 1);
      return gate;
    };

    it('cause a warning if no endpoint caches keys', async () => {
      const findings = async (name: string, validator: object) => {
        const registry = new Registry(catalogue, toolServices());
        const config = {
          version: 3,
          extra_config: { [name]: { shared_cache_duration: 900 } },
          endpoints: [
            {
              endpoint: '/a',
              backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
              extra_config: { 'auth/validator': { alg: 'RS256', jwk_url: 'https://127.0.0.1:1/keys', ...validator } },
            },
          ],
        };
        const { errors, warnings } = await examine(config, {}, registry, true);
        await registry.close();
        return [...errors, ...warnings].map(({ code, pointer }) => `${code} ${pointer}`);
      };
      for (const name of ['auth/jose', 'auth/validator']) {
        deepEqual(await findings(name, {}), [`COMPONENT_UNUSED /extra_config/${name.replace('/', '~1')}`]);
        deepEqual(await findings(name, { cache: true }), []);
      }
    });

    it('are downloaded once within the shared duration', async () => {
      const gate = await openShared(sharing);
      for (let seconds = 0; seconds < 3; seconds += 0.5, later(0.5)) equal(await call(gate, ada), 200);
      equal(server.requested.length, 1);
    });

    it('are downloaded once more after the shared duration', async () => {
      const gate = await openShared(sharing);
      equal(await call(gate, ada), 200);
      later(3.5);
      equal(await call(gate, ada), 200);
      equal(await call(gate, ada), 200);
      equal(server.requested.length, 2);
    });

    it("are cached for the endpoint's duration if the root sets none", async () => {
      const gate = await openShared();
      later(0.1);
      equal(await call(gate, ada), 200);
      later(1.4);
      equal(await call(gate, ada), 200);
      equal(server.requested.length, 2);
    });

    it('are accepted after their withdrawal for at most the longer of both durations', async () => {
      const gate = await openShared(sharing);
      server.keys = [bob.jwk];
      later(2.9);
      equal(await call(gate, ada), 200);
      later(0.2);
      equal(await call(gate, ada), 401);
    });

    it('are cached for 900 seconds by default', async () => {
      for (const [config, ms] of [
        [{ shared_cache_duration: 3 }, 3000],
        [{}, 900_000],
      ] as const) {
        const service = await openHarness(plugin, 'service', config);
        deepEqual(
          service.attached.offers!.map(({ value }) => value),
          [ms],
        );
        await service.close();
      }
    });
  });
});
