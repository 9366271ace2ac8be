import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A JSON Schema object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema and the document that its local references refer to. */
export interface Node {
  readonly schema: JsonSchema;
  readonly document: Document;
}

interface Document {
  /** Absolute path of the file; empty for a document in memory. */
  readonly file: string;
  readonly root: JsonSchema;
}

/** Resolves references within one document, and between the files of a folder. */
export class SchemaReader {
  readonly #documents = new Map<string, Document | undefined>();
  readonly #missing = new Set<string>();

  /** Referenced files that do not exist, sorted. */
  get missing(): readonly string[] {
    return [...this.#missing].sort();
  }

  /** Number of files that were read. */
  get files(): number {
    return [...this.#documents.values()].filter((document) => document !== undefined).length;
  }

  /** Files of a folder that were not read, relative to it and sorted. */
  unreadIn(folder: string): readonly string[] {
    return globSync('**/*.json', { cwd: folder })
      .filter((file) => !this.#documents.has(resolve(folder, file)))
      .sort();
  }

  /** @throws Error if the file does not exist. */
  open(file: string): Node {
    const document = this.#read(resolve(file));
    if (!document) throw new Error(`${file} does not exist`);
    return this.resolved({ schema: document.root, document });
  }

  /** Follows `$ref` and `allOf` of one reference; keywords next to a reference win over those of its target. */
  resolved(node: Node): Node {
    const seen = new Set<JsonSchema>();
    let { schema, document } = node;
    for (let reference = referenceIn(schema); reference !== undefined; reference = referenceIn(schema)) {
      if (seen.has(schema)) return { schema: {}, document };
      seen.add(schema);
      const target = this.#target(reference, document);
      const { $ref: _reference, allOf: _parts, ...rest } = schema;
      if (!target) return { schema: rest, document };
      document = target.document;
      schema = Object.keys(rest).length === 0 ? target.schema : { ...target.schema, ...rest };
    }
    return { schema, document };
  }

  #target(reference: string, from: Document): Node | undefined {
    const [path, pointer = ''] = reference.split('#') as [string, string?];
    const document = path === '' ? from : this.#read(join(dirname(from.file), path));
    const schema = document && at(document.root, pointer);
    if (!isSchema(schema)) {
      this.#missing.add(path === '' ? reference : path);
      return undefined;
    }
    return { schema, document: document! };
  }

  #read(file: string): Document | undefined {
    if (!this.#documents.has(file)) {
      const root = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as JsonSchema) : undefined;
      this.#documents.set(file, root && { file, root });
    }
    return this.#documents.get(file);
  }
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The reference of a schema: its own, or that of the only part of its `allOf`. */
function referenceIn({ $ref, allOf }: JsonSchema): string | undefined {
  if (typeof $ref === 'string') return $ref;
  const [part, ...others] = Array.isArray(allOf) ? (allOf as JsonSchema[]) : [];
  return others.length === 0 && typeof part?.['$ref'] === 'string' ? part['$ref'] : undefined;
}

function at(root: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<unknown>((held, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return isSchema(held) && Object.hasOwn(held, name) ? held[name] : undefined;
  }, root);
}
