import { deepEqual, equal, match } from 'node:assert/strict';
import { backends, finding, findings, pointedAt, service } from './findings.ts';

describe('an invalid path of an endpoint', () => {
  for (const [path, segment] of [
    ['/a?b', '?'],
    ['/a/*/b', '*'],
    ['/user/:id', ':'],
    ['/a/{b.c}/d', '{b.c}'],
    ['/a/{b', '{b'],
    ['/a/{b}{c}', '{b}{c}'],
    ['/x/file.{ext}', '{ext}'],
    ['/{id}/b/{Id}', '{Id}'],
  ] as const) {
    it(`is reported at its invalid segment: ${path}`, () =>
      equal(pointedAt(path, finding(service([{ endpoint: path }]), 'ROUTE_PATH')), segment));
  }
  it('comes with the corrected path as a fix', () => {
    deepEqual(finding(service([{ endpoint: '/u/:id' }]), 'ROUTE_PATH').fix, { value: '/u/{id}' });
    deepEqual(finding(service([{ endpoint: 'u' }]), 'ROUTE_PATH').fix, { value: '/u' });
  });
});

describe('two colliding routes', () => {
  const collision = finding(service([{ endpoint: '/u/{a}' }, { endpoint: '/u/{b}/x' }]), 'ROUTE_COLLISION');

  it('are reported with both places', () => {
    deepEqual([collision.pointer, collision.related], ['/endpoints/1/endpoint', ['/endpoints/0/endpoint']]);
  });
  it('are reported with the conflicting variable', () => equal(pointedAt('/u/{b}/x', collision), '{b}'));

  const inWords = (...paths: string[]) =>
    service(
      paths.map((endpoint) => ({ endpoint })),
      { disable_rest: true },
    );
  it('are reported with a conflicting variable inside a word', () => {
    const result = finding(inWords('/u/{a}-x{b}', '/u/{a}-x{c}/y'), 'ROUTE_COLLISION');
    equal(pointedAt('/u/{a}-x{c}/y', result), '{c}');
    match(result.message, /named '\{c\}' here and '\{b\}' there/);
  });
  it('are not reported if the fixed text around variables differs', () =>
    deepEqual(findings(inWords('/{a}', '/{b}.json', '/{c}-{d}', '/x{e}'), 'ROUTE_COLLISION'), []));
  it('are reported as duplicates if their patterns are equal', () =>
    equal(findings(inWords('/{a}-{b}', '/{a}-{b}'), 'ROUTE_DUPLICATE').length, 1));
});

describe('a placeholder without a value in url_pattern', () => {
  const fault = (pattern: string, endpoint: object = {}) =>
    finding(backends([{ url_pattern: pattern }], endpoint), 'ROUTE_PLACEHOLDER');

  it('is reported at its position', () => equal(pointedAt('/x/{di}/y', fault('/x/{di}/y')), '{di}'));
  it('is reported at its position if the pattern has no leading slash', () =>
    equal(pointedAt('x/{di}', fault('x/{di}')), '{di}'));
  it('is reported with the path that declares the variables', () =>
    deepEqual(fault('/{u}').related, ['/endpoints/0/endpoint']));
  it('comes with a fix if only letter case differs', () => deepEqual(fault('x/{ID}').fix, { value: 'x/{id}' }));
  it('comes with the advice to remove it if a wildcard matches the path', () =>
    equal(
      finding(backends([{ url_pattern: '/x/{rest}' }], { endpoint: '/a/*' }), 'ROUTE_PLACEHOLDER').hint,
      'remove it: the path matched by the wildcard is appended to url_pattern',
    ));
  it('gets no fix for a different word', () => equal(fault('/{di}').fix, undefined));
  it('is reported with the endpoint that should declare it', () =>
    equal(fault('/{user}').message, '{user} is not declared by GET /items/{id}'));
  it('comes with a list of the declared variables', () => equal(fault('/{user}').hint, 'the endpoint declares {id}'));

  it('is reported if it refers to the response of a missing backend', () => {
    const error = fault('/{resp3_x}', { extra_config: { proxy: { sequential: true } } });
    equal(error.message, '{resp3_x} has no value: backend 3 does not exist: the last one is 0');
  });
  it('is reported with the later backend if it refers to the response of that backend', () => {
    const chain = backends([{ url_pattern: '/{resp1_x}' }, {}], { extra_config: { proxy: { sequential: true } } });
    deepEqual(finding(chain, 'ROUTE_PLACEHOLDER').related, [
      '/endpoints/0/backend/1',
      '/endpoints/0/extra_config/proxy/sequential',
    ]);
  });
  it('is reported with the setting for sequential calls if it refers to the response of another backend', () => {
    const error = finding(backends([{}, { url_pattern: '/{resp0_x}' }]), 'ROUTE_PLACEHOLDER');
    equal(error.hint, 'add "extra_config": {"proxy": {"sequential": true}} to the endpoint');
  });
});

