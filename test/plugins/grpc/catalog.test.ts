import { deepEqual, equal, match } from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorSet, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';
import { OLD, SHOP, startGrpc } from '../../support/grpc/server.ts';

describe('the grpc catalog', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-grpc-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const at = (name: string) => join(folder, name);
  const put = (name: string, content: string | Uint8Array) => {
    writeFileSync(at(name), content);
    return at(name);
  };
  const read = (path = SHOP): FileDescriptorSet => fromBinary(FileDescriptorSetSchema, readFileSync(path));
  const write = (name: string, set: Pick<FileDescriptorSet, 'file'>) => {
    writeFileSync(at(name), toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, set as never)));
    return at(name);
  };
  const service = (catalog: readonly string[]) => ({
    version: 3,
    extra_config: { grpc: { catalog } },
    endpoints: [
      {
        endpoint: '/f',
        backend: [
          {
            host: ['a:1'],
            url_pattern: '/shop.Shop/Find',
            extra_config: { 'backend/grpc': { output_remove_unset_values: true } },
          },
        ],
      },
    ],
  });
  /** Codes and texts of the errors, or of the warnings of a valid configuration. */
  const reported = async (catalog: readonly string[]): Promise<string[]> => {
    try {
      const gateway = await startGateway(service(catalog));
      const texts = gateway.status.warnings.map(({ code, message }) => `${code}: ${message}`);
      await gateway.close();
      return texts;
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors.map(({ code, message }) => `${code}: ${message}`);
    }
  };

  it('searches directories at any depth, except hidden ones', async () => {
    mkdirSync(at('a/b.c'), { recursive: true });
    mkdirSync(at('..data'));
    cpSync(SHOP, at('a/b.c/shop.pb'));
    writeFileSync(at('..data/bad.pb'), 'bad');
    writeFileSync(at('a/README'), 'no descriptors');
    deepEqual(await reported([folder]), []);
  });

  it('reads a descriptor set with any file name', async () => {
    cpSync(SHOP, at('shop.bin'));
    deepEqual(await reported([at('shop.bin')]), []);
  });

  it('resolves imports across descriptor sets', async () => {
    const { file } = read();
    const service = file.find(({ name }) => name === 'shop.proto')!;
    const kinds = create(FileDescriptorSetSchema, {
      file: [{ name: 'kinds.proto', package: 'shop', syntax: 'proto3', enumType: service.enumType } as never],
    }).file;
    const rest = { ...service, enumType: [], dependency: [...service.dependency, 'kinds.proto'] };
    deepEqual(await reported([write('b.pb', { file: [rest] as never }), write('a.pb', { file: kinds })]), []);
    const [unresolved, ...others] = await reported([at('b.pb')]);
    match(
      unresolved!,
      /^GRPC_CATALOG_IMPORT: .*b\.pb: shop\.proto imports kinds\.proto, which is in no descriptor set/,
    );
    match(String(others), /GRPC_CATALOG|^$/);
  });

  it('reads a duplicate file once, and uses the first of two definitions of a name', async () => {
    cpSync(SHOP, at('again.pb'));
    deepEqual(await reported([SHOP, at('again.pb')]), []);
    const [wide] = read().file.filter(({ name }) => name === 'shop.proto');
    wide!.messageType = wide!.messageType.filter(({ name }) => name !== 'Geo' && name !== 'Everything');
    wide!.service[0]!.method = [];
    const warnings = await reported([SHOP, write('other.pb', { file: [wide!] })]);
    deepEqual(
      warnings.map((text) => /^GRPC_CATALOG_TWICE: (\S+) of/.exec(text)?.[1]),
      ['shop.Req', 'shop.Res', 'shop.Kind', 'shop.Shop'],
    );
  });

  it('distinguishes different files with the same name', async () => {
    const set = read();
    const other = { ...set.file.at(-1)!, package: 'other', service: [], messageType: [], enumType: [], dependency: [] };
    deepEqual(await reported([SHOP, write('other.pb', { file: [other] as never })]), []);
  });

  for (const [what, make, expected] of [
    ['a file that does not exist', () => at('no.pb'), /^FILE_UNREADABLE|GRPC_CATALOG/],
    ['a directory that does not exist', () => at('no'), /^FILE_UNREADABLE|GRPC_CATALOG/],
    ['a proto source file', () => at('shop.proto'), /^GRPC_CATALOG_SOURCE: .*shop\.proto is a source/],
    ['an empty file', () => put('empty.pb', ''), /^GRPC_CATALOG_INVALID: .*contains no descriptors/],
    ['a text file', () => put('text.pb', 'syntax = "proto3";'), /^GRPC_CATALOG_INVALID/],
    ['a truncated descriptor set', () => put('cut.pb', readFileSync(SHOP).subarray(0, 2000)), /^GRPC_CATALOG_INVALID/],
  ] as const) {
    it(`is rejected if it contains ${what}`, async () => match((await reported([make()]))[0]!, expected));
  }

  it('is rejected if its files import each other in a circle', async () => {
    const { file } = create(FileDescriptorSetSchema, {
      file: [
        { name: 'a.proto', dependency: ['b.proto'] },
        { name: 'b.proto', dependency: ['a.proto'] },
      ] as never,
    });
    match(
      (await reported([write('ring.pb', { file })]))[0]!,
      /GRPC_CATALOG_IMPORT: files import one another in a circle: a\.proto → b\.proto → a\.proto/,
    );
  });

  it('warns about a directory without descriptor sets', async () => {
    match((await reported([SHOP, folder]))[0]!, /^GRPC_CATALOG_FILES: .* contains no \.pb or \.proto file/);
  });

  it('is reloaded automatically when a file in a directory is added, changed or removed', async () => {
    const server = await startGrpc({ Find: (_call, answer) => answer(null, { id: 'x', note: 'new' }) });
    const set = read();
    const res = set.file.at(-1)!.messageType.find(({ name }) => name === 'Res')!;
    const { field } = res;
    res.field = field.slice(0, 1);
    write('shop.pb', set);
    const config = service([folder]);
    Object.assign(config.endpoints[0]!.backend[0]!, { host: [server.host] });
    const gateway = await createGateway(put('gateway.json', JSON.stringify(config)), { port: 0, sinks: silentSinks });
    try {
      const ask = async () => (await gateway.inject({ url: '/f' })).body;
      equal(await ask(), '{"id":"x"}');
      await gateway.watch();
      res.field = field;
      write('shop.pb', set);
      await until(async () => (await ask()) === '{"id":"x","note":"new"}');
      const { hash } = gateway.status;
      cpSync(OLD, at('old.pb'));
      await until(() => gateway.status.hash !== hash);
      rmSync(at('old.pb'));
      await until(() => gateway.status.hash === hash);
    } finally {
      await gateway.close();
      await server.close();
    }
  });
});
