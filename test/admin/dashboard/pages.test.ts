import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { config, openAdmin, type TestAdmin } from '../support.ts';

describe('the files of the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pages-'));
  let one: TestAdmin;

  before(() => {
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Sluice</title>');
    writeFileSync(join(folder, 'script-0.js'), 'void 0;');
    writeFileSync(join(folder, 'secret.txt'), 'secret');
  });
  beforeEach(async () => {
    one = await openAdmin(config(), { dashboard: folder });
  });
  afterEach(() => one.close());
  after(() => rmSync(folder, { recursive: true }));

  const read = (path: string, method = 'GET') => one.ask(path, { method, token: null });

  it('are served without a token', async () => {
    const page = await read('/');
    deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    const script = await read('/dashboard/script-0.js');
    deepEqual([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8']);
    match(script.headers['cache-control']!, /immutable/);
    equal((await read('/', 'HEAD')).status, 200);
  });

  it('run only scripts and styles of the gateway, and in no frame', async () => {
    const { headers } = await read('/');
    const policy = String(headers['content-security-policy']);
    ok(!policy.includes('unsafe'), policy);
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
      ok(policy.includes(rule), rule);
    }
    equal(headers['x-frame-options'], 'DENY');
    equal(headers['referrer-policy'], 'no-referrer');
  });

  it('are the only ones that are served', async () => {
    for (const path of ['/dashboard/secret.txt', '/dashboard/..%2fsecret.js', '/dashboard/missing.js', '/dashboard/']) {
      ok([401, 404].includes((await read(path)).status), path);
    }
    equal((await read('/', 'POST')).status, 401);
  });

  it('are not served under a foreign host name, or to another page', async () => {
    const foreign = await one.ask('/', { token: null, headers: { host: 'attacker.example' } });
    equal(foreign.status, 421);
    const framed = await one.ask('/', { token: null, headers: { 'sec-fetch-site': 'cross-site' } });
    equal(framed.status, 403);
  });

  it('are not served if the dashboard is disabled', async () => {
    const off = { ...config(), extra_config: { 'admin/api': { dashboard: false } } };
    await one.gateway.reload(off);
    const { status, body } = await read('/');
    equal(status, 404);
    match(body.detail, /disabled by admin\/api\.dashboard/);
  });

  it('are missing from an installation without them, which says how to build them', async () => {
    await one.close();
    one = await openAdmin(config(), { dashboard: join(folder, 'nothing') });
    const { status, body } = await read('/');
    equal(status, 404);
    match(body.detail, /does not contain the dashboard.*npm run dashboard/);
  });
});
