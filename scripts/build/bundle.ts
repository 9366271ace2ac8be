import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { builtins } from './builtins.ts';
import { makeChecks, withChecks } from './checks.ts';
import { licencesOf } from './licences.ts';
import { packages } from './packages.ts';

/** Folder of the code files, relative to the build folder. */
const CODE = 'lib';

/** Modules that are started or imported by path: the command, the modules that plugin authors import, and the module that contains their code. */
const entries = [
  'kernel/bin',
  'kernel/sluice',
  'kernel/contract/index',
  'kernel/testing/index',
  'kernel/cli/plugin/test-hook',
  'kernel/registry/isolation/program',
  'kernel/server/http2/server',
  'plugins/plugin/isolated/guest',
];

/** Entry points of threads, which share nothing with other code: each is self-contained in its file, or the thread would load the gateway. */
const threads = [
  'kernel/config/syntax/large/parse-thread',
  'kernel/containment/watchdog-thread',
  'kernel/registry/loading/load-watch-thread',
  'plugins/ai/semantic-cache/onnx/model-thread',
  'plugins/auth/basic/comparison-thread',
];

/** Modules bundled into one file each, with all their imports that are not in an earlier one: separate files would take longer to load. */
const groups = [
  { name: 'contract', test: /\/kernel\/contract\/(index|internal)\.ts$/ },
  { name: 'config', test: /\/kernel\/config\/index\.ts$/ },
  {
    name: 'isolation',
    test: /\/kernel\/registry\/(loading\/(module-graph|source-error)|isolation\/(port-line|sent-error|served-files|thread-start))\.ts$/,
  },
  { name: 'command', test: /\/(kernel\/(cli\/main|version)|plugins\/index)\.ts$/ },
  {
    name: 'start',
    test: /\/(kernel\/(cli\/commands\/run|index)|plugins\/(backend\/http\/client\/index|discovery\/static|encoding\/(json|no-op)|server\/(debug|echo|health)))\.ts$/,
  },
];

/**
 * Bundles all modules into few files, which load several times as fast as separate ones. Components stay in files of
 * their own, so that unused ones are not loaded, and shared modules exist once, so that all importers get the same
 * instance. Only packages that every start loads are bundled (`packages.ts`).
 *
 * A file at the path of each entry re-exports it. Configuration checks are generated (`checks.ts`).
 * @param more entries in addition to those of the package.
 */
export async function bundle(folder: string, more: readonly string[] = []): Promise<void> {
  const plugin = withChecks(await makeChecks(), folder);
  const modules = await Promise.all([
    write([...entries, ...more], plugin, folder, {
      groups: groups.map((group, index) => ({ ...group, priority: groups.length - index })),
    }),
    ...threads.map((path) => write([path], plugin, folder, false)),
  ]);
  writeFileSync(join(folder, CODE, 'THIRD-PARTY.txt'), licencesOf(modules.flat()));
  for (const path of [...entries, ...more, ...threads]) {
    const file = join(folder, `${path}.js`);
    const target = relative(dirname(file), join(folder, CODE, `${nameOf(path)}.js`));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${path === 'kernel/bin' ? '#!/usr/bin/env node\n' : ''}export * from '${target}';\n`);
  }
}

/** @returns the paths of the modules that it contains. */
async function write(
  paths: readonly string[],
  plugin: Plugin,
  folder: string,
  codeSplitting: OutputOptions['codeSplitting'],
): Promise<readonly string[]> {
  const build = await rolldown({
    input: Object.fromEntries(paths.map((path) => [nameOf(path), `${path}.ts`])),
    platform: 'node',
    plugins: [builtins, packages, ownPlaces, plugin],
    // A bundled package uses `eval` to create functions that log a deprecation.
    checks: { eval: false },
    logLevel: 'warn',
  });
  const { output } = await build.write({
    dir: join(folder, CODE),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting,
    comments: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  for (const { fileName, code } of chunks) writeFileSync(join(folder, CODE, fileName), ascii(code));
  return chunks.flatMap(({ modules }) => Object.keys(modules));
}

function nameOf(path: string): string {
  return path.replaceAll('/', '-');
}

/** Gives every module its source path as its own location, relative to the build folder. */
const ownPlaces: Plugin = {
  name: 'own-places',
  load(path) {
    if (!path.endsWith('.ts')) return null;
    const text = readFileSync(path, 'utf8');
    if (!text.includes('import.meta.url')) return null;
    const place = relative(resolve('.'), path).replace(/\.ts$/, '.js');
    const own = `new URL(${JSON.stringify(`../${place}`)}, import.meta.url).href`;
    return { code: text.replaceAll('import.meta.url', own), moduleType: 'ts' };
  },
};

/** V8 stores pure ASCII text in half the memory of text with even one other character. */
function ascii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
