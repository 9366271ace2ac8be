import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imports } from './imports.ts';

/** Sources that a build can contain, or that make it. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  ...['kernel', 'admin', 'plugins', 'scripts', 'test/support'].map((room) => `${room}/**/*.ts`),
];

/** Builds that were made this long ago are removed, in milliseconds. */
const OLD_MS = 24 * 3_600_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Folder of the builds, from which packages of `node_modules` can be imported. */
const cache = join(root, 'node_modules/.cache/sluice');

const builds = new Map<string, Promise<string>>();

/**
 * The bundled code of the package, built once for the same sources and shared by all processes of a test run. Processes
 * that start from it use a third of the processor time of those that start from sources.
 * @param more modules that are bundled as well, such as `test/support/worker`.
 * @returns the folder `dist`, next to the package's own `package.json`. Callers must not modify it.
 */
export function built(more: readonly string[] = []): Promise<string> {
  const key = more.join();
  const build = builds.get(key) ?? buildOnce(more);
  builds.set(key, build);
  return build;
}

async function buildOnce(more: readonly string[]): Promise<string> {
  const folder = join(cache, digestOf(more));
  const dist = join(folder, 'dist');
  if (existsSync(folder)) return dist;
  mkdirSync(cache, { recursive: true });
  removeOld();
  const own = mkdtempSync(join(cache, 'new-'));
  const { bundle } = await import('./bundle.ts');
  await bundle(join(own, 'dist'), more);
  writeFileSync(join(own, 'dist/package.json'), JSON.stringify({ type: 'module', imports }));
  copyFileSync(join(root, 'package.json'), join(own, 'package.json'));
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another process has already built the code.
    rmSync(own, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return dist;
}

function digestOf(more: readonly string[]): string {
  const hash = createHash('sha256').update(process.version).update(JSON.stringify(more));
  for (const file of globSync(SOURCES, { cwd: root }).sort()) {
    const text = readFileSync(resolve(root, file));
    hash.update(`${file}\0${text.length}\0`).update(text);
  }
  return hash.digest('hex').slice(0, 16);
}

function removeOld(): void {
  for (const name of globSync('*', { cwd: cache })) {
    const path = join(cache, name);
    if (statSync(path).mtimeMs < Date.now() - OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}
