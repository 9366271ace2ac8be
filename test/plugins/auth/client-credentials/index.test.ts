import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { BackendError, HeaderBag, type PipeRequest, Reply } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import type { Harness, HarnessOptions } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/client-credentials/index.ts';
import { until } from '../../../support/conditions.ts';
import { openHarness } from '../../../support/harness.ts';
import { findingsOf } from '../fixture.ts';

type Form = Record<string, string | undefined>;

/** Requests that the token server received. */
interface Requested {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

describe('auth/client-credentials:', () => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const url = 'https://id.test/token';
  const harnesses: Harness[] = [];
  let requested: Requested[];
  let sent: { target: string; method: string; authorization: readonly string[] }[];
  let issue: (requested: Requested, request: PipeRequest) => Reply | Promise<Reply>;
  let backend: (request: PipeRequest) => Reply;

  beforeEach(() => {
    requested = [];
    sent = [];
    issue = () => token({ access_token: `t${requested.length}`, token_type: 'bearer', expires_in: 3600 });
    backend = () => Reply.raw(200, new HeaderBag(), null);
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });

  function token(fields: object | string, type = 'application/json', status = 200): Reply {
    const text = typeof fields === 'string' ? fields : JSON.stringify(fields);
    return Reply.raw(status, new HeaderBag(['Content-Type', type]), Buffer.from(text));
  }

  const base = { client_id: 'gate', client_secret: 'secret', token_url: url };
  const open = async (config: object = {}, options: HarnessOptions = {}) => {
    const harness = await openHarness(
      plugin,
      'backend',
      { ...base, ...config },
      {
        services: { clock },
        next: async (request) => {
          const { method, target, origin, headers } = request;
          if (origin.startsWith('https://id.test')) {
            const body = Buffer.from((await request.body?.bytes()) ?? []).toString();
            const one = { authorization: headers.get('authorization'), form: new URLSearchParams(body) };
            requested.push(one);
            return issue(one, request);
          }
          sent.push({ method, target: origin + target, authorization: headers.getAll('authorization') });
          return backend(request);
        },
        ...options,
      },
    );
    harnesses.push(harness);
    return harness;
  };
  const ask = async (gate: Harness, request: Parameters<Harness['send']>[0] = 'GET /') => gate.send(request);
  const tokens = () => sent.map(({ authorization }) => authorization.join());
  const formWith = async (config: object): Promise<Form> => {
    await ask(await open(config));
    return Object.fromEntries(requested[0]!.form);
  };
  const later = (seconds: number) => {
    clock.time += seconds * 1000;
  };

  describe('the token request', () => {
    it('is sent once, and its token is sent with every backend request', async () => {
      issue = () => token({ access_token: 't1', token_type: 'bearer', expires_in: 3600 });
      const gate = await open();
      for (let count = 0; count < 3; count++) equal((await ask(gate)).status, 200);
      equal(requested.length, 1);
      deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t1']);
    });

    it('is not sent before the first backend request', async () => {
      await open();
      equal(requested.length, 0);
    });

    it("is a form post with the gateway's user agent", async () => {
      let request: PipeRequest | undefined;
      issue = (_asked, seen) => {
        request = seen;
        return token({ access_token: 't' });
      };
      deepEqual(await formWith({}), { grant_type: 'client_credentials' });
      equal(request!.method, 'POST');
      equal(request!.headers.get('content-type'), 'application/x-www-form-urlencoded');
      match(request!.headers.get('user-agent')!, /^Sluice Version /);
    });

    it('joins scopes with spaces', async () => equal((await formWith({ scopes: 'read, write' })).scope, 'read write'));

    for (const [scopes, expected] of [
      [' , ,', undefined],
      ['', undefined],
      [' a b ,, c', 'a b c'],
    ] as const) {
      it(`sends ${expected ?? 'no scope'} for the scopes ${JSON.stringify(scopes)}`, async () =>
        equal((await formWith({ scopes })).scope, expected));
    }

    it('contains the fields of endpoint_params, with one entry for each value', async () => {
      await ask(await open({ endpoint_params: { audience: ['api', 'other'], scope: ['a'], none: [] } }));
      deepEqual(
        [...requested[0]!.form],
        [
          ['grant_type', 'client_credentials'],
          ['audience', 'api'],
          ['audience', 'other'],
          ['scope', 'a'],
        ],
      );
    });

    it('uses the grant_type of endpoint_params if it is set', async () => {
      const form = await formWith({ endpoint_params: { grant_type: ['password'], __proto__x: ['y'] } });
      deepEqual([form.grant_type, form.__proto__x], ['password', 'y']);
    });

    it('authenticates the client with form-encoded credentials in the Authorization header', async () => {
      await ask(await open({ client_id: 'a:b c', client_secret: 'ä&%+' }));
      const [scheme, encoded] = requested[0]!.authorization!.split(' ');
      deepEqual([scheme, Buffer.from(encoded!, 'base64').toString()], ['Basic', 'a%3Ab+c:%C3%A4%26%25%2B']);
    });

    it('authenticates the client with form fields if the server requires them, and does so from the start in later requests', async () => {
      issue = ({ authorization }) =>
        authorization
          ? token({ error: 'invalid_client' }, 'application/json', 401)
          : token({ access_token: `t${requested.length}`, expires_in: 20 });
      const gate = await open({ endpoint_params: { client_id: ['gate'] } });
      await ask(gate);
      equal(requested.length, 2);
      deepEqual(requested[1]!.form.getAll('client_id'), ['gate']);
      deepEqual(requested[1]!.form.getAll('client_secret'), ['secret']);
      later(11);
      await ask(gate);
      equal(requested.length, 3);
      equal(requested[2]!.authorization, undefined);
      deepEqual(tokens(), ['Bearer t2', 'Bearer t3']);
    });

    it('is not repeated with the other authentication style if the server does not respond', async () => {
      issue = () => Reply.failed(new BackendError('TEST', 'nobody there'));
      equal((await ask(await open())).failed, true);
      equal(requested.length, 1);
    });

    it('is sent once for fifty concurrent requests', async () => {
      const gate = await open();
      await Promise.all(Array.from({ length: 50 }, () => ask(gate)));
      equal(requested.length, 1);
      deepEqual(new Set(tokens()), new Set(['Bearer t1']));
    });

    it('follows redirects on the same host and sends no credentials to other hosts', async () => {
      issue = (_asked, { target }) =>
        target === '/token'
          ? Reply.raw(307, new HeaderBag(['Location', '/moved']), null)
          : token({ access_token: 'moved' });
      await ask(await open());
      deepEqual(
        [tokens(), requested.map(({ form }) => form.get('grant_type'))],
        [['Bearer moved'], ['client_credentials', 'client_credentials']],
      );
      for (const location of [
        'https://evil.test/token',
        'http://id.test/token',
        'file:///etc/passwd',
        'http://[',
        '',
      ]) {
        issue = () => Reply.raw(308, new HeaderBag(['Location', location]), null);
        const count = requested.length;
        equal((await ask(await open({ scopes: location }))).failed, true, location);
        ok(requested.length <= count + 11);
      }
      deepEqual(tokens(), ['Bearer moved']);
    });
  });

  describe('the token', () => {
    it('is used until ten seconds before it expires', async () => {
      issue = () => token({ access_token: `t${requested.length}`, expires_in: 12 });
      const gate = await open();
      await ask(gate);
      later(1);
      await ask(gate);
      later(2);
      await ask(gate);
      deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t2']);
    });

    for (const life of [undefined, null, 0, '0']) {
      it(`never expires with expires_in ${JSON.stringify(life)}`, async () => {
        issue = () => token({ access_token: 't', ...(life !== undefined && { expires_in: life }) });
        const gate = await open();
        await ask(gate);
        later(1e9);
        await ask(gate);
        equal(requested.length, 1);
      });
    }

    it('is requested for every backend request if it expires within ten seconds', async () => {
      issue = () => token({ access_token: `t${requested.length}`, expires_in: '10' });
      const gate = await open();
      for (let count = 0; count < 3; count++) await ask(gate);
      deepEqual(tokens(), ['Bearer t1', 'Bearer t2', 'Bearer t3']);
    });

    for (const [type, scheme] of [
      [undefined, 'Bearer'],
      ['', 'Bearer'],
      ['BEARER', 'Bearer'],
      ['mac', 'MAC'],
      ['Basic', 'Basic'],
      ['DPoP', 'DPoP'],
    ] as const) {
      it(`with token_type ${type} is sent with the scheme ${scheme}`, async () => {
        issue = () => token({ access_token: 't', ...(type !== undefined && { token_type: type }) });
        await ask(await open());
        deepEqual(tokens(), [`${scheme} t`]);
      });
    }

    for (const type of ['application/x-www-form-urlencoded', 'text/plain; charset=utf-8']) {
      it(`is accepted in a response of type ${type}`, async () => {
        issue = () => token('access_token=a%2Bb&token_type=bearer&expires_in=3600', type);
        await ask(await open());
        deepEqual(tokens(), ['Bearer a+b']);
      });
    }

    it("replaces the client's Authorization header", async () => {
      await ask(await open(), { headers: { Authorization: 'Bearer mine', authorization: 'Bearer other' } });
      deepEqual(tokens(), ['Bearer t1']);
    });

    it('is kept across a reload unless the client credentials change', async () => {
      const gate = await open();
      await ask(gate);
      await gate.reload(base);
      await ask(gate);
      await gate.reload({ ...base, scopes: 'a' });
      await ask(gate);
      deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t2']);
    });

    it('is requested by the new configuration if a reload replaces the configuration that was requesting it', async () => {
      const held: (() => void)[] = [];
      issue = () => new Promise((resolve) => held.push(() => resolve(token({ access_token: 'late' }))));
      const gate = await open();
      const first = ask(gate);
      await until(() => requested.length === 1);
      const reloaded = gate.reload(base);
      await reloaded;
      const second = ask(gate);
      for (const respond of held.splice(0)) respond();
      await until(() => held.length > 0 || sent.length === 2);
      for (const respond of held.splice(0)) respond();
      await Promise.all([first, second]);
      equal((await second).status, 200);
    });

    it('is not sent if the component is disabled', async () => {
      await ask(await open({ is_disabled: true }), { headers: { Authorization: 'mine' } });
      deepEqual([tokens(), requested.length], [['mine'], 0]);
    });
  });

  describe('a failed token request', () => {
    for (const [what, reply, text] of [
      ['the server is down', () => Reply.failed(new BackendError('TEST', 'backend x: refused')), 'backend x: refused'],
      ['it responds with 500', () => token('<html>', 'text/html', 500), 'status 500'],
      [
        'it responds with an error description',
        () => token({ error: 'invalid_scope', error_description: 'no such scope' }, 'application/json', 400),
        'invalid_scope no such scope',
      ],
      ['it responds with an error and 200', () => token({ error: 'slow_down', access_token: 'a' }), 'slow_down'],
      ['it responds with invalid JSON', () => token('<html>'), 'the response of the token endpoint cannot be read'],
      ['it responds with a list', () => token('[]'), 'the response of the token endpoint cannot be read'],
      [
        'it responds without a body',
        () => Reply.raw(200, new HeaderBag(), null),
        'the response of the token endpoint cannot be read',
      ],
      [
        'the response lacks the token',
        () => token({ token_type: 'bearer' }),
        'the response of the token endpoint has no access_token',
      ],
      [
        'the token is empty',
        () => token({ access_token: ' ' }),
        'the response of the token endpoint has no access_token',
      ],
      [
        'the token is not a string',
        () => token({ access_token: 1 }),
        'the response of the token endpoint has no access_token',
      ],
      [
        'the token contains a line break',
        () => token({ access_token: 'a\r\nX-Admin: 1' }),
        'the response of the token endpoint has no access_token',
      ],
      [
        'the token type contains a line break',
        () => token({ access_token: 'a', token_type: 'x\r\ny' }),
        'the token endpoint returned an invalid token_type',
      ],
      [
        'the lifetime is not a number',
        () => token({ access_token: 'a', expires_in: 'soon' }),
        'the token endpoint returned an expires_in that is not a number',
      ],
      [
        'the token is only in the object prototype',
        () => token('{"__proto__":{"access_token":"a"}}'),
        'the response of the token endpoint has no access_token',
      ],
      [
        'it redirects in a circle',
        () => Reply.raw(307, new HeaderBag(['Location', url]), null),
        'the token server redirects too often',
      ],
      ['it redirects to an invalid URL', () => Reply.raw(302, new HeaderBag(), null), 'status 302'],
    ] as const) {
      it(`fails the backend request without calling the backend, and is repeated for the next request: ${what}`, async () => {
        issue = reply;
        const gate = await open();
        const { status, errors } = await ask(gate);
        equal(status, 500);
        deepEqual(
          errors.map(({ message, code }) => [code, message]),
          [['CREDENTIALS_TOKEN', `Get "http://backend.test": oauth2: ${text}`]],
        );
        deepEqual(sent, []);
        issue = () => token({ access_token: 'back' });
        equal((await ask(gate)).status, 200);
      });
    }

    it("logs no secrets and only the beginning of the token server's response", async () => {
      issue = ({ authorization, form }) =>
        token({
          error: `${authorization} ${form.get('client_secret')} sec%2Fret`,
          error_description: 'x'.repeat(9999),
        });
      const { errors } = await ask(await open({ client_secret: 'sec/ret' }));
      const { message } = errors[0]!;
      for (const secret of ['sec/ret', 'sec%2Fret', Buffer.from('gate:sec%2Fret').toString('base64')]) {
        equal(message.includes(secret), false, secret);
      }
      ok(message.length < 400);
    });
  });

  describe('a 401 from the backend', () => {
    const refusing = (count: number) => () => Reply.raw(sent.length <= count ? 401 : 200, new HeaderBag(), null);
    const aged = async (config: object = {}) => {
      const gate = await open(config);
      await ask(gate);
      sent.length = 0;
      later(6);
      return gate;
    };

    it('causes one new token request if the rejected token is older than 5 s', async () => {
      const gate = await aged();
      backend = refusing(1);
      equal((await ask(gate, 'GET /a')).status, 200);
      deepEqual(tokens(), ['Bearer t1', 'Bearer t2']);
      backend = refusing(9);
      equal((await ask(gate)).status, 401);
      equal(requested.length, 2);
    });

    it('causes a retry at the original URL, even after redirects', async () => {
      const gate = await aged();
      const hosts: (string | null)[] = [];
      backend = (request) => {
        hosts.push(request.host);
        // Changes the request as the HTTP client does when it follows a redirect.
        Object.assign(request, { origin: 'http://other.test', target: '/moved', host: 'other.test' });
        return Reply.raw(sent.length === 1 ? 401 : 200, new HeaderBag(), null);
      };
      equal((await ask(gate)).status, 200);
      deepEqual([sent[0]!.target, hosts[0]], [sent[1]!.target, hosts[1]]);
    });

    it('is returned to the client if the token is new', async () => {
      backend = refusing(9);
      const gate = await open();
      equal((await ask(gate)).status, 401);
      equal((await ask(gate)).status, 401);
      deepEqual([requested.length, sent.length], [1, 2]);
    });

    it('is not retried for a method or body that must not be repeated, but the next request uses a new token', async () => {
      const gate = await aged();
      backend = refusing(1);
      equal((await ask(gate, 'POST /')).status, 401);
      equal((await ask(gate, 'POST /')).status, 200);
      later(6);
      sent.length = 0;
      equal((await ask(gate, { method: 'PUT', body: 'x' })).status, 401);
      equal(sent.length, 1);
    });
  });

  describe('the configuration check', () => {
    for (const [what, change, finding] of [
      ['an invalid URL', { token_url: 'id' }, 'CREDENTIALS_URL /token_url'],
      ['a URL with another scheme', { token_url: 'ftp://a.test' }, 'CREDENTIALS_URL /token_url'],
      ['a password in the URL', { token_url: 'https://a:b@id.test' }, 'CREDENTIALS_URL /token_url'],
      [
        'scopes in two fields',
        { scopes: 'a', endpoint_params: { scope: ['a'] } },
        'CREDENTIALS_SCOPE /endpoint_params/scope',
      ],
    ] as const) {
      it(`rejects ${what}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'backend', { ...base, ...change })), [finding]));
    }

    for (const change of [
      { client_id: '' },
      { client_secret: '' },
      { scopes: ['a'] },
      { endpoint_params: { audience: 'api' } },
      { endpoint_params: { audience: [1] } },
      { endpoint_params: [] },
      { unknown: 1 },
    ]) {
      it(`rejects ${JSON.stringify(change)}`, () =>
        rejects(openHarness(plugin, 'backend', { ...base, ...change }), ConfigErrors));
    }

    for (const field of Object.keys(base)) {
      it(`rejects a configuration without ${field}`, () =>
        rejects(openHarness(plugin, 'backend', { ...base, [field]: undefined }), ConfigErrors));
    }

    it('warns about secrets sent without TLS, except on localhost', async () => {
      const { warnings } = await open({ token_url: 'http://id.test/token' });
      deepEqual(
        warnings.map(({ code, pointer }) => `${code} ${pointer}`),
        ['CREDENTIALS_INSECURE /token_url'],
      );
      deepEqual((await open({ token_url: 'http://127.0.0.1:9/token' })).warnings, []);
    });
  });
});