describe('an output for a single backend, with several backends', () => {
  it('is reported where it is configured', () => {
    deepEqual(finding(backends([{}, {}], { output_encoding: 'no-op' }), 'OUTPUT_ONE_BACKEND').related, [
      '/endpoints/0/output_encoding',
    ]);
  });
  it('is reported where it is inherited from', () => {
    deepEqual(finding(backends([{}, {}], {}, { output_encoding: 'no-op' }), 'OUTPUT_ONE_BACKEND').related, [
      '/output_encoding',
    ]);
  });
});

describe('an ineffective timeout', () => {
  it("causes a warning if it is longer than the endpoint's", () => {
    const warning = finding(backends([{ timeout: '5s' }], { timeout: '1s' }), 'TIMEOUT_UNUSED');
    deepEqual([warning.pointer, warning.related], ['/endpoints/0/backend/0/timeout', ['/endpoints/0/timeout']]);
  });
  it('is compared with the default of the endpoint', () => {
    deepEqual(finding(backends([{ timeout: '5s' }]), 'TIMEOUT_UNUSED').related, []);
  });
  it('causes no warning if both are equal', () => {
    deepEqual(findings(backends([{ timeout: '2s' }]), 'TIMEOUT_UNUSED'), []);
  });
  it('at the root causes a warning if every endpoint has a shorter one', () => {
    equal(
      finding(backends([{}], {}, { response_header_timeout: '3s' }), 'TIMEOUT_UNUSED').pointer,
      '/response_header_timeout',
    );
    equal(finding(backends([{}], {}, { dialer_timeout: '3s' }), 'TIMEOUT_UNUSED').pointer, '/dialer_timeout');
    deepEqual(findings(backends([{}], { timeout: '4s' }, { dialer_timeout: '3s' }), 'TIMEOUT_UNUSED'), []);
  });
  it('for headers causes a warning if the whole request has less time', () => {
    const fields = { read_timeout: '1s', read_header_timeout: '2s' };
    deepEqual(finding(service([], fields), 'TIMEOUT_UNUSED').related, ['/read_timeout']);
  });
  it('of the service causes a warning if it ends requests before their endpoint', () => {
    deepEqual(finding(service([{ timeout: '5s' }], { write_timeout: '3s' }), 'TIMEOUT_CUT').related, [
      '/write_timeout',
    ]);
  });
});

