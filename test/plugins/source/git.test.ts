import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SourceAccess } from '#contract';
import { plugin } from '../../../plugins/source/git.ts';
import { setEnvironment } from '../../support/environment.ts';
import { soon, testSources, textsIn } from '../../support/source-suite.ts';

describe('a configuration in a git repository', () => {
  let repository: string;
  const sources = testSources(plugin);

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', ...args], {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();

  /** Writes files, commits them, and returns the commit. */
  function commit(files: Readonly<Record<string, string>>): string {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, path)), { recursive: true });
      writeFileSync(join(repository, path), text);
    }
    git('add', '.');
    git('commit', '--quiet', '-m', 'change');
    return git('rev-parse', 'HEAD');
  }

  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'sluice-git-test-'));
    git('init', '--quiet', '-b', 'main');
    git('config', 'uploadpack.allowFilter', 'true');
    commit({ 'gateway.json': '{"one":1}', 'eu/gateway.yaml': 'version: 3', 'eu/parts/users.json': '[]' });
  });
  afterEach(async () => {
    await sources.close();
    rmSync(repository, { recursive: true });
  });

  const open = (fragment: string, access: Partial<SourceAccess> = {}, address = `git+file://${repository}`) =>
    sources.open(`${address}#${fragment}`, access);

  it('is a file of a branch', async () => {
    deepEqual(await textsIn(open('main:gateway.json')), { 'gateway.json': '{"one":1}' });
  });

  it('is a folder of a branch, the configuration first', async () => {
    const revision = await open('main:eu').read(soon());
    deepEqual([...revision!.files.keys()], ['gateway.yaml', 'parts/users.json']);
  });

  it('is the whole repository without a path', async () => {
    deepEqual(
      [...(await open('main').read(soon()))!.files.keys()],
      ['gateway.json', 'eu/gateway.yaml', 'eu/parts/users.json'],
    );
  });

  it('has the commit as its version, and the number of commits as its order', async () => {
    const source = open('main:gateway.json');
    const first = await source.read(soon());
    equal(first!.version, git('rev-parse', 'HEAD'));
    equal(first!.order, 1);
    const version = commit({ 'gateway.json': '{"two":2}' });
    const second = await source.read(soon());
    deepEqual([second!.version, second!.order], [version, 2]);
    equal(Buffer.from(second!.files.get('gateway.json')!).toString(), '{"two":2}');
  });

  it('has a smaller order after a reset to an earlier commit', async () => {
    commit({ 'gateway.json': '{"two":2}' });
    const source = open('main:gateway.json');
    equal((await source.read(soon()))!.order, 2);
    git('reset', '--quiet', '--hard', 'HEAD~1');
    equal((await source.read(soon()))!.order, 1);
  });

  it('is absent without the branch, or without the path', async () => {
    equal(await open('other:gateway.json').read(soon()), null);
    equal(await open('main:absent').read(soon()), null);
  });

  it('omits symbolic links, which can name any file of the system', async () => {
    symlinkSync('/etc/passwd', join(repository, 'eu', 'passwd.json'));
    commit({});
    deepEqual(Object.keys((await textsIn(open('main:eu')))!), ['gateway.yaml', 'parts/users.json']);
  });

  it('is rejected if it is larger than the maximum', async () => {
    commit({ 'gateway.json': 'x'.repeat(100_001) });
    await rejects(open('main:gateway.json').read(soon()), /larger than 100000 bytes/);
  });

  it('is rejected if it has more than 200 files', async () => {
    commit(Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`many/${at}.json`, '{}'])));
    await rejects(open('main:many').read(soon()), /has more than 200 files/);
  });

  it('reports a repository that cannot be read, without credentials', async () => {
    const source = open('main:gateway.json', { username: 'ada', password: 'secret' }, 'git+http://127.0.0.1:1/r.git');
    await rejects(source.read(soon()), (error: Error) => {
      match(error.message, /^git fetch failed: .*127\.0\.0\.1/);
      ok(!error.message.includes('secret'));
      return true;
    });
  });

  it('is read from its own copy if git has started the gateway', async () => {
    const restore = setEnvironment({ GIT_DIR: join(repository, '.git'), GIT_WORK_TREE: repository });
    try {
      deepEqual(await textsIn(open('main:gateway.json')), { 'gateway.json': '{"one":1}' });
    } finally {
      restore();
    }
    equal(git('remote'), '');
  });

  it('is fetched over SSH with the user of the address', async () => {
    const log = join(repository, 'ssh.log');
    const restore = setEnvironment({
      GIT_SSH_COMMAND: `sh -c 'echo "$@" > ${log}; exit 1' ssh`,
      GIT_SSH_VARIANT: 'ssh',
    });
    try {
      const source = open('main:gateway.json', { username: 'git' }, 'git+ssh://example.test/gateways.git');
      await rejects(source.read(soon()), /^Error: git fetch failed/);
      match(readFileSync(log, 'utf8'), /git@example\.test git-upload-pack '\/gateways\.git'/);
    } finally {
      restore();
    }
  });

  describe('on an HTTP server', () => {
    let server: Server;
    let requests: { readonly host: string | undefined; readonly authorization: string | undefined }[];

    beforeEach(async () => {
      requests = [];
      server = createServer(({ headers, url }, response) => {
        requests.push({ host: headers.host, authorization: headers.authorization });
        const { port } = server.address() as AddressInfo;
        response.writeHead(302, { Location: `http://localhost:${port}/moved${url}` }).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });

    it('is requested with credentials, which are not sent to the target of a redirect', async () => {
      const { port } = server.address() as AddressInfo;
      const access = { username: 'ada', password: 'secret' };
      const source = open('main:gateway.json', access, `git+http://127.0.0.1:${port}/gateways.git`);
      await rejects(source.read(soon()), /^Error: git fetch failed/);
      const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
      deepEqual(requests, [{ host: `127.0.0.1:${port}`, authorization }]);
    });
  });

  for (const fragment of ['', ':gateway.json', '--upload-pack=evil:x', 'main..other:x', 'a b:x']) {
    it(`is rejected with ${JSON.stringify(fragment)} after the #`, () => {
      throws(() => open(fragment), /ends with a branch and a path/);
    });
  }

  it('ends git when the signal aborts', async () => {
    await rejects(open('main:gateway.json').read(AbortSignal.abort()));
  });
});
