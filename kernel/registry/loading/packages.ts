import { createRequire, findPackageJSON, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '#contract';
import type { FileReader } from './file-reader.ts';

/** Conditions for the exports of a package, as for Node.js's own imports. */
const CONDITIONS: ReadonlySet<string> = new Set(['import', 'node', 'module-sync', 'default']);

/**
 * The file of an installed package, resolved as an import from the working directory would be.
 * @throws Error when it is not installed there, or has no such file.
 */
export function packageEntry(name: string, files: FileReader): string {
  const from = pathToFileURL(join(process.cwd(), 'index.js'));
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(name, from);
  } catch {
    // Not installed: reported below.
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

/** The target of the first condition that applies. */
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
 * Imports a package for a plugin's file: the file that an import would get, including packages that consist of modules.
 * A package with top-level await is loaded from the file that `require` would find.
 * @param importer the plugin's file. @throws the error of Node.js.
 */
export function importPackage(name: string, importer: string): unknown {
  const load = createRequire(importer);
  const parent = pathToFileURL(importer).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, context.parentURL === parent ? { ...context, conditions: [...CONDITIONS] } : context),
  });
  // More frames than usual, so that the plugin's own line is not lost behind those of the loader and of other hooks.
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
