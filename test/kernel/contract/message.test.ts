import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import {
  BackendError,
  type CallError,
  CallError as Failure,
  HeaderBag,
  makeRequest,
  PipeRequest,
  paramKey,
  Query,
  Reply,
  RequestBody,
  refuse,
} from '#contract';

describe('a reply', () => {
  it('with data is complete by default', () => {
    const { status, data, body, complete, skipped, errors } = Reply.data({ a: 1 });
    deepEqual([status, data, body, complete, skipped, errors], [200, { a: 1 }, null, true, false, []]);
    equal(Reply.data(null, false).complete, false);
  });

  it('with bytes has its own status and headers, and no completeness flag', () => {
    const headers = new HeaderBag(['X-A', '1']);
    const bytes = Buffer.from('a');
    const reply = Reply.raw(206, headers, bytes);
    deepEqual(
      [reply.status, reply.headers, reply.body, reply.data, reply.complete],
      [206, headers, bytes, null, false],
    );
  });

  it('with errors has the status of its only error, or 500', () => {
    const errors: CallError[] = [new Failure('A_B', 'x', { view: { status: 418 } }), new Failure('A_B', 'y')];
    equal(Reply.failed(errors[0]!).status, 418);
    equal(Reply.failed(errors[1]!).status, 500);
    equal(Reply.failed(...errors).status, 500);
    deepEqual(Reply.failed(...errors).errors, errors);
  });

  it('counts as failed if it contains only errors', () => {
    const error = new Failure('A_B', 'x');
    equal(Reply.failed(error).failed, true);
    equal(Reply.data({}).failed, false);
    for (const half of [Reply.data({}), Reply.raw(200, new HeaderBag(), Buffer.from(''))]) {
      half.errors = [error];
      equal(half.failed, false);
    }
  });

  it('contains the status that the backend returned', () => {
    equal(Reply.data({}).upstreamStatus, 200);
    equal(Reply.failed(new Failure('A_B', 'x')).upstreamStatus, undefined);
    equal(Reply.failed(new BackendError('A_B', 'x')).upstreamStatus, undefined);
    const errors = [new BackendError('A_B', 'x'), new BackendError('A_B', 'y', { upstreamStatus: 503 })];
    equal(Reply.failed(...errors).upstreamStatus, 503);
  });

  it('that is a rejection has no completeness flag, and the given error', () => {
    const error = new Failure('A_B', 'x');
    const headers = new HeaderBag(['X-A', '1']);
    const plain = refuse(401);
    deepEqual([plain.status, plain.complete, plain.errors, plain.headers.list], [401, null, [], []]);
    const reported = refuse(403, { headers, error });
    deepEqual([reported.status, reported.errors, reported.headers], [403, [error], headers]);
  });
});

describe('a PipeRequest', () => {
  const request = () => {
    const client = makeRequest({ method: 'POST', path: '/a', search: 'x=1' });
    const headers = new HeaderBag(['X-A', '1']);
    return new PipeRequest(client, { Id: '1' }, Query.parse('x=1'), headers, RequestBody.of('b'));
  };

  it('has the method of the client request at first, and no address', () => {
    const { method, origin, target, earlier } = request();
    deepEqual([method, origin, target, earlier], ['POST', '', '', []]);
  });

  it('is copied with everything in it', () => {
    const original = Object.assign(request(), {
      method: 'PUT',
      origin: 'http://a:1',
      target: '/t',
      earlier: [Reply.data({})],
    });
    const copy = original.copy();
    const { client, method, origin, target, params, headers, body, earlier } = copy;
    deepEqual([client, method, origin, target, params], [original.client, 'PUT', 'http://a:1', '/t', { Id: '1' }]);
    deepEqual(
      [headers.list, String(copy.query), body, earlier],
      [['X-A', '1'], 'x=1', original.body, original.earlier],
    );
  });

  it('is not affected by a change of its copy', () => {
    const original = request();
    const copy = original.copy();
    copy.params['Id'] = '2';
    copy.headers.set('X-A', '2');
    copy.query.set('x', '2');
    deepEqual([original.params['Id'], original.headers.get('x-a'), original.query.get('x')], ['1', '1', '1']);
  });

  it('without parameters can be copied, and parameters can be added to the copy', () => {
    const original = new PipeRequest(makeRequest({}), {}, new Query(), new HeaderBag(), null);
    const copy = original.copy();
    copy.query.set('a', '1');
    deepEqual([original.query.size, copy.query.size], [0, 1]);
  });

  it('capitalizes the first letter of path variables', () => {
    deepEqual(['id_user', 'Id', 'x', ''].map(paramKey), ['Id_user', 'Id', 'X', '']);
  });
});

describe('a request that no client has sent', () => {
  it('is for the path / and has no client address by default', () => {
    const { method, path, search, params, headers, ip, host, secure, body } = makeRequest({});
    deepEqual(
      [method, path, search, params, headers.list, ip, host, secure, body],
      [...['GET', '/', '', {}, [], '', '', false, null]],
    );
  });

  it('parses its query once', () => {
    const request = makeRequest({ search: 'a=1' });
    equal(request.query, request.query);
    equal(request.query.get('a'), '1');
  });

  it('can look up the endpoint for its own method or another', () => {
    const asked: string[] = [];
    const find = (method: string, path: string) => {
      asked.push(`${method} ${path}`);
      return null;
    };
    const request = makeRequest({ method: 'PUT', path: '/a' }, find);
    request.match();
    request.match('GET');
    request.with({ path: '/b' }).match();
    deepEqual(asked, ['PUT /a', 'GET /a', 'PUT /b']);
    equal(makeRequest({}).match(), null);
  });

  it('can be forwarded with some parts changed', () => {
    const sections = {
      method: 'POST',
      path: '/a',
      search: 'x=1',
      params: { Id: '1' },
      headers: new HeaderBag(['X-A', '1']),
      ip: '10.0.0.1',
      host: 'h',
      secure: true,
      body: RequestBody.of('b'),
    };
    const request = makeRequest(sections);
    const same = request.with({});
    notEqual(same, request);
    for (const [name, value] of Object.entries(sections)) equal(same[name as keyof typeof sections], value, name);
    const other = request.with({ path: '/b', search: 'y=2', body: null });
    deepEqual([other.path, other.query.get('y'), other.body, other.method], ['/b', '2', null, 'POST']);
    ok(request.body);
  });
});
