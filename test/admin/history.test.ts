import { deepEqual, equal } from 'node:assert/strict';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('the revision history over the admin API', () => {
  let one: TestAdmin;
  /** Revisions 1 to 4: /a, /b, /c, /d. */
  beforeEach(async () => {
    one = await openAdmin(config('/a'));
    for (const path of ['/b', '/c', '/d']) await put(path);
  });
  afterEach(() => one.close());

  const put = (path: string) => one.ask('/v1/config', { method: 'PUT', body: config(path) });
  const numbers = (body: { revisions: { number: number }[] }) => body.revisions.map(({ number }) => number);
  const rollback = (number: number, query = '', headers = {}) =>
    one.ask(`/v1/revisions/${number}/rollback${query}`, { method: 'POST', headers });

  it('lists the applied revisions, newest first, and marks the active one', async () => {
    const { body } = await one.ask('/v1/revisions');
    deepEqual(numbers(body), [4, 3, 2, 1]);
    deepEqual(
      body.revisions.map(({ active }: { active: boolean }) => active),
      [true, false, false, false],
    );
    equal(body.cursor, null);
    equal('content' in body.revisions[0], false);
  });

  it('is returned in pages with a cursor', async () => {
    const first = (await one.ask('/v1/revisions?limit=3')).body;
    deepEqual(numbers(first), [4, 3, 2]);
    const second = (await one.ask(`/v1/revisions?limit=3&cursor=${first.cursor}`)).body;
    deepEqual([numbers(second), second.cursor], [[1], null]);
  });

  it('continues where the last page ended, even after newer revisions', async () => {
    const first = (await one.ask('/v1/revisions?limit=2')).body;
    await put('/e');
    deepEqual(numbers((await one.ask(`/v1/revisions?limit=2&cursor=${first.cursor}`)).body), [2, 1]);
  });

  it('accepts page sizes from 1 to 500', async () => {
    for (const limit of ['0', '501', 'x', '1.5']) {
      equal((await one.ask(`/v1/revisions?limit=${limit}`)).status, 400, limit);
    }
    equal((await one.ask('/v1/revisions?cursor=none')).status, 400);
  });

  it('returns one revision', async () => {
    const { body } = await one.ask('/v1/revisions/2');
    deepEqual([body.number, body.source, body.result, body.active, body.pinned], [2, 'api', 'applied', false, false]);
  });

  it('returns the configuration of a revision on request', async () => {
    const { body } = await one.ask('/v1/revisions/2?content=true');
    deepEqual(JSON.parse(body.content), config('/b'));
    const listed = (await one.ask('/v1/revisions?content=true&limit=1')).body.revisions[0];
    deepEqual(JSON.parse(listed.content), config('/d'));
  });

  it('is answered 404 for an unknown revision, and 410 for a removed one', async () => {
    await one.gateway.reload({ ...config('/e'), extra_config: { 'admin/api': { revisions: 1 } } });
    for (const [path, method] of [
      ['', 'GET'],
      ['/rollback', 'POST'],
      ['/pin', 'PUT'],
      ['/diff/5', 'GET'],
    ] as const) {
      const gone = await one.ask(`/v1/revisions/2${path}`, { method });
      deepEqual([gone.status, gone.body.type], [410, 'urn:gateway:problem:gone'], path);
      equal((await one.ask(`/v1/revisions/77${path}`, { method })).status, 404, path);
    }
  });

  describe('on rollback', () => {
    it('applies an older revision as a new one', async () => {
      const { status, headers, body } = await rollback(2);
      const { body: second } = await one.ask('/v1/revisions/2');
      deepEqual([status, body.revision, body.hash], [200, 5, second.hash]);
      equal(headers['etag'], `"5-${second.hash.slice(0, 12)}"`);
      const { body: newest } = await one.ask('/v1/revisions/5');
      deepEqual([newest.source, newest.message, newest.actor], ['rollback', 'rollback to revision 2', 'environment']);
    });

    it('records the given message', async () => {
      await rollback(2, '?message=too%20early');
      equal((await one.ask('/v1/revisions/5')).body.message, 'too early');
    });

    it('respects If-Match', async () => equal((await rollback(2, '', { 'if-match': '"2-0"' })).status, 412));

    it('changes nothing in a dry run', async () => {
      equal((await rollback(2, '?dry_run=true')).body.result, 'dry_run');
      equal(one.gateway.status.revision, 4);
    });
  });

  describe('with a pinned revision', () => {
    const pin = (method: 'PUT' | 'DELETE') => one.ask('/v1/revisions/2/pin', { method });

    it('never removes a pinned revision', async () => {
      equal((await pin('PUT')).status, 204);
      await one.gateway.reload({ ...config('/e'), extra_config: { 'admin/api': { revisions: 1 } } });
      deepEqual(numbers((await one.ask('/v1/revisions')).body), [5, 2]);
    });

    it('rejects a pin with a stale If-Match', async () => {
      const headers = { 'if-match': '"1-0"' };
      equal((await one.ask('/v1/revisions/2/pin', { method: 'PUT', headers })).status, 412);
      equal((await one.ask('/v1/revisions/2')).body.pinned, false);
    });

    it('removes a revision once it is unpinned', async () => {
      await pin('PUT');
      equal((await pin('DELETE')).status, 204);
      await one.gateway.reload({ ...config('/e'), extra_config: { 'admin/api': { revisions: 1 } } });
      deepEqual(numbers((await one.ask('/v1/revisions')).body), [5]);
    });
  });

  describe('on comparison', () => {
    const compare = (from: number, to: number) => one.ask(`/v1/revisions/${from}/diff/${to}`);

    it('returns the differences between two revisions, with pointers', async () => {
      const { body } = await compare(1, 2);
      deepEqual(body.endpoints, {
        added: [{ method: 'GET', endpoint: '/b' }],
        changed: [],
        removed: [{ method: 'GET', endpoint: '/a' }],
      });
      deepEqual([body.equal, body.summary], [false, { added: 1, changed: 0, removed: 1 }]);
    });

    it('returns no differences between a revision and itself', async () => {
      const { body } = await compare(2, 2);
      deepEqual([body.equal, body.changes, body.patch], [true, [], []]);
    });
  });

  describe('of attempts', () => {
    it('includes failed attempts with their reason', async () => {
      await one.ask('/v1/config', { method: 'PUT', body: { version: 3, endpoints: 1 } });
      const { body } = await one.ask('/v1/attempts?limit=1');
      const [{ id, result, trigger, actor, problem }] = body.attempts;
      deepEqual([id, result, trigger, actor], [5, 'failed', 'api', 'environment']);
      deepEqual([problem.status, problem.attempt, problem.errors[0].code], [422, 5, 'SCHEMA_TYPE']);
      deepEqual((await one.ask('/v1/attempts/5')).body, body.attempts[0]);
    });

    it('includes successful attempts with their phases', async () => {
      const { body } = await one.ask('/v1/attempts/2');
      deepEqual([body.result, body.problem], ['applied', null]);
      equal(typeof body.phases.validate, 'number');
    });

    it('answers 404 for an unknown attempt', async () => equal((await one.ask('/v1/attempts/77')).status, 404));
  });
});

