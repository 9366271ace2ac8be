import { deepEqual, rejects } from 'node:assert/strict';
import type { Level, Plugin } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin as onBackend } from '../../../plugins/modifier/lua-backend.ts';
import { plugin as onEndpoint } from '../../../plugins/modifier/lua-endpoint.ts';
import { plugin as onProxy } from '../../../plugins/modifier/lua-proxy.ts';
import { createFolder, type Folder } from '../../kernel/cli/command.ts';
import { openHarness } from '../../support/harness.ts';

async function refusalOf(plugin: Plugin, level: Level, config: object): Promise<unknown> {
  let said: unknown;
  await rejects(openHarness(plugin, level, config), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    said = error.errors.map(({ code, pointer, message }) => [code, pointer, message]);
    return true;
  });
  return said;
}

describe('the configuration of Lua scripts', () => {
  let folder: Folder;

  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  it('is rejected if it has a script that takes long to compile', async () => {
    const longest = 'a = 1\n'.repeat(43_690);
    const tooLong = [['LUA_SYNTAX', '/pre', 'the script is longer than 262144 characters']];
    deepEqual(await refusalOf(onProxy, 'endpoint', { pre: `${longest}a = 1` }), tooLong);
    await (await openHarness(onProxy, 'endpoint', { pre: longest })).close();
  });

  it('is rejected if it has invalid code', async () => {
    const places = [
      [onEndpoint, 'service'],
      [onEndpoint, 'endpoint'],
      [onProxy, 'endpoint'],
      [onBackend, 'backend'],
    ] as const;
    for (const [plugin, level] of places) {
      deepEqual(await refusalOf(plugin, level, { pre: 'local x\nx = = 1' }), [
        ['LUA_SYNTAX', '/pre', "unexpected symbol near '=' (pre-script:L2)"],
      ]);
    }
    deepEqual(await refusalOf(onProxy, 'endpoint', { post: 'if x then' }), [
      ['LUA_SYNTAX', '/post', "'end' expected near <eof> (post-script:L1)"],
    ]);
    deepEqual(await refusalOf(onProxy, 'endpoint', { pre: 'end print(1) do' }), [
      ['LUA_SYNTAX', '/pre', "<eof> expected near 'end' (pre-script:L1)"],
    ]);
  });

  it('is rejected if it names files that are not code, do not exist or do not match the checksum', async () => {
    const good = folder.write('good.lua', 'x = 1');
    const bad = folder.write('bad.lua', '\nx = = 1');
    deepEqual(await refusalOf(onProxy, 'endpoint', { sources: [good, bad] }), [
      ['LUA_SYNTAX', '/sources', "unexpected symbol near '=' (bad.lua:L2)"],
    ]);
    const [[code]] = (await refusalOf(onProxy, 'endpoint', { sources: [folder.path('none.lua')] })) as [string[]];
    deepEqual(code, 'FILE_UNREADABLE');
    const wrong = { sources: [good], md5: { [good]: '0'.repeat(32) } };
    deepEqual(await refusalOf(onProxy, 'endpoint', wrong), [
      [
        'LUA_CHECKSUM',
        '/sources/0',
        `the checksum of ${good} is d37ffc54b67ce8de1f01efb1f2e33689, which does not match md5`,
      ],
    ]);
    deepEqual(await refusalOf(onProxy, 'endpoint', { md5: { 'x.lua': '0'.repeat(32) } }), [
      ['LUA_CHECKSUM', '/md5', 'md5 contains x.lua, which sources does not list'],
    ]);
  });

  it('causes warnings about fields without effect', async () => {
    const good = folder.write('good.lua', 'x = 1');
    const warnings = async (plugin: Plugin, config: object) => {
      const gate = await openHarness(plugin, 'endpoint', config);
      await gate.close();
      return gate.warnings.map(({ code, pointer }) => [code, pointer]);
    };
    deepEqual(await warnings(onEndpoint, { pre: 'x = 1', post: 'x = 2', skip_next: true }), [
      ['OPTION_UNUSED', '/post'],
      ['OPTION_UNUSED', '/skip_next'],
    ]);
    deepEqual(await warnings(onProxy, { sources: [good], md5: { [good]: '0'.repeat(32) }, live: true }), [
      ['LUA_UNUSED', '/md5'],
    ]);
  });

  it('reads response data only if there is a post script', async () => {
    const traits = async (config: object) => {
      const gate = await openHarness(onProxy, 'endpoint', config);
      await gate.close();
      return [gate.attached.readsData, gate.attached.terminal];
    };
    deepEqual(await traits({ pre: 'x = 1' }), [undefined, undefined]);
    deepEqual(await traits({ post: 'x = 1' }), ['optional', undefined]);
    deepEqual(await traits({ skip_next: true }), [undefined, true]);
  });
});
