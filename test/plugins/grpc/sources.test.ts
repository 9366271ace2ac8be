import { deepEqual, equal, match } from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { INSTALLATION_MS, isInstalled } from '../../support/debian.ts';
import { startGateway } from '../../support/gateway.ts';
import { SHOP, startGrpc } from '../../support/grpc/server.ts';

const SOURCE = SHOP.replace(/pb$/, 'proto');

describe('proto sources in the grpc catalog', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-grpc-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (name: string, text: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const service = (catalog: readonly string[], host = 'a:1') => ({
    version: 3,
    extra_config: { grpc: { catalog } },
    endpoints: [
      {
        endpoint: '/f',
        backend: [{ host: [host], url_pattern: '/shop.Shop/Find', extra_config: { 'backend/grpc': {} } }],
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

  describe('with protoc (apt install protobuf-compiler)', function () {
    this.timeout(INSTALLATION_MS);
    before(function () {
      if (!isInstalled('protoc', 'protobuf-compiler')) this.skip();
    });

    it('are compiled, with imports from the configured directory', async () => {
      cpSync(SOURCE, join(folder, 'shop.proto'));
      put('common/money.proto', 'syntax = "proto3"; package common; message Money { int64 units = 1; }');
      put(
        'more/orders.proto',
        'syntax = "proto3"; import "common/money.proto"; message Order { common.Money sum = 1; }',
      );
      deepEqual(await reported([folder]), []);
    });

    it('are compiled in addition to descriptor sets, unless a set contains them', async () => {
      cpSync(SHOP, join(folder, 'shop.pb'));
      put('shop.proto', 'this is another version, which nobody looks at');
      deepEqual(await reported([folder]), []);
    });

    it('are rejected with the file, line and message of the compiler', async () => {
      cpSync(SHOP, join(folder, 'shop.pb'));
      put('a/broken.proto', 'syntax = "proto3";\nmessage Broken { strin name = 1; }\n');
      const [error, ...others] = await reported([folder]);
      match(error!, /^GRPC_CATALOG_SOURCE: .*\/a\/broken\.proto:2:18: "strin" is not defined/);
      deepEqual(others, []);
    });

    it('are compiled once protoc is installed', async () => {
      cpSync(SOURCE, join(folder, 'shop.proto'));
      const path = process.env['PATH'];
      process.env['PATH'] = folder;
      const config = { ...service([SHOP, folder]), endpoints: [] };
      put('other.proto', 'syntax = "proto3";');
      const gateway = await startGateway(config);
      const codes = () => gateway.status.warnings.map(({ code }) => code);
      try {
        deepEqual(codes(), ['GRPC_CATALOG_SOURCE']);
        process.env['PATH'] = path;
        await gateway.reload({ ...config, name: 'again' });
        deepEqual(codes(), []);
      } finally {
        process.env['PATH'] = path;
        await gateway.close();
      }
    });

    it('are rejected if their name contains a line break', async () => {
      cpSync(SHOP, join(folder, 'shop.pb'));
      put('a\n--version.proto', 'syntax = "proto3";');
      match(
        (await reported([folder]))[0]!,
        /^GRPC_CATALOG_SOURCE: ".*\\n--version\.proto" has a line break in its name/,
      );
    });

    it('are never interpreted as compiler options, regardless of their names', async () => {
      cpSync(SHOP, join(folder, 'shop.pb'));
      put('--version.proto', 'syntax = "proto3"; message A {}');
      put('a b.proto', 'syntax = "proto3"; message B {}');
      deepEqual(await reported([folder]), []);
    });

    it('are compiled again automatically when one of them changes', async () => {
      const server = await startGrpc({ Find: (_call, answer) => answer(null, { id: 'x', note: 'new' }) });
      const source = (fields: string) =>
        `syntax = "proto3"; package shop; service Shop { rpc Find(Req) returns (Res); } message Req {} message Res {${fields}}`;
      put('shop.proto', source('string id = 1;'));
      const config = join(folder, 'gateway.json');
      writeFileSync(config, JSON.stringify(service([folder], server.host)));
      const gateway = await createGateway(config, { port: 0, sinks: silentSinks });
      try {
        const ask = async () => (await gateway.inject({ url: '/f' })).body;
        match(await ask(), /^\{"id":"x"/);
        await gateway.watch();
        put('shop.proto', source('string key = 1;'));
        await until(async () => /^\{"key":"x"/.test(await ask()));
      } finally {
        await gateway.close();
        await server.close();
      }
    });
  });

  it('cause a warning without protoc', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = folder;
    try {
      cpSync(SHOP, join(folder, 'shop.pb'));
      put('other.proto', 'syntax = "proto3";');
      const [warning, ...others] = await reported([folder]);
      match(warning!, /^GRPC_CATALOG_SOURCE: .*other\.proto is skipped: it has no descriptor set, and protoc is not/);
      deepEqual(others, []);
    } finally {
      process.env['PATH'] = path;
    }
  });

  it('must be directories, not files', async () => {
    equal((await reported([SOURCE])).length > 0, true);
    match((await reported([SOURCE]))[0]!, /^GRPC_CATALOG_SOURCE: .*shop\.proto is a source/);
  });
});