describe('a configuration compared with the active one over the admin API', () => {
  let one: TestAdmin;
  beforeEach(async () => {
    one = await openAdmin(config('/a', '/b'));
  });
  afterEach(() => one.close());

  const compare = (body: object, query = '') => one.ask(`/v1/config/diff${query}`, { method: 'POST', body });

  it('is equal regardless of the order of its endpoints', async () => {
    const { body } = await compare(config('/b', '/a'));
    deepEqual([body.equal, body.changes, body.streamsAffected], [true, [], 0]);
  });

  it('returns its changes, their pointers and their effect', async () => {
    const text = JSON.stringify({ ...config('/a', '/b'), port: 9999 }, null, 1);
    const { body } = await one.ask('/v1/config/diff', { method: 'POST', body: text });
    const [change] = body.changes;
    deepEqual(
      [change.op, change.pointer, change.from, change.to, change.effect],
      ['replace', '/port', 8080, 9999, 'rebind'],
    );
    equal(change.line, text.split('\n').findIndex((line) => line.includes('9999')) + 1);
    deepEqual(body.patch, [{ op: 'replace', path: '/port', value: 9999 }]);
  });

  it('can be compared with a revision instead', async () => {
    await one.ask('/v1/config', { method: 'PUT', body: config('/c') });
    equal((await compare(config('/a', '/b'), '?against=1')).body.equal, true);
    equal((await compare(config('/a', '/b'))).body.equal, false);
    equal((await compare(config(), '?against=77')).status, 404);
  });

  it('must be valid', async () => {
    const { status, body } = await compare({ version: 3, endpoints: 1 });
    deepEqual([status, body.errors[0].pointer], [422, '/endpoints']);
  });

  it('is built only with level=full', async () => {
    const tls = { certificate: '/none.pem', private_key: '/none.key' };
    const wrong = { ...config(), extra_config: { 'admin/api': { tls } } };
    equal((await compare(wrong)).status, 200);
    equal((await compare(wrong, '?level=full')).status, 422);
  });
});
