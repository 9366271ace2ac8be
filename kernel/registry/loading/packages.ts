import { createRequire, findPackageJSON, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '#contract';
import type { FileReader } from './file-reader.ts';

/** Conditions under which a package names its files, as of Node's own imports. */
const CONDITIONS: ReadonlySet<string> = new Set(['import', 'node', 'module-sync', 'default']);

/**
 * The file of an installed package, found as an import from the working directory would find it.
 * @throws Error when it is not installed there, or has no such file.
 */
export function packageEntry(name: string, files: FileReader): string {
  const from = pathToFileURL(join(process.cwd(), 'index.js'));
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(name, from);
  } catch {
    // Not installed: said below.
  }
  if (manifest === undefined) throw new Error(`package "${name}" is not installed in ${process.cwd()}`);
  const { exports, main } = JSON.parse(Buffer.from(files.read(manifest)).toString('utf8')) as Record<string, unknown>;
  const entry =
    exports === undefined
      ? (main ?? 'index.js')
      : exportOf(isObject(exports) && '.' in exports ? exports['.'] : exports);
  if (typeof entry !== 'string') throw new Error(`package "${name}" exports nothing that can be imported`);
  return join(dirname(manifest), entry);
}

/** What the first condition that holds names. */
function exportOf(target: unknown): unknown {
  if (Array.isArray(target)) return target.map(exportOf).find((entry) => entry !== undefined);
  if (!isObject(target)) return target;
  for (const condition in target) {
    const entry = CONDITIONS.has(condition) ? exportOf(target[condition]) : undefined;
    if (typeof entry === 'string') return entry;
  }
  return undefined;
}

/**
 * What a plugin's file gets of a package: the file that an import would get, of a package that is made of modules too. One that
 * waits at its top level is loaded as `require` would find it.
 * @param importer the plugin's file. @throws the error of Node.js.
 */
export function importPackage(name: string, importer: string): unknown {
  const load = createRequire(importer);
  const parent = pathToFileURL(importer).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, context.parentURL === parent ? { ...context, conditions: [...CONDITIONS] } : context),
  });
  // The plugin's own line must not be lost behind the frames of the loader and of other hooks.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  try {
    return load(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    hooks.deregister();
  }
  return load(name);
}
