import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { parseSegment, readSegment } from '../../../kernel/config/index.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { sendRaw } from './raw.ts';

const at = (line: string, pattern = line.split(' ')[1]!): object => {
  const [method, endpoint] = line.split(' ');
  return { endpoint, method, backend: [{ url_pattern: pattern }] };
};

describe('the routing of requests', () => {
  let backend: TestBackend;
  let gateway: Gateway | null = null;
  let port: number;

  before(async () => {
    backend = await startBackend((seen, response) => json({ saw: `${seen.method} ${seen.target}` })(seen, response));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    (backend.requests as unknown[]).length = 0;
  });

  const start = async (endpoints: object[], router: object = {}, more: object = {}): Promise<void> => {
    gateway = await startGateway({ host: [backend.url], endpoints, extra_config: { router }, ...more });
    ({ port } = await gateway.listen());
  };

  /** Result of a request: the target of the backend request, or the status with text or location. */
  const leadsTo = async (line: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const { status, text, headers: got } = await ask(port, line, { headers });
    if (status === 200) return backend.requests.at(-1)!.target;
    return [status, got.location ?? text];
  };

  describe('in documented cases', () => {
    const endpoints = [at('GET /user/{id}'), at('GET /user/new'), at('POST /user/{id}'), at('GET /f/*', '/base')];
    const cases: [line: string, result: unknown][] = [
      ['GET /user/7/x', [404, '404 page not found']],
      ['DELETE /user/7', [405, '405 method not allowed']],
      ['GET /user/new', '/user/new'],
      ['GET /user/7', '/user/7'],
      ['POST /user/7', '/user/7'],
      ['GET /User/7?a=1', [301, '/user/7?a=1']],
      ['POST /user/7/', [307, '/user/7']],
      ['GET /user/7/', [301, '/user/7']],
      ['GET /user/a%252Fb', [400, 'error: encoded url params']],
      ['GET /user/a%25zz', [400, 'error: invalid URL escape "%zz"']],
      ['GET /user/a%3Fb', [400, 'error: encoded url params']],
      ['GET /user/a%23b', [400, 'error: encoded url params']],
      ['GET /user/a%2Fb', [404, '404 page not found']],
      ['GET /user/a%20b', '/user/a%20b'],
      ['GET /f/x/y', '/base/x/y'],
      ['GET /f/', '/base/'],
      ['GET /f', [301, '/f/']],
      ['GET /user/', [404, '404 page not found']],
      ['GET /', [404, '404 page not found']],
    ];
    for (const [line, result] of cases) {
      it(`answers ${line} with ${JSON.stringify(result)}`, async () => {
        await start(endpoints);
        deepEqual(await leadsTo(line), result);
      });
    }

    it('marks 404 and 405 as responses of the gateway, not of a backend', async () => {
      await start(endpoints);
      const missing = await ask(port, 'GET /none');
      match(missing.headers['x-gateway'] as string, /^Version \d/);
      deepEqual([missing.headers['x-gateway-completed'], missing.headers['content-type']], ['false', 'text/plain']);
      const wrong = await ask(port, 'DELETE /user/7');
      deepEqual([wrong.headers.allow, wrong.headers['x-gateway-completed']], ['GET, HEAD, POST', 'false']);
      match(wrong.headers['x-gateway'] as string, /^Version \d/);
    });
  });

  it('rejects two names for the variable at one position, and names both paths', async () => {
    const faulty = startGateway({
      host: [backend.url],
      endpoints: [at('GET /v1/{d}/u/{a}'), at('GET /v1/{d}/u/{b}/s')],
    });
    await rejects(faulty, (error: ConfigErrors) => {
      ok(error instanceof ConfigErrors);
      match(error.message, /\/v1\/\{d\}\/u\/\{b\}\/s/);
      match(error.message, /\/v1\/\{d\}\/u\/\{a\}/);
      return true;
    });
  });

  it('compares variable names within one method only', async () => {
    await start([at('GET /user/{a}'), at('POST /user/{b}/x')]);
    equal(await leadsTo('POST /user/7/x'), '/user/7/x');
  });

  it('falls back from a static segment to a variable', async () => {
    await start([at('GET /a/{x}/c'), at('GET /a/b/d')]);
    equal(await leadsTo('GET /a/b/c'), '/a/b/c');
    equal(await leadsTo('GET /a/b/d'), '/a/b/d');
  });

  it('falls back from an empty variable to a wildcard', async () => {
    await start([at('GET /a/*', '/w'), at('GET /a/b/{c}'), at('GET /a/{d}', '/d')]);
    equal(await leadsTo('GET /a/b/'), '/w/b/');
    equal(await leadsTo('GET /a/'), '/w/');
    equal(await leadsTo('GET /a/x'), '/d');
  });

  it('never matches an empty segment with a variable', async () => {
    await start([at('GET /{a}/{b}')], { disable_redirect_fixed_path: true, disable_redirect_trailing_slash: true });
    for (const line of ['GET //b', 'GET /a/', 'GET //', 'GET /%2Fb']) {
      deepEqual(await leadsTo(line), [404, '404 page not found'], line);
    }
  });

  it('supports variable names with characters other than letters', async () => {
    await start([at('GET /{user-id}/{user_id}')]);
    equal(await leadsTo('GET /a/b'), '/a/b');
  });

  it('matches variables inside words', async () => {
    const endpoints = [
      at('GET /{name}', '/n/{name}'),
      at('GET /file.{ext}', '/x/{ext}'),
      at('GET /{name}.json', '/j/{name}'),
      at('GET /{name}.min.json', '/m/{name}'),
      at('GET /{from}-{to}', '/r/{to}/{from}'),
      at('GET /v{major}.{minor}/x.{a}/b', '/{a}.v{minor}-{major}'),
      at('GET /in-{a}/*', '/w/{a}'),
    ];
    await start(endpoints, {}, { disable_rest: true });
    const cases: [path: string, result: unknown][] = [
      ['/file.tar.gz', '/x/tar.gz'],
      ['/file.', '/n/file.'],
      ['/file.tar/gz', [404, '404 page not found']],
      ['/a.json', '/j/a'],
      ['/a.b.json', '/j/a.b'],
      ['/a.min.json', '/m/a'],
      ['/.json', '/n/.json'],
      ['/a-b.json', '/j/a-b'],
      ['/a-b', '/r/b/a'],
      ['/a-b-c', '/r/b-c/a'],
      ['/-b', '/n/-b'],
      ['/a%2Db%20c', '/r/b%20c/a'],
      ['/v1.2/x.y/b', '/y.v2-1'],
      ['/V1.2/X.Y/b', [301, '/v1.2/x.Y/b']],
      ['/v1.2/x./b', [404, '404 page not found']],
      ['/in-1/a/b', '/w/1/a/b'],
      ['/a-b/', [301, '/a-b']],
      ['/a.json/', [301, '/a.json']],
    ];
    for (const [path, result] of cases) deepEqual(await leadsTo(`GET ${path}`), result, path);
  });

  it('matches several variables in a word as declared', async () => {
    const forms = ['{a}-{b}', 'x{a}--{b}', '{a}.{b}.z', '{a}-{b}.{c}', '{a}..{b}x'];
    const words = [
      'a-b',
      '-',
      '--',
      'xa--b',
      'x-a---b',
      'a.b.z',
      '.a.b.z.z',
      'a-b.c-d.e',
      'a..bx',
      '..x',
      'a...x',
      'a',
    ];
    const fields = ['a', 'b', 'c'].map((name) => `{${name}}`);
    for (const form of forms) {
      const named = fields.filter((field) => form.includes(field));
      await start([at(`GET /${form}`, `/x?v=${named.join('&v=')}`)], {}, { disable_rest: true });
      for (const word of words) {
        const values = readSegment(parseSegment(form).texts, word);
        const expected = values ? `/x?v=${values.join('&v=')}` : [404, '404 page not found'];
        deepEqual(await leadsTo(`GET /${word}`), expected, `${form} ${word}`);
      }
      await gateway!.close();
    }
    gateway = null;
  });

  it('matches a word of a million letters at once', async () => {
    await start([at('GET /{a}-{b}--{c}.json', '/{a}')], {}, { disable_rest: true });
    for (const word of ['-'.repeat(900_000), 'a-'.repeat(450_000), `a-b${'--c.json'.repeat(100_000)}x`]) {
      match(await sendRaw(port, `GET /${word} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 404 /);
    }
  });

  it('supports variables of any name', async () => {
    await start([at('GET /{__proto__}/{constructor}/{_x}/{1}', '/{1}/{_x}/{constructor}/{__proto__}')]);
    equal(await leadsTo('GET /a/b/c/d'), '/d/c/b/a');
    await gateway!.close();
    const backends = [{ url_pattern: '/1/{__proto__}' }, { url_pattern: '/2/{__proto__}' }];
    await start([{ endpoint: '/{__proto__}', backend: backends }]);
    await ask(port, 'GET /a');
    deepEqual(backend.requests.map(({ target }) => target).sort(), ['/1/a', '/2/a', '/d/c/b/a']);
  });

  it('rejects a path with a NUL character', async () => {
    await start([at('GET /user/{id}'), at('GET /f/*')], { disable_path_decoding: true });
    for (const path of ['/user/a%00', '/f/a%00b', '/%00', '/none/%00']) {
      deepEqual(await leadsTo(`GET ${path}`), [400, 'error: invalid path'], path);
    }
  });

  it('does not check values for double encoding if that is disabled', async () => {
    await start([at('GET /user/{id}')], { disable_path_decoding: true });
    equal(await leadsTo('GET /user/a%252Fb'), '/user/a%252Fb');
  });

  it('ignores the query', async () => {
    await start([at('GET /user/{id}')]);
    equal(await leadsTo('GET /user/7?x=/y/../z//'), '/user/7');
  });

  it('takes the same time for a path of a hundred thousand segments', async () => {
    await start([at('GET /a/{b}/c'), at('GET /w/*')]);
    for (const path of ['/a'.repeat(100_000), `/w${'/'.repeat(400_000)}`, `/${'%25'.repeat(100_000)}`]) {
      match(await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 [34]0\d/);
    }
  });

  describe('redirects', () => {
    const endpoints = [at('GET /Mixed/{Id}/End'), at('PUT /put'), at('GET /slash/'), at('GET /sp/{a}')];

    it('correct letter case but keep the values of variables', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('GET /mIXED/AbC/eND?q=%41'), [301, '/Mixed/AbC/End?q=%41']);
    });

    it('add a missing slash and remove an extra one', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('GET /slash'), [301, '/slash/']);
      deepEqual(await leadsTo('PUT /put/'), [307, '/put']);
    });

    it('clean empty and dot segments', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('GET //Mixed/./x/../y//End'), [301, '/Mixed/y/End']);
    });

    it('lead only to endpoints with the same method', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('DELETE /PUT'), [404, '404 page not found']);
    });

    it('keep the encoding of values', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('GET /sp/a%20%0d%0aX:y/'), [301, '/sp/a%20%0D%0AX:y']);
      deepEqual(await leadsTo('GET /SP/a%3Fb%23c%25'), [301, '/sp/a%3Fb%23c%25']);
    });

    it('never lead to another host', async () => {
      await start([at('GET /{a}/{b}')]);
      deepEqual(await leadsTo('GET //evil.test/x/'), [301, '/evil.test/x']);
      deepEqual(await leadsTo('GET /%2Fevil.test/x/'), [301, '/evil.test/x']);
      deepEqual(await leadsTo('GET /%5Cevil.test/x/'), [301, '/%5Cevil.test/x']);
    });

    for (const [prefix, location] of [
      ['/api', '/api/slash/'],
      ['api/v1/', '/api/v1/slash/'],
      ['//evil', '/evil/slash/'],
      ['https://evil.test', '/slash/'],
      ['/a b', '/slash/'],
      ['/', '/slash/'],
    ] as const) {
      it(`for a slash keep the prefix ${prefix} if it is a valid path`, async () => {
        await start(endpoints);
        deepEqual(await leadsTo('GET /slash', { 'X-Forwarded-Prefix': prefix }), [301, location]);
      });
    }

    it('take no time for a prefix of slashes', async () => {
      await start(endpoints);
      const prefix = `${'/'.repeat(900_000)}x`;
      deepEqual(await leadsTo('GET /slash', { 'X-Forwarded-Prefix': prefix }), [301, '/x/slash/']);
    });

    it('for letter case ignore the prefix', async () => {
      await start(endpoints);
      deepEqual(await leadsTo('PUT /PUT', { 'X-Forwarded-Prefix': '/api' }), [307, '/put']);
    });

    it('for slashes can be disabled separately', async () => {
      await start(endpoints, { disable_redirect_trailing_slash: true });
      deepEqual(await leadsTo('GET /slash'), [404, '404 page not found']);
      deepEqual(await leadsTo('PUT /PUT/'), [404, '404 page not found']);
      deepEqual(await leadsTo('PUT /PUT'), [307, '/put']);
    });

    it('for letter case can be disabled separately', async () => {
      await start(endpoints, { disable_redirect_fixed_path: true });
      deepEqual(await leadsTo('PUT /PUT'), [404, '404 page not found']);
      deepEqual(await leadsTo('GET /slash'), [301, '/slash/']);
    });

    it('can be disabled together', async () => {
      await start(endpoints, { disable_redirect_fixed_path: true, disable_redirect_trailing_slash: true });
      for (const line of ['PUT /PUT', 'GET /slash', 'PUT //put']) {
        deepEqual(await leadsTo(line), [404, '404 page not found'], line);
      }
    });

    it('are not needed with remove_extra_slash', async () => {
      await start(endpoints, { remove_extra_slash: true });
      equal(await leadsTo('PUT //x/..//put'), '/put');
    });
  });

  describe('for unmatched requests', () => {
    it('returns the configured bodies', async () => {
      await start([at('GET /x')], { error_body: { 404: { no: 'such' }, 405: { not: ['so'] } } });
      for (const [line, status, body] of [
        ['GET /none', 404, '{"no":"such"}'],
        ['POST /x', 405, '{"not":["so"]}'],
      ] as const) {
        const response = await ask(port, line);
        deepEqual([response.status, response.text], [status, body]);
        equal(response.headers['content-type'], 'application/json; charset=utf-8');
        equal(response.headers['x-gateway-completed'], 'false');
      }
    });

    it('returns 404 for a wrong method if configured', async () => {
      await start([at('GET /x')], { disable_handle_method_not_allowed: true });
      deepEqual(await leadsTo('POST /x'), [404, '404 page not found']);
    });

    it('answers HEAD without a body', async () => {
      await start([at('POST /x')]);
      const response = await ask(port, 'HEAD /x');
      deepEqual([response.status, response.text, response.headers.allow], [405, '', 'POST']);
    });

    it('omits the version if that is hidden', async () => {
      await start([at('GET /x')], { hide_version_header: true });
      equal((await ask(port, 'GET /none')).headers['x-gateway'], 'Version undefined');
      equal((await ask(port, 'GET /x')).headers['x-gateway'], 'Version undefined');
    });
  });

  it('rejects a configuration with an invalid path', async () => {
    for (const endpoint of ['/a:b', '/a/*/b', '/*', '/x*', '/__health', 'x', '/a?b', '/__debug/x']) {
      const faulty = startGateway({ host: [backend.url], debug_endpoint: true, endpoints: [at(`GET ${endpoint}`)] });
      await rejects(faulty, ConfigErrors, endpoint);
    }
    await rejects(startGateway({ host: [backend.url], endpoints: [at('GET /x'), at('GET /x')] }), ConfigErrors);
  });
});
