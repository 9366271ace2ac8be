// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { openGateway, rememberingSinks } from '../../support/gateway.ts';

describe('secrets/file', () => {
  let directory: string;
  let gateway: Operations | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    rmSync(directory, { recursive: true });
  });

  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(directory, name), text);
  const configOf = (value: string, more: object = {}) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/a',
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
        extra_config: { proxy: { static: { strategy: 'always', data: { value } } } },
      },
    ],
    ...more,
  });
  const start = async (value: string, more: object = {}): Promise<void> => {
    gateway = await openGateway(configOf(value, more) as never, { port: 0, sinks: rememberingSinks() });
  };
  const value = async () => (JSON.parse((await gateway!.inject('/a')).payload) as { value: unknown }).value;

  it('reads a text without its last line break', async () => {
    write('token', 'line one\nline two\n');
    await start(`<\${file:${directory}/token}>`);
    equal(await value(), '<line one\nline two>');
  });

  it('reads a field of a JSON file', async () => {
    write('db.json', '{"user": "app", "port": 5432}');
    await start(`\${file:${directory}/db.json#user} \${file:${directory}/db.json#port}`);
    equal(await value(), 'app 5432');
  });

  it('reads a file in a mounted directory', async () => {
    mkdirSync(join(directory, 'db'));
    write('db/password', 'mounted-secret\n');
    mkdirSync(join(directory, 'db', '..data'));
    await start(`\${file:${directory}/db#password}`);
    equal(await value(), 'mounted-secret');
  });

  it('applies a change of a file, even if a symbolic link is replaced, as Kubernetes does', async () => {
    mkdirSync(join(directory, 'one'));
    mkdirSync(join(directory, 'two'));
    write('one/token', 'first-secret');
    write('two/token', 'second-secret');
    symlinkSync(join(directory, 'one'), join(directory, '..data'));
    symlinkSync(join('..data', 'token'), join(directory, 'token'));
    const file = join(directory, 'gateway.json');
    writeFileSync(file, JSON.stringify(configOf(`\${file:${directory}/token}`)));
    gateway = await openGateway(file, { port: 0, sinks: rememberingSinks() });
    await gateway.watch();
    equal(await value(), 'first-secret');
    symlinkSync(join(directory, 'two'), join(directory, '..next'));
    renameSync(join(directory, '..next'), join(directory, '..data'));
    await until(async () => (await value()) === 'second-secret');
    equal(gateway.attempts.list[0]!.trigger, 'watch');
  });

  it('reads only files in the configured directories', async () => {
    mkdirSync(join(directory, 'allowed'));
    write('allowed/token', 'allowed-secret');
    write('other', 'other-secret');
    const more = { extra_config: { 'secrets/file': { directories: [join(directory, 'allowed')] } } };
    await start(`\${file:${directory}/allowed/token}`, more);
    equal(await value(), 'allowed-secret');
    for (const path of [`${directory}/other`, `${directory}/allowed/../other`, `${directory}/allowed-not`]) {
      await rejects(gateway!.reload(configOf(`\${file:${path}}`, more)), /the file is not in the "directories"/);
    }
  });

  for (const [title, content, message] of [
    ['is missing', null, /cannot fetch \$\{file:.*\}: no such file/],
    ['is not UTF-8', Uint8Array.of(0xff, 0xfe), /the file is not UTF-8/],
    ['is larger than 1 MiB', Buffer.alloc(1024 * 1024 + 1, 'x'), /the file is larger than 1048576 bytes/],
  ] as const) {
    it(`rejects a file that ${title}`, async () => {
      if (content) write('token', content);
      await rejects(start(`\${file:${directory}/token}`), message);
    });
  }

  it('does not change the displayed fingerprint of a configuration', async () => {
    write('token', 'first-secret');
    await start(`\${file:${directory}/token}`);
    const { hash } = gateway!.status;
    write('token', 'second-secret');
    await gateway!.reload();
    deepEqual([await value(), gateway!.status.hash], ['second-secret', hash]);
  });
});
