import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import {
  BackendError,
  type Call,
  type CallError,
  type ClientRequest,
  HeaderBag,
  offer,
  Reply,
  type TokenCheck,
  tokenChecks,
} from '#contract';
import type { Harness, HarnessOptions } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/introspection/index.ts';
import { countingMeter } from '../../../support/counting.ts';
import { openHarness } from '../../../support/harness.ts';
import { rememberingLog } from '../../../support/log.ts';
import { holding, PROTOTYPE_NAMES } from '../../../support/prototype-names.ts';
import { findingsOf } from '../fixture.ts';

/** A request to the authorization server. */
interface Question {
  readonly headers: HeaderBag;
  readonly form: URLSearchParams;
}

describe('auth/introspection:', () => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const url = 'https://id.test/introspect';
  const harnesses: Harness[] = [];
  let asked: Question[];
  let passed: ClientRequest[];
  let answer: (asked: Question, call: Call) => Reply | Promise<Reply>;

  beforeEach(() => {
    asked = [];
    passed = [];
    answer = () => says({ active: true, sub: 'ada', scope: 'read write' });
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const one of harnesses.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });

  function says(document: object | string, status = 200, type = 'application/json'): Reply {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    return Reply.raw(status, new HeaderBag(['Content-Type', type]), Buffer.from(text));
  }

  const base = { introspection_url: url, client_id: 'gate', client_secret: 'hush-hush' };
  const open = async (config: object = {}, options: HarnessOptions = {}) => {
    const harness = await openHarness(
      plugin,
      'endpoint',
      { ...base, ...config },
      {
        ...options,
        services: { clock, ...options.services },
        next: async (request, call) => {
          if (request.origin !== 'https://id.test') {
            passed.push(request.client);
            return Reply.data({ ok: true });
          }
          const body = Buffer.from((await request.body!.bytes()) as Uint8Array).toString();
          const one = { headers: request.headers, form: new URLSearchParams(body) };
          asked.push(one);
          return answer(one, call);
        },
      },
    );
    harnesses.push(harness);
    return harness;
  };
  const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
  const seen = (reply: Reply) => [reply.status, reply.headers.get('www-authenticate')];
  const statusWith = async (config: object, document: object) => {
    answer = () => says(document);
    return (await (await open(config)).send(bearer('t'))).status;
  };

  describe('the request to the authorization server', () => {
    it('is a form with the token and its type, with the client credentials in the Authorization header', async () => {
      await (await open({ client_id: 'gate:1', client_secret: 'a b' })).send(bearer('t1'));
      const { headers, form } = asked[0]!;
      deepEqual(Object.fromEntries(form), { token: 't1', token_type_hint: 'access_token' });
      deepEqual(
        [headers.get('accept'), headers.get('content-type')],
        ['application/json', 'application/x-www-form-urlencoded'],
      );
      equal(headers.get('authorization'), `Basic ${btoa('gate%3A1:a+b')}`);
    });

    it('contains the client credentials in the form, or a token of the gateway, if so configured', async () => {
      await (await open({ client_auth_method: 'client_secret_post', token_type_hint: '' })).send(bearer('t1'));
      deepEqual(Object.fromEntries(asked[0]!.form), { token: 't1', client_id: 'gate', client_secret: 'hush-hush' });
      equal(asked[0]!.headers.get('authorization'), undefined);
      const more = { client_auth_method: 'bearer', bearer_token: 'of-gate' };
      await (await open({ ...more, client_id: undefined, client_secret: undefined })).send(bearer('t1'));
      equal(asked[1]!.headers.get('authorization'), 'Bearer of-gate');
    });
  });

  describe('the location of the token', () => {
    it('is the header first, then the cookie, then the query parameter', async () => {
      const gate = await open({ auth_header_name: 'X-Token', cookie_key: 'sid', query_key: 'token' });
      for (const [headers, target] of [
        [{ 'X-Token': 'bEARER a', Cookie: 'sid=b' }, '/?token=c'],
        [{ 'X-Token': 'a2' }, '/?token=c'],
        [{ Cookie: 'x=y; sid="b"' }, '/?token=c'],
        [{}, '/?x=1&token=c'],
      ] as const) {
        equal((await gate.send({ headers, target })).status, 200);
      }
      deepEqual(
        asked.map(({ form }) => form.get('token')),
        ['a', 'a2', 'b', 'c'],
      );
    });

    it('includes the query parameter only if it is configured', async () => {
      const reply = await (await open()).send({ target: '/?access_token=c' });
      deepEqual([...seen(reply), asked.length], [401, 'Bearer', 0]);
    });

    it('never sends other credentials, long tokens or invalid characters to the server', async () => {
      const gate = await open();
      for (const value of ['Basic YTpi', 'Bearer a b', 'Bearer a\tb', 'Bearer \xe9', 'a'.repeat(32 * 1024 + 1)]) {
        deepEqual(seen(await gate.send({ headers: { Authorization: value } })), [401, 'Bearer error="invalid_token"']);
      }
      deepEqual(seen(await gate.send('GET /')), [401, 'Bearer']);
      equal(asked.length, 0);
    });
  });

  describe('a decision', () => {
    it('admits an active token, and passes its properties on as claims', async () => {
      answer = () => says({ active: true, sub: 'ada', scope: 'read write', groups: ['a', 'b'] });
      const gate = await open({
        propagate_claims: [
          ['sub', 'X-User'],
          ['groups', 'X-Groups'],
          ['email', 'X-Email'],
        ],
      });
      const headers = { Authorization: 'Bearer t', 'X-User': 'mallory', 'x-email': 'forged' };
      equal((await gate.send({ headers })).status, 200);
      const got = passed[0]!.headers;
      deepEqual([got.getAll('x-user'), got.getAll('x-groups'), got.getAll('x-email')], [['ada'], ['a,b'], ['']]);
    });

    it('rejects an inactive token regardless of its other properties', async () => {
      answer = () => says({ active: false, sub: 'ada', scope: 'read', exp: 4e9 });
      deepEqual(seen(await (await open()).send(bearer('t'))), [401, 'Bearer error="invalid_token"']);
    });

    for (const [config, document, status] of [
      [{ issuer: 'me' }, { iss: 'me' }, 200],
      [{ issuer: 'me' }, { iss: 'you' }, 401],
      [{ issuer: 'me' }, {}, 401],
      [{ audience: ['x'] }, { aud: ['x', 'y'] }, 200],
      [{ audience: ['x'] }, { aud: 'y' }, 401],
      [{ audience: ['x'] }, {}, 401],
      [{ scopes: ['read', 'admin'] }, { scope: 'read' }, 200],
      [{ scopes: ['read', 'admin'], scopes_matcher: 'all' }, { scope: 'read' }, 403],
      [{ scopes: ['read', 'admin'], scopes_matcher: 'all' }, { scope: 'admin read' }, 200],
      [{ scopes: ['read'], scopes_key: 'ext.scopes' }, { ext: { scopes: ['read'] } }, 200],
      [{ roles: ['admin'] }, { roles: ['user'] }, 403],
      [{ roles: ['admin'], roles_key: 'a.b', roles_key_is_nested: true }, { a: { b: 'admin' } }, 200],
      [{}, { exp: 1 }, 401],
      [{}, { nbf: 4e9 }, 401],
      [{}, { exp: 4e9 }, 200],
    ] as const) {
      it(`is ${status} for ${JSON.stringify(document)} with ${JSON.stringify(config)}`, async () =>
        equal(await statusWith(config, { active: true, ...document }), status));
    }

    it('names the missing scopes in the challenge', async () => {
      answer = () => says({ active: true });
      const gate = await open({ scopes: ['read', 'wr"ite', 'admin'] });
      deepEqual(seen(await gate.send(bearer('t'))), [403, 'Bearer error="insufficient_scope", scope="read admin"']);
    });

    it('runs the token checks of other components one after another', async () => {
      const order: string[] = [];
      const check = (name: string, result: boolean | Promise<boolean>): TokenCheck => ({
        name,
        check: ({ sub }) => {
          order.push(`${name} ${sub}`);
          return result;
        },
      });
      const offers = [check('one', true), check('two', Promise.resolve(false)), check('three', true)].map((one) =>
        offer(tokenChecks, one),
      );
      deepEqual(seen(await (await open({}, { offers })).send(bearer('t'))), [401, 'Bearer error="invalid_token"']);
      deepEqual(order.sort(), ['one ada', 'two ada']);
    });

    it('treats claims with the names of Object.prototype members as plain data', async () => {
      for (const name of PROTOTYPE_NAMES) {
        answer = () => says(`{"active":true,${JSON.stringify(holding(name, ['admin'])).slice(1)}`);
        const gate = await open({ roles: ['admin'], roles_key: name });
        equal((await gate.send(bearer(name))).status, 200);
        answer = () => says({ active: true });
        equal((await gate.send(bearer('none'))).status, 403);
      }
    });
  });

  describe('the cache', () => {
    const ask = async (gate: Harness, token = 't') => (await gate.send(bearer(token))).status;

    it('keeps active tokens for cache_ttl, and inactive ones for negative_cache_ttl', async () => {
      const gate = await open({ cache_ttl: '60s', negative_cache_ttl: '2s' });
      answer = ({ form }) => says({ active: form.get('token') === 'good' });
      for (const [ms, calls] of [
        [0, 2],
        [1999, 2],
        [1, 3],
        [57_999, 4],
        [1, 5],
      ] as const) {
        clock.time += ms;
        deepEqual([await ask(gate, 'good'), await ask(gate, 'bad'), asked.length], [200, 401, calls]);
      }
    });

    it('never keeps a token beyond its exp', async () => {
      mock.timers.enable({ apis: ['Date'], now: 1_000_000_000 });
      answer = () => says({ active: true, exp: 1_000_010 });
      const gate = await open({ cache_ttl: '1h' });
      await ask(gate);
      mock.timers.setTime(1_000_009_999);
      deepEqual([await ask(gate), asked.length], [200, 1]);
      mock.timers.setTime(1_000_010_000);
      answer = () => says({ active: false });
      deepEqual([await ask(gate), asked.length], [401, 2]);
    });

    it('is disabled with 0s, and is shared only by endpoints with the same server and client', async () => {
      const gate = await open({ cache_ttl: '0s' });
      await ask(gate);
      await ask(gate);
      equal(asked.length, 2);
      const kept = await open();
      await ask(kept);
      await kept.reload({ ...base, scopes: ['read'] });
      await ask(kept);
      equal(asked.length, 3);
      await kept.reload({ ...base, client_secret: 'another' });
      await ask(kept);
      equal(asked.length, 4);
    });

    it('drops an active token once the server has reported it as inactive', async () => {
      const gate = await open({ cache_ttl: '10s', negative_cache_ttl: '10s' });
      await ask(gate);
      clock.time += 10_000;
      answer = () => says({ active: false });
      equal(await ask(gate), 401);
      await gate.reload({ ...base, cache_ttl: '1h' });
      clock.time += 1;
      deepEqual([await ask(gate), asked.length], [401, 2]);
    });

    it('does not contain failed requests', async () => {
      const gate = await open();
      answer = () => says('{}', 500);
      deepEqual([await ask(gate), await ask(gate), asked.length], [503, 503, 2]);
    });

    it('keeps active tokens during a flood of invalid ones', async function () {
      this.timeout(60_000);
      const gate = await open({ cache_ttl: '1h', negative_cache_ttl: '1h' });
      await ask(gate, 'good');
      answer = () => says({ active: false });
      for (let at = 0; at < 10_100; at++) await ask(gate, `made-up-${at}`);
      deepEqual([await ask(gate, 'good'), asked.length], [200, 10_101]);
    });
  });

  it('sends one introspection request for concurrent requests with the same token', async () => {
    let release = (_reply: Reply) => {};
    answer = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const gate = await open();
    const replies = [gate.send(bearer('t')), gate.send(bearer('t')), gate.send(bearer('t'))];
    await new Promise(setImmediate);
    release(says({ active: true }));
    deepEqual(
      (await Promise.all(replies)).map(({ status }) => status),
      [200, 200, 200],
    );
    equal(asked.length, 1);
  });

  describe('with an authorization server that does not decide', () => {
    const refused = () =>
      Reply.failed(new BackendError('BACKEND_REFUSED', 'backend https://id.test: connection refused'));
    const malformed = () =>
      Reply.failed(new BackendError('BACKEND_MALFORMED', 'backend https://id.test: not HTTP/1.1'));
    const deep = `{"active":true,"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    const responses: readonly (readonly [string, () => Reply, isOutage: boolean])[] = [
      ['refuses connections', refused, true],
      ['responds with 502', () => says('', 502), true],
      ['responds with 503', () => says('', 503), true],
      ['responds with 504', () => says('', 504), true],
      ['responds with 500', () => says({ active: true }, 500), false],
      ['responds with 201', () => says({ active: true }, 201), false],
      ['redirects', () => Reply.raw(302, new HeaderBag(['Location', 'https://evil.test/']), null), false],
      ['does not accept the client', () => says({ error: 'invalid_client' }, 401), false],
      ['does not speak HTTP', malformed, false],
      ['sends an empty body', () => Reply.raw(200, new HeaderBag(), null), false],
      ['responds with text', () => says('active'), false],
      ['responds with a list', () => says('[true]'), false],
      ['omits "active"', () => says({ sub: 'ada' }), false],
      ['sends "active" as text', () => says({ active: 'true' }), false],
      ['sends "active" twice', () => says('{"active":false,"active":true}'), false],
      ['sends "active" as a member of __proto__', () => says('{"__proto__":{"active":true}}'), false],
      ['sends an exp that is text', () => says({ active: true, exp: 'later' }), false],
      ['sends deeply nested JSON', () => says(deep), false],
      ['responds with a JWT', () => says('e30.e30.e30', 200, 'application/token-introspection+jwt'), false],
      ['sends a body over the limit', () => says({ active: true, a: 'a'.repeat(70_000) }), false],
    ];

    for (const [title, response, isOutage] of responses) {
      it(`rejects requests if the server ${title}, ${isOutage ? 'unless on_failure_allow is set' : 'even if on_failure_allow is set'}`, async () => {
        answer = response;
        equal((await (await open()).send(bearer('t'))).status, 503);
        equal((await (await open({ on_failure_status: 403 })).send(bearer('t'))).status, 403);
        equal((await (await open({ on_failure_allow: true })).send(bearer('t'))).status, isOutage ? 200 : 503);
      });
    }

    it('rejects requests if the server does not respond within the timeout', async () => {
      answer = (_asked, call) =>
        new Promise((resolve) => {
          call.onCancel((reason) => resolve(Reply.failed(reason as CallError)));
        });
      const gate = await open({ timeout: '10ms' });
      equal((await gate.send(bearer('t'))).status, 503);
    });

    it('accepts neither a request without a token nor a forged header, even with on_failure_allow', async () => {
      answer = refused;
      const gate = await open({ on_failure_allow: true, propagate_claims: [['sub', 'X-User']] });
      equal((await gate.send('GET /')).status, 401);
      equal((await gate.send({ headers: { Authorization: 'Bearer t', 'X-User': 'root' } })).status, 200);
      deepEqual(passed[0]!.headers.getAll('x-user'), ['']);
    });

    it('logs the reason once a second, without token and secret', async () => {
      const log = rememberingLog();
      answer = ({ form, headers }) => says(`${form.get('token')} ${headers.get('authorization')}`, 500);
      const gate = await open({}, { services: { log } });
      for (let at = 0; at < 5; at++) await gate.send(bearer(`very-secret-${at}`));
      clock.time += 1000;
      await gate.send(bearer('very-secret'));
      const text = log.lines.join('\n');
      equal(log.lines.filter((line) => line.includes('a request is rejected: status 500')).length, 2, text);
      for (const secret of ['very-secret', 'hush-hush', btoa('gate:hush-hush')]) equal(text.includes(secret), false);
    });
  });

  it('counts tokens by result', async () => {
    const { counts, offers } = countingMeter();
    const gate = await open({}, { offers });
    await gate.send(bearer('t'));
    await gate.send(bearer('t'));
    deepEqual(Object.fromEntries(counts), { 'introspection.tokens': 2 });
  });

  describe('the configuration check', () => {
    const findings = (config: object) =>
      findingsOf(openHarness(plugin, 'endpoint', { ...base, ...config }, { services: { clock } }));

    for (const [config, finding] of [
      [{ introspection_url: 'ftp://id.test' }, 'INTROSPECTION_URL /introspection_url'],
      [{ introspection_url: 'https://a:b@id.test' }, 'INTROSPECTION_URL /introspection_url'],
      [{ client_secret: undefined }, 'INTROSPECTION_CLIENT '],
      [{ client_auth_method: 'bearer' }, 'INTROSPECTION_CLIENT '],
      [{ bearer_token: 'a' }, 'INTROSPECTION_CLIENT /bearer_token'],
      [{ client_auth_method: 'bearer', bearer_token: 'a' }, 'INTROSPECTION_CLIENT /client_id'],
      [{ negative_cache_ttl: '31s' }, 'INTROSPECTION_CACHE /negative_cache_ttl'],
      [{ introspection_url: undefined }, 'INTROSPECTION_SERVER /client_id'],
      [{ auth_header_name: 'a b' }, 'INTROSPECTION_HEADER /auth_header_name'],
      [{ propagate_claims: [['sub', 'Host']] }, 'VALIDATOR_HEADER /propagate_claims/0/1'],
    ] as const) {
      it(`rejects ${JSON.stringify(config)}`, async () => deepEqual(await findings(config), [finding]));
    }

    it('rejects an endpoint without a server of its own or of the service', async () =>
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', {})), ['INTROSPECTION_SERVER ']));

    it('warns of a server without TLS, and of settings without effect', async () => {
      const gate = await open({
        introspection_url: 'http://id.test/introspect',
        scopes_key: 'a',
        roles_key: 'b',
        roles_key_is_nested: true,
        propagate_claims_preserve_array: true,
      });
      deepEqual(
        gate.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
        [
          'INTROSPECTION_UNUSED /scopes_key',
          'INTROSPECTION_UNUSED /roles_key',
          'INTROSPECTION_UNUSED /roles_key_is_nested',
          'INTROSPECTION_UNUSED /propagate_claims_preserve_array',
          'INTROSPECTION_INSECURE /introspection_url',
        ],
      );
      ok(!(await open({ introspection_url: 'http://127.0.0.1/introspect' })).warnings.length);
    });
  });
});