describe('a backend that points to the gateway itself', () => {
  const loops = (host: string, fields: object = {}, pattern = '/x', backend: object = {}) =>
    findings(backends([{ host: [host], url_pattern: pattern, ...backend }], {}, { port: 8085, ...fields }), 'LOOP');

  it('causes a warning with the port', () => {
    const [warning] = loops('http://localhost:8085');
    deepEqual([warning!.pointer, warning!.related], ['/endpoints/0/backend/0/host/0', ['/port']]);
  });
  for (const host of ['http://127.0.0.1:8085', '127.8.8.8:8085', 'http://[::1]:8085', 'http://0.0.0.0:8085/base']) {
    it(`is recognized by its address: ${host}`, () => equal(loops(host).length, 1));
  }
  it('is recognized by the address that the gateway listens on', () => {
    equal(loops('http://10.1.2.3:8085', { listen_ip: '10.1.2.3' }).length, 1);
    equal(loops('http://localhost:8085', { listen_ip: '10.1.2.3' }).length, 0);
  });
  it('is not reported for another port', () => equal(loops('http://localhost:8086').length, 0));
  it('is not reported for the debug and echo endpoints', () => {
    equal(loops('http://localhost:8085', {}, '/__debug/x').length, 0);
    equal(loops('http://localhost:8085', {}, '/__echo').length, 0);
  });
  it('is not reported if the backend does not call its host', () => {
    const files = { 'backend/static-filesystem': { path: './pages' } };
    equal(loops('http://localhost:8085', {}, '/', { extra_config: files }).length, 0);
    const answered = { extra_config: { 'ai/chat-completions': {} } };
    equal(findings(backends([{ host: ['http://localhost:8080'] }], answered), 'LOOP').length, 0);
  });
  it('is recognized in other spellings of the host', () => {
    for (const host of ['http://[::ffff:127.0.0.1]:8085', 'http://2130706433:8085', 'http://LOCALHOST.:8085']) {
      equal(loops(host).length, 1, host);
    }
  });
  it('is reported once if all endpoints inherit its host', () => {
    const backend = [{ url_pattern: '/x' }];
    const document = service([{ backend }, { backend }], { host: ['http://localhost:8080'] });
    equal(finding(document, 'LOOP').pointer, '/host/0');
  });
});

describe('a backend that points to the admin port', () => {
  const at = (host: string, listen?: string) =>
    findings(
      backends([{ host: [host] }], {}, listen === undefined ? {} : { extra_config: { 'admin/api': { listen } } }),
      'ADMIN_BACKEND',
    );
  const PLACE = '/endpoints/0/backend/0/host/0';

  it('is rejected if its host is the address of the admin port', () => {
    const [error] = at('http://127.0.0.1:7000', '127.0.0.1:7000');
    deepEqual([error!.pointer, error!.related], [PLACE, ['/extra_config/admin~1api/listen']]);
  });
  it('is rejected at the default address of the admin port', () => {
    equal(at('http://localhost:9180')[0]!.pointer, PLACE);
    equal(at('http://localhost:9180', '127.0.0.1:7000').length, 0);
    equal(at('http://localhost:9180', 'off').length, 0);
    equal(at('http://localhost:9180', 'unix:/run/admin.sock').length, 0);
  });
  for (const [host, listen] of [
    ['http://localhost:7000', '127.0.0.1:7000'],
    ['http://127.0.0.1:7000', 'localhost:7000'],
    ['http://[::1]:7000', 'localhost:7000'],
    ['http://0.0.0.0:7000', '127.0.0.1:7000'],
    ['http://[::]:7000', '[::1]:7000'],
    ['http://127.1.2.3:7000', ':7000'],
    ['http://localhost:7000', '0.0.0.0:7000'],
    ['http://[::ffff:7f00:1]:7000', '127.0.0.1:7000'],
    ['http://10.1.2.3:7000', '10.1.2.3:7000'],
    ['http://localhost', 'localhost:80'],
    ['https://localhost', 'localhost:443'],
  ] as const) {
    it(`is recognized as ${host} if the admin port is at ${listen}`, () => equal(at(host, listen).length, 1));
  }
  it('is not reported if the backend does not call its host', () => {
    const files = { 'backend/static-filesystem': { path: './pages' } };
    equal(findings(backends([{ host: ['http://localhost:9180'], extra_config: files }]), 'ADMIN_BACKEND').length, 0);
  });
  it('is accepted at another address or port', () => {
    equal(at('http://127.0.0.2:7000', '127.0.0.1:7000').length, 0);
    equal(at('http://10.1.2.3:7000', '127.0.0.1:7000').length, 0);
    equal(at('http://localhost:7001', '127.0.0.1:7000').length, 0);
  });
  it('is rejected once if all endpoints inherit its host', () => {
    const backend = [{ url_pattern: '/x' }];
    equal(
      finding(service([{ backend }, { backend }], { host: ['http://localhost:9180'] }), 'ADMIN_BACKEND').pointer,
      '/host/0',
    );
  });
});
