import { equal, match, notEqual, ok } from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { adminTokenFile } from '../../kernel/contract/internal.ts';
import { freePort } from '../support/conditions.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

const entry = (id: string, token: string, ...scopes: string[]) => ({ id, sha256: hash('sha256', token), scopes });

describe('tokens of the admin API', () => {
  let one: TestAdmin;
  afterEach(() => one.close());

  const status = async (token: string) => (await one.ask('/v1/status', { token })).status;

  describe('if none are configured', () => {
    beforeEach(async () => {
      one = await openAdmin(config(), { token: undefined });
    });
    afterEach(() => rmSync(one.stateDirectory, { recursive: true, force: true }));

    const file = () => adminTokenFile(one.stateDirectory, one.admin.address!);

    it('consist of one generated token, in a file that only the user of the gateway can read', async () => {
      equal(statSync(file()).mode & 0o777, 0o600);
      equal(await status(readFileSync(file(), 'utf8').trim()), 200);
    });

    it('are not logged', () => {
      const token = readFileSync(file(), 'utf8').trim();
      ok(!one.lines.some((line) => line.includes(token)));
      ok(one.lines.some((line) => line.includes(file())));
    });

    const read = () => readFileSync(file(), 'utf8').trim();

    /** Restarts the gateway at the same address. @param between runs while the gateway is stopped. */
    const restart = async (between = () => {}): Promise<void> => {
      const { stateDirectory } = one;
      const listen = one.admin.address!;
      await one.admin.close();
      await one.gateway.close();
      between();
      one = await openAdmin(config(), { token: undefined, stateDirectory, listen });
    };

    it('stay the same at the next start at the same address', async () => {
      const first = read();
      await restart();
      equal(read(), first);
      equal(await status(first), 200);
    });

    it('are generated again at the next start if the file was deleted', async () => {
      const first = read();
      const path = file();
      await restart(() => rmSync(path));
      notEqual(read(), first);
      equal(await status(first), 401);
      equal(await status(read()), 200);
    });

    for (const [what, spoil] of [
      ['could be read by others', (path: string) => chmodSync(path, 0o640)],
      ['is empty', (path: string) => writeFileSync(path, '')],
      [
        'is a link',
        (path: string) => {
          renameSync(path, `${path}.elsewhere`);
          symlinkSync(`${path}.elsewhere`, path);
        },
      ],
    ] as const) {
      it(`are generated again at the next start if the file ${what}`, async () => {
        const first = read();
        const path = file();
        await restart(() => spoil(path));
        notEqual(read(), first);
        ok(lstatSync(path).isFile());
        match(one.lines.join('\n'), /WARNING: \[ADMIN\] replacing \S+: it must be a non-empty file with mode 0600/);
        equal(statSync(path).mode & 0o777, 0o600);
        equal(await status(first), 401);
      });
    }

    it('become invalid when their file is deleted, and are generated again by the next reload', async () => {
      const first = read();
      rmSync(file());
      equal(await status(first), 401);
      await one.gateway.reload(config('/b'));
      notEqual(read(), first);
      equal(await status(read()), 200);
    });

    it('stay the same at another address', async () => {
      await one.close();
      const at = async () => ({
        ...config(),
        extra_config: { 'admin/api': { listen: `127.0.0.1:${await freePort()}` } },
      });
      one = await openAdmin(await at(), { token: undefined, listen: undefined });
      const first = read();
      const before = file();
      await one.gateway.reload(await at());
      notEqual(file(), before);
      equal(read(), first);
      equal(await status(first), 200);
    });

    it('are replaced by those that a reload configures', async () => {
      const own = readFileSync(file(), 'utf8').trim();
      await one.gateway.reload({ ...config(), extra_config: { 'admin/api': { tokens: [entry('t', 'new', 'read')] } } });
      equal(await status(own), 401);
      equal(await status('new'), 200);
    });
  });

  it('are not written to a file if they are configured', async () => {
    one = await openAdmin();
    equal(readdirSync(one.stateDirectory).length, 0);
  });

  it('are generated when a reload removes the configured ones', async () => {
    const tokens = [entry('t', 'old', 'read')];
    one = await openAdmin({ ...config(), extra_config: { 'admin/api': { tokens } } }, { token: undefined });
    const file = adminTokenFile(one.stateDirectory, one.admin.address!);
    ok(!existsSync(file));
    await one.gateway.reload(config());
    equal(await status(readFileSync(file, 'utf8').trim()), 200);
    equal(await status('old'), 401);
  });

  it('from the environment take precedence over those of the configuration', async () => {
    one = await openAdmin({ ...config(), extra_config: { 'admin/api': { tokens: [entry('t', 'x', 'read')] } } });
    equal(await status('the-token-of-tests'), 200);
    equal(await status('x'), 401);
  });

  it('that cannot be stored are logged as a problem, and the gateway starts', async () => {
    one = await openAdmin(config(), { token: undefined, stateDirectory: '/dev/null/state' });
    equal((await one.ask('/live')).status, 200);
    match(
      one.lines.join('\n'),
      /ERROR: \[ADMIN\] cannot store the admin token: set --state-dir or GATEWAY_ADMIN_TOKEN/,
    );
  });

  describe('from a file', () => {
    let file: string;
    const open = async (text: string | null) => {
      const other = await openAdmin();
      file = join(other.stateDirectory, 'tokens');
      if (text !== null) writeFileSync(file, text);
      one = await openAdmin(config(), { tokenFile: file });
      const { close } = one;
      one = {
        ...one,
        async close() {
          await close();
          await other.close();
        },
      };
    };

    it('can be one token with every scope', async () => {
      await open('plain\n');
      equal(await status('plain'), 200);
      equal(await status('the-token-of-tests'), 401);
    });

    it('can be a list', async () => {
      await open(JSON.stringify([entry('reader', 'r', 'read'), entry('writer', 'w', 'write')]));
      equal(await status('r'), 200);
      equal(await status('w'), 403);
    });

    it('are replaced as soon as the file changes', async () => {
      await open('one');
      writeFileSync(file, 'another');
      equal(await status('one'), 401);
      equal(await status('another'), 200);
    });

    it('are all rejected while the file is missing, empty or invalid, which is logged', async () => {
      await open('one');
      for (const text of [null, '', '[{"id": "x"}]', '[']) {
        if (text === null) rmSync(file);
        else writeFileSync(file, text);
        equal(await status('one'), 401, String(text));
      }
      equal(one.lines.filter((line) => line.includes('no token is valid')).length, 4);
      writeFileSync(file, 'one');
      equal(await status('one'), 200);
    });

    it('are validated at startup', async () => {
      await open(null);
      match(one.lines.join('\n'), /ERROR: \[ADMIN\] no token is valid: .*ENOENT/);
    });
  });
});
