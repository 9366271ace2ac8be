import { join } from 'node:path';
import type { Site } from '#contract';

/** A file of a catalog. */
export interface CatalogFile {
  /** Path as shown in messages. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A `.proto` file in a directory of a catalog. */
export interface CatalogSource {
  readonly path: string;
  /** The directory that the catalog names, and the file's import name within it, as in `shop/orders.proto`. */
  readonly root: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Pointer of the directory in the configuration. */
  readonly pointer: string;
}

/** Files and sources that a catalog names. */
export interface CatalogContent {
  readonly files: CatalogFile[];
  readonly sources: CatalogSource[];
}

/** Maximum depth of directories in a catalog. */
const MAX_DEPTH = 16;
const MAX_FILES = 10_000;

/**
 * Reads the content of a catalog, in order: files as named, and from directories all `.pb` and `.proto` files, at any
 * depth, by name. Watches all of them. Code: `GRPC_CATALOG_FILES`.
 * @throws the error of the file system.
 */
export function readCatalog(site: Site<unknown>, entries: readonly string[]): CatalogContent {
  const content: CatalogContent = { files: [], sources: [] };
  const { files, sources } = content;
  for (const [index, entry] of entries.entries()) {
    const pointer = `/catalog/${index}`;
    const before = files.length;
    if (entry.endsWith('.proto')) throw notCompiled(site, pointer, entry);
    if (!entry.endsWith('.pb') && collect(site, { root: entry, pointer }, '', content, 0)) {
      if (files.length + sources.length > MAX_FILES) {
        throw site.fault('GRPC_CATALOG_FILES', pointer, `more than ${MAX_FILES} files`);
      }
      const isEmpty = files.length === before && !sources.some((source) => source.pointer === pointer);
      if (isEmpty) site.warn('GRPC_CATALOG_FILES', pointer, `${entry} contains no .pb or .proto file`);
    } else {
      files.push({ path: entry, bytes: site.read(entry) });
    }
  }
  return content;
}

/** @param inner path within the root; empty for the root itself. @returns false when it is not a directory. */
function collect(
  site: Site<unknown>,
  top: Pick<CatalogSource, 'root' | 'pointer'>,
  inner: string,
  content: CatalogContent,
  depth: number,
): boolean {
  const { files, sources } = content;
  const names = namesIn(site, join(top.root, inner));
  if (!names) return false;
  for (const each of names) {
    const name = inner === '' ? each : `${inner}/${each}`;
    const path = join(top.root, name);
    if (each.endsWith('.pb')) files.push({ path, bytes: site.read(path) });
    else if (each.endsWith('.proto')) sources.push({ ...top, path, name, bytes: site.read(path) });
    else if (depth < MAX_DEPTH && files.length + sources.length <= MAX_FILES)
      collect(site, top, name, content, depth + 1);
  }
  return true;
}

/** Names of a directory's entries, except those that begin with a dot, in which orchestrators keep their mounts; null when it is not a directory. */
function namesIn(site: Site<unknown>, path: string): string[] | null {
  try {
    return site
      .list(path)
      .filter((name) => !name.startsWith('.'))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

function notCompiled(site: Site<unknown>, pointer: string, path: string): Error {
  return site.fault(
    'GRPC_CATALOG_SOURCE',
    pointer,
    `${path} is a source file: a catalog consists of descriptor sets and directories`,
    {
      hint: `name the directory to which imports are relative, or create a descriptor set: ${compiling(path)}`,
    },
  );
}

/** Hint on how to compile a source to a descriptor set. */
export function compiling(path: string): string {
  return `protoc --include_imports --descriptor_set_out=${path.replace(/\.proto$/, '.pb')} ${path}`;
}
