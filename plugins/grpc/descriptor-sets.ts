import { createHash } from 'node:crypto';
import { create, createFileRegistry, type DescFile, type FileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import type { CatalogFile } from './catalog-files.ts';

/** Error for an invalid catalog. */
export class CatalogError extends Error {
  /** GRPC_CATALOG_INVALID or GRPC_CATALOG_IMPORT. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const builtIn: ReadonlyMap<string, FileDescriptorProto> = new Map(
  (
    [
      file_google_protobuf_any,
      file_google_protobuf_api,
      file_google_protobuf_descriptor,
      file_google_protobuf_duration,
      file_google_protobuf_empty,
      file_google_protobuf_field_mask,
      file_google_protobuf_source_context,
      file_google_protobuf_struct,
      file_google_protobuf_timestamp,
      file_google_protobuf_type,
      file_google_protobuf_wrappers,
    ] as DescFile[]
  ).map(({ proto }) => [proto.name, proto]),
);

/** Descriptor set of the files that every catalog contains, for compilers. */
export function builtInSet(): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...builtIn.values()] }));
}

/** A file of a descriptor set, under a unique name. */
interface Source {
  readonly file: FileDescriptorProto;
  /** Descriptor set that contains the file. */
  readonly from: string;
  readonly hash: string;
  /** Files of the same set, by the names used in imports. */
  readonly siblings: ReadonlyMap<string, Source>;
}

/**
 * Links the files of several descriptor sets: imports are looked up in the set of a file, then in all sets, then among
 * the well-known types. If a name is defined more than once, the first definition is used.
 * @param warn reports the other definitions.
 * @throws CatalogError
 */
export function linkSets(sets: readonly CatalogFile[], warn: (message: string) => void): FileRegistry {
  const sources: Source[] = [];
  const byName = new Map<string, Source>();
  for (const { path, bytes } of sets) {
    const siblings = new Map<string, Source>();
    for (const file of filesOf(path, bytes)) {
      if (builtIn.has(file.name)) continue;
      const hash = hashOf(file);
      const known = byName.get(file.name);
      const source = known?.hash === hash ? known : { file, from: path, hash, siblings };
      siblings.set(file.name, source);
      if (source === known) continue;
      sources.push(source);
      if (!known) byName.set(file.name, source);
    }
  }
  keepFirst(sources, warn);
  const ordered = new Linking(byName).order(sources);
  try {
    return createFileRegistry({ $typeName: 'google.protobuf.FileDescriptorSet', file: ordered });
  } catch (error) {
    throw new CatalogError('GRPC_CATALOG_INVALID', `the descriptors do not match: ${(error as Error).message}`, error);
  }
}

/** Names of the files in descriptor sets, as in `shop/orders.proto`. @throws CatalogError */
export function namesIn(sets: readonly CatalogFile[]): string[] {
  return sets.flatMap(({ path, bytes }) => filesOf(path, bytes).map(({ name }) => name));
}

function filesOf(path: string, bytes: Uint8Array): FileDescriptorProto[] {
  try {
    const { file: files } = fromBinary(FileDescriptorSetSchema, bytes);
    if (files.length > 0 && files.every(({ name }) => name !== '')) return files;
  } catch (error) {
    throw new CatalogError(
      'GRPC_CATALOG_INVALID',
      `${path} is not a descriptor set: ${(error as Error).message}`,
      error,
    );
  }
  throw new CatalogError('GRPC_CATALOG_INVALID', `${path} contains no descriptors`);
}

/** Hash of a file without comments and source positions. */
function hashOf(file: FileDescriptorProto): string {
  const bytes = toBinary(FileDescriptorProtoSchema, { ...file, sourceCodeInfo: undefined } as FileDescriptorProto);
  return createHash('sha256').update(bytes).digest('base64');
}

/** Removes definitions that an earlier file already contains, and imports that file instead. */
function keepFirst(sources: readonly Source[], warn: (message: string) => void): void {
  const owners = new Map<string, Source>();
  for (const source of sources) {
    const { file } = source;
    const isFirst = ({ name }: { readonly name: string }): boolean => {
      const fullName = file.package === '' ? name : `${file.package}.${name}`;
      const owner = owners.get(fullName) ?? source;
      owners.set(fullName, owner);
      if (owner === source) return true;
      warn(`${fullName} of ${source.from} is ignored, because ${owner.from} already defines it`);
      if (owner.file.name !== file.name && !file.dependency.includes(owner.file.name))
        file.dependency.push(owner.file.name);
      return false;
    };
    file.messageType = file.messageType.filter(isFirst);
    file.enumType = file.enumType.filter(isFirst);
    file.service = file.service.filter(isFirst);
  }
}

/** Sorts files after their imports. */
class Linking {
  readonly #byName: ReadonlyMap<string, Source>;
  readonly #ordered: FileDescriptorProto[] = [];
  readonly #state = new Map<Source | FileDescriptorProto, 'open' | 'done'>();
  readonly #taken = new Set<string>();

  constructor(byName: ReadonlyMap<string, Source>) {
    this.#byName = byName;
  }

  order(sources: readonly Source[]): FileDescriptorProto[] {
    for (const file of builtIn.values()) this.#addBuiltIn(file);
    for (const source of sources) this.#add(source, []);
    return this.#ordered;
  }

  #addBuiltIn(file: FileDescriptorProto): void {
    if (this.#state.has(file)) return;
    this.#state.set(file, 'done');
    for (const name of file.dependency) this.#addBuiltIn(builtIn.get(name)!);
    this.#taken.add(file.name);
    this.#ordered.push(file);
  }

  #add(source: Source, importers: readonly string[]): string {
    const { file } = source;
    const state = this.#state.get(source);
    if (state === 'done') return file.name;
    if (state === 'open') {
      const ring = [...importers.slice(importers.indexOf(file.name)), file.name].join(' → ');
      throw new CatalogError('GRPC_CATALOG_IMPORT', `files import one another in a circle: ${ring}`);
    }
    this.#state.set(source, 'open');
    file.dependency = file.dependency.map((name) => {
      if (builtIn.has(name)) return name;
      const imported = source.siblings.get(name) ?? this.#byName.get(name);
      if (imported) return this.#add(imported, [...importers, file.name]);
      throw new CatalogError(
        'GRPC_CATALOG_IMPORT',
        `${source.from}: ${file.name} imports ${name}, which is in no descriptor set`,
      );
    });
    this.#state.set(source, 'done');
    // The names are made unique, because two sets may contain different files with the same name.
    while (this.#taken.has(file.name)) file.name = `${file.name.replace(/\.proto$/, '')}'.proto`;
    this.#taken.add(file.name);
    this.#ordered.push(file);
    return file.name;
  }
}
