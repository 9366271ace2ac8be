import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, isObject, setKey } from '#contract';
import { lookUp, stepsOf } from '../../lib/references.ts';
import { toDialect30 } from './dialect-3-0.ts';
import { toDialect31 } from './dialect-3-1.ts';
import { mapSchemas } from './schema-walk.ts';

/** Supported versions of OpenAPI. */
export type OpenApiVersion = '3.0' | '3.1';

const SHARED = '#/components/schemas/';

/** Dialect of the returned schemas. */
type SchemaVersion = OpenApiVersion | 'as written';

/** The named schemas of a document: declared ones, and the targets of references inside other schemas. */
export class Schemas {
  readonly #named: DataObject = {};
  /** Source of each named schema, to recognize equal ones. */
  readonly #sources = new Map<string, Data>();
  readonly #version: SchemaVersion;
  /** Names of reference targets, by document, assigned before anything is translated. */
  readonly #references = new WeakMap<object, Map<string, string>>();
  /** Translations of named schemas that are postponed: chains of references could exceed the stack. */
  readonly #waiting: (() => void)[] = [];

  /** @param version `as written` when a document is imported. @param declared schemas by name. */
  constructor(version: SchemaVersion, declared: Readonly<DataObject>) {
    this.#version = version;
    // All names are reserved before the first schema is translated, because schemas refer to each other.
    for (const [name, schema] of Object.entries(declared)) {
      setKey(this.#named, name, schema);
      this.#sources.set(name, schema);
    }
    if (version === 'as written') return;
    for (const [name, schema] of Object.entries(declared)) setKey(this.#named, name, this.add(schema, name));
  }

  /** Schemas by name, in order. */
  get named(): Readonly<DataObject> {
    return this.#named;
  }

  static reference(name: string): DataObject {
    return { $ref: SHARED + name };
  }

  /**
   * Translates a schema of any draft to the document's dialect. Targets of its internal references become named
   * schemas.
   * @param name prefix of those names. @param root the document that internal references are relative to.
   */
  add(schema: Data, name: string, root: Data = schema): Data {
    const names = isObject(root)
      ? (this.#references.get(root) ?? new Map<string, string>())
      : new Map<string, string>();
    if (isObject(root)) this.#references.set(root, names);
    const translation = new Translation(root, name, this.#version, names, (wished, source) => {
      const { name: own, isNew } = this.#take(wished, source);
      if (isNew) this.#waiting.push(() => setKey(this.#named, own, translation.translate(source)));
      return own;
    });
    const translated = translation.translate(schema);
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) next();
    return translated;
  }

  /** Reserves a name for a schema, or returns that of an equal schema without references: in a different document, references would have different targets. */
  #take(wished: string, source: Data): { readonly name: string; readonly isNew: boolean } {
    const base = wished.replace(/[^\w.-]+/g, '_') || 'Schema';
    const isPlain = !JSON.stringify(source).includes('"$ref"');
    let name = base;
    for (let count = 2; Object.hasOwn(this.#named, name); count++) {
      if (isPlain && isDeepStrictEqual(this.#sources.get(name), source)) return { name, isNew: false };
      name = `${base}_${count}`;
    }
    setKey(this.#named, name, {});
    this.#sources.set(name, source);
    return { name, isNew: true };
  }
}

const dialects: Readonly<Record<SchemaVersion, (schema: DataObject | boolean) => Data>> = {
  '3.0': toDialect30,
  '3.1': toDialect31,
  'as written': (schema) => schema,
};

/** Schedules the translation of a schema under a name. @returns the name. */
type Hoist = (wished: string, source: Data) => string;

/** Translation of one schema, which is the document of its own references. */
class Translation {
  readonly #root: Data;
  readonly #name: string;
  readonly #version: SchemaVersion;
  readonly #names: Map<string, string>;
  readonly #hoist: Hoist;

  constructor(root: Data, name: string, version: SchemaVersion, names: Map<string, string>, hoist: Hoist) {
    this.#root = root;
    this.#name = name;
    this.#version = version;
    this.#names = names;
    this.#hoist = hoist;
  }

  translate(schema: Data): Data {
    if (!isObject(schema) && typeof schema !== 'boolean') return {};
    if (isObject(schema) && typeof schema['$ref'] === 'string') return this.#refer(schema, schema['$ref']);
    const inner = isObject(schema) ? mapSchemas(schema, (each) => this.translate(each)) : schema;
    return dialects[this.#version](inner);
  }

  #refer(schema: DataObject, reference: string): Data {
    if (reference.startsWith(SHARED) && this.#version !== 'as written') {
      const { description } = schema;
      const about: DataObject = this.#version === '3.1' && description !== undefined ? { description } : {};
      return { $ref: reference, ...about };
    }
    const target = lookUp(this.#root, reference);
    // External targets are not fetched, so a schema that accepts any value replaces them.
    const isSchema = isObject(target) || typeof target === 'boolean';
    return isSchema ? Schemas.reference(this.#nameOf(reference, target)) : {};
  }

  #nameOf(reference: string, target: Data): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const last = stepsOf(reference).at(-1) ?? this.#name;
    const name = this.#hoist(last, target);
    this.#names.set(reference, name);
    return name;
  }
}
