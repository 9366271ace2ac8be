import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Site } from '#contract';
import { type CatalogContent, type CatalogFile, type CatalogSource, compiling } from './catalog-files.ts';
import { builtInSet, namesIn } from './descriptor-sets.ts';

/** Time limit of a compiler run, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Maximum number of compiler messages shown. */
const SHOWN_LINES = 5;

/**
 * Returns the descriptor sets of the sources for which the catalog has no set. Compiles them with `protoc` if that is
 * installed; otherwise warns of each source.
 * @throws ConfigError GRPC_CATALOG_SOURCE
 * @throws CatalogError
 */
export function setsOfSources(site: Site<unknown>, { files, sources }: CatalogContent): CatalogFile[] {
  if (sources.length === 0) return [];
  const names = namesIn(files);
  const isDescribed = ({ path }: CatalogSource) => names.some((name) => path === name || path.endsWith(`/${name}`));
  return [...Map.groupBy(sources, ({ root }) => root).values()].flatMap((all) => {
    const lost = all.filter((source) => !isDescribed(source));
    if (lost.length === 0) return [];
    const set = compileSources(site, all, lost);
    if (set) return [set];
    for (const { path, pointer } of lost) {
      const message = `${path} is skipped: it has no descriptor set, and protoc is not installed`;
      site.warn('GRPC_CATALOG_SOURCE', pointer, message, { hint: compiling(path) });
    }
    return [];
  });
}

/**
 * Compiles `.proto` files with `protoc` whenever their content changes. The compiler sees the files as the
 * configuration has read them.
 * @param sources of one directory, to which imports are relative.
 * @param wanted those of them to compile; the others can be imported.
 * @returns null when `protoc` is not installed.
 * @throws ConfigError GRPC_CATALOG_SOURCE
 */
function compileSources(
  site: Site<unknown>,
  sources: readonly CatalogSource[],
  wanted: readonly CatalogSource[],
): CatalogFile | null {
  const hash = createHash('sha256');
  for (const { name, bytes } of sources) hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  for (const { name } of wanted) hash.update(`\0${name}`);
  const [{ root, pointer }] = sources as [CatalogSource];
  const compile = (): Uint8Array => {
    const workspace = mkdtempSync(join(tmpdir(), 'sluice-protoc-'));
    try {
      return run(workspace, sources, wanted);
    } finally {
      rmSync(workspace, { recursive: true, force: true });
    }
  };
  try {
    return { path: root, bytes: site.keep(['protoc', root, hash.digest('base64')], compile) };
  } catch (error) {
    // A missing compiler is not cached, because `protoc` may be installed later.
    if (error instanceof NoCompiler) return null;
    if (!(error instanceof SourceError)) throw error;
    throw site.fault('GRPC_CATALOG_SOURCE', pointer, error.message);
  }
}

class NoCompiler extends Error {}

/** Compiler messages about a source. */
class SourceError extends Error {}

function run(workspace: string, sources: readonly CatalogSource[], wanted: readonly CatalogSource[]): Uint8Array {
  const copies = join(workspace, 'sources');
  for (const { name, bytes } of sources) {
    const copy = join(copies, name);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, bytes);
  }
  // The sources are passed in an argument file, one per line, because there can be very many.
  const broken = wanted.find(({ name }) => /[\r\n]/.test(name));
  if (broken) throw new SourceError(`${JSON.stringify(broken.path)} has a line break in its name`);
  const inputs = wanted.map(({ name }) => `./${name}`);
  const builtIn = join(workspace, 'built-in.pb');
  writeFileSync(builtIn, builtInSet());
  const flags = [
    '--include_imports',
    '--descriptor_set_out=../set.pb',
    `--descriptor_set_in=${builtIn}`,
    '--proto_path=.',
  ];
  writeFileSync(join(workspace, 'arguments'), [...flags, ...inputs].join('\n'));
  const { error, status, stderr } = spawnSync('protoc', ['@../arguments'], {
    cwd: copies,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOENT') throw new NoCompiler();
  const [{ root }] = sources as [CatalogSource];
  if (error) throw new SourceError(`protoc could not compile ${root}: ${error.message}`);
  if (status !== 0) throw new SourceError(complaints(root, stderr));
  return readFileSync(join(workspace, 'set.pb'));
}

/** Compiler messages with the file names used in the configuration. */
function complaints(root: string, stderr: string): string {
  const lines = stderr.trim().split('\n').slice(0, SHOWN_LINES);
  return lines.map((line) => (/^[^\s:]+\.proto:/.test(line) ? join(root, line) : line)).join('\n');
}
