import { equal, rejects } from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../../kernel/values/make-directory.ts';

describe('creating a directory of the gateway', () => {
  it('creates its parents, and gives only its user access', async () => {
    const base = await mkdtemp(join(tmpdir(), 'sluice-directory-'));
    await makeDirectory(join(base, 'a/b/c'));
    await makeDirectory(join(base, 'a/b/c'));
    for (const path of ['a', 'a/b', 'a/b/c']) equal((await stat(join(base, path))).mode & 0o777, 0o700);
    await rm(base, { recursive: true });
  });

  it('fails immediately if the system does not allow it', async function () {
    if (process.platform !== 'linux') this.skip();
    await rejects(makeDirectory('/proc/nope/deeper/still'));
  });
});
