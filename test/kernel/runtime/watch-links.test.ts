import { deepEqual, equal } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWatching, type Watching } from '../../support/watching.ts';

describe('watching the targets of directories and links', () => {
  let at: Watching;
  let mount: string;

  beforeEach(async () => {
    at = await openWatching();
    mount = join(at.home, 'mount');
    await mkdir(mount);
  });

  afterEach(() => at.end());

  /** Publishes files the way the kubelet projects a ConfigMap. */
  const project = async (version: string, files: Readonly<Record<string, string>>): Promise<void> => {
    const data = join(mount, '..data');
    const old = existsSync(data) ? await readlink(data) : null;
    await mkdir(join(mount, `..2026_${version}`));
    for (const [name, text] of Object.entries(files)) await writeFile(join(mount, `..2026_${version}`, name), text);
    await symlink(`..2026_${version}`, join(mount, '..data_tmp'));
    await rename(join(mount, '..data_tmp'), data);
    for (const name of Object.keys(files)) {
      if (!existsSync(join(mount, name))) await symlink(join('..data', name), join(mount, name));
    }
    if (old !== null) await rm(join(mount, old), { recursive: true });
  };

  it('detects every swap of a ConfigMap', async () => {
    const visible = join(mount, 'gateway.json');
    await project('a', { 'gateway.json': '{"a": 1}' });
    await at.start([visible]);
    for (const version of ['b', 'c', 'd', 'e']) {
      await project(version, { 'gateway.json': `{"a": "${version}"}` });
      deepEqual(await at.next(), [visible]);
    }
    equal(at.reported.length, 4);
  });

  it('reports all files of one swap together', async () => {
    await project('a', { 'a.json': '1', 'b.json': '1', 'c.json': '1' });
    await at.start(['a.json', 'b.json', 'c.json'].map((name) => join(mount, name)));
    await project('b', { 'a.json': '2', 'b.json': '1', 'c.json': '2' });
    deepEqual([...(await at.next())].sort(), [join(mount, 'a.json'), join(mount, 'c.json')]);
  });

  it('reports the last of several swaps in a row', async () => {
    const visible = join(mount, 'gateway.json');
    await project('a', { 'gateway.json': '{"a": 1}' });
    const saw = Promise.withResolvers<void>();
    await at.start([visible], {
      async onChange() {
        if ((await readFile(visible, 'utf8')) === '{"a": "h"}') saw.resolve();
      },
    });
    for (const version of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      await project(version, { 'gateway.json': `{"a": "${version}"}` });
    }
    await saw.promise;
  });

  it('reports nothing if a swap brings the same content', async () => {
    const visible = join(mount, 'gateway.json');
    await project('a', { 'gateway.json': '{"a": 1}' });
    await at.start([visible, at.file]);
    await project('b', { 'gateway.json': '{"a": 1}' });
    await at.nothingElseThan(at.file);
  });

  it('follows a link replaced by ln -sfn', async () => {
    for (const version of ['v1', 'v2', 'v3']) {
      await mkdir(join(at.home, version));
      await writeFile(join(at.home, version, 'gateway.json'), `{"at": "${version}"}`);
    }
    const current = join(at.home, 'current');
    await symlink('v1', current);
    const visible = join(current, 'gateway.json');
    await at.start([visible]);
    for (const version of ['v2', 'v3']) {
      await rm(current);
      await symlink(join(at.home, version), current);
      deepEqual(await at.next(), [visible]);
    }
    await writeFile(join(at.home, 'v3', 'gateway.json'), '{"written": "through"}');
    deepEqual(await at.next(), [visible]);
  });

  it('detects a file whose directory was removed and created again', async () => {
    const file = join(mount, 'gateway.json');
    await writeFile(file, '{"a": 1}');
    await at.start([file], { times: { patienceMs: 100 } });
    for (const number of [2, 3]) {
      await rm(mount, { recursive: true });
      deepEqual(await at.next(), [file]);
      await mkdir(mount);
      await writeFile(file, `{"a": ${number}}`);
      deepEqual(await at.next(), [file]);
    }
    await writeFile(file, '{"a": 4}');
    deepEqual(await at.next(), [file]);
  });

  it('detects a directory that replaces another', async () => {
    const file = join(mount, 'gateway.json');
    await writeFile(file, '{"a": 1}');
    await mkdir(join(at.home, 'next'));
    await writeFile(join(at.home, 'next', 'gateway.json'), '{"a": 2}');
    await at.start([file]);
    await rename(mount, join(at.home, 'before'));
    await rename(join(at.home, 'next'), mount);
    deepEqual(await at.next(), [file]);
    await writeFile(file, '{"a": 3}');
    deepEqual(await at.next(), [file]);
  });

  it('detects a file in directories that did not exist before', async () => {
    const file = join(at.home, 'x', 'y', 'z.json');
    await at.start([file]);
    await mkdir(join(at.home, 'x', 'y'), { recursive: true });
    await writeFile(file, '{}');
    deepEqual(await at.next(), [file]);
  });

  it('detects files that are added to or removed from a directory, except temporary files of editors', async () => {
    await at.start([mount, at.file]);
    await writeFile(join(mount, '.gateway.json.swp'), 'x');
    await at.nothingElseThan(at.file);
    await writeFile(join(mount, 'new.json'), '{}');
    deepEqual(await at.next(), [mount]);
    await rm(join(mount, 'new.json'));
    deepEqual(await at.next(), [mount]);
  });
});
