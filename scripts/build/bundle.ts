import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { builtins } from './builtins.ts';
import { makeChecks, withChecks } from './checks.ts';

/** Folder of the files that hold the code, below the one that is built. */
const CODE = 'lib';

/** What is started or imported by its path: the command, what authors import, programs of threads. */
const entries = [
  'kernel/bin',
  'kernel/sluice',
  'kernel/contract/index',
  'kernel/testing/index',
  'kernel/cli/plugin/test-hook',
  'kernel/containment/watchdog-thread',
  'kernel/registry/isolation/program',
  'plugins/auth/basic/comparison-thread',
  'plugins/plugin/isolated/guest',
];

/**
 * Joins all modules into few files, which are loaded several times as fast as one for each. A component that no configuration
 * names stays in files of its own, and what several need stands in one place: whoever imports a part gets the one that
 * everybody has. Packages are no part of it: they stay what is installed.
 *
 * At the path of each entry stands a file that leads to it. What a configuration is checked with is generated (`checks.ts`).
 */
export async function bundle(folder: string): Promise<void> {
  await build({
    entryPoints: Object.fromEntries(entries.map((path) => [nameOf(path), `${path}.ts`])),
    outdir: join(folder, CODE),
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    plugins: [ownPlaces, builtins, withChecks(await makeChecks(), folder)],
    logLevel: 'warning',
  });
  for (const path of entries) {
    const file = join(folder, `${path}.js`);
    const target = relative(dirname(file), join(folder, CODE, `${nameOf(path)}.js`));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${path === 'kernel/bin' ? '#!/usr/bin/env node\n' : ''}export * from '${target}';\n`);
  }
}

function nameOf(path: string): string {
  return path.replaceAll('/', '-');
}

/** Lets every module know itself by the path that it has in the source, below the folder that is built. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = relative(resolve('.'), path).replace(/\.ts$/, '.js');
      const own = `new URL(${JSON.stringify(`../${place}`)}, import.meta.url).href`;
      return { contents: text.replaceAll('import.meta.url', own), loader: 'ts' };
    });
  },
};
