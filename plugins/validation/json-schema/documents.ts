import { createRequire } from 'node:module';
import type { DataObject } from '#contract';
import { type Draft, findDraft } from './drafts.ts';
import { indexNames, ROOT_ADDRESS, resolveReference, type SchemaLocation } from './references.ts';

/** A schema document in which references are resolved. */
export interface SchemaDocument {
  readonly draft: Draft;
  /** All schemas in the document that declare an address or an anchor, by that address. */
  readonly names: ReadonlyMap<string, SchemaLocation>;
}

/** A schema and its document. */
export interface ResolvedSchema {
  readonly location: SchemaLocation;
  readonly document: SchemaDocument;
}
/**
 * Resolves a reference within the same document or to one of the metaschemas.
 * @returns null if neither contains the target, including every target that would have to be fetched.
 */
export function findReferred(reference: string, base: string, document: SchemaDocument): ResolvedSchema | null {
  const place = resolveReference(reference, base, document.names, document.draft);
  if (place) return { location: place, document };
  if (!URL.canParse(reference, base)) return null;
  const { href } = new URL(reference, base);
  const [, name] =
    /^https?:\/\/json-schema\.org\/(draft-0[467]|draft\/(?:2019-09|2020-12))\/(?:schema|meta\/[a-z-]+)(?:#|$)/.exec(
      href,
    ) ?? [];
  if (name === undefined) return null;
  const metaschema = metaschemaOf(name);
  // Metaschemas are known by both http and https addresses, although each declares only one of them.
  const location = ['http:', 'https:']
    .map((scheme) =>
      resolveReference(href.replace(/^https?:/, scheme), ROOT_ADDRESS, metaschema.names, metaschema.draft),
    )
    .find((found) => found !== null);
  return location ? { location, document: metaschema } : null;
}

const vocabularies = ['applicator', 'content', 'core', 'meta-data', 'validation'];
const filesOf = (folder: string, ...names: readonly string[]) =>
  ['schema', ...names.map((name) => `meta/${name}`)].map((name) => `ajv/dist/refs/${folder}/${name}.json`);

/** Files of each draft's metaschema, the main one first. */
const files: Readonly<Record<string, readonly string[]>> = {
  'draft-04': ['ajv-draft-04/dist/refs/json-schema-draft-04.json'],
  'draft-06': ['ajv/dist/refs/json-schema-draft-06.json'],
  'draft-07': ['ajv/dist/refs/json-schema-draft-07.json'],
  'draft/2019-09': filesOf('json-schema-2019-09', ...vocabularies, 'format'),
  'draft/2020-12': filesOf('json-schema-2020-12', ...vocabularies, 'format-annotation', 'unevaluated'),
};

const read = new Map<string, SchemaDocument>();

function metaschemaOf(name: string): SchemaDocument {
  let document = read.get(name);
  if (!document) {
    const draft = findDraft(`https://json-schema.org/${name}/schema`)!;
    const load = createRequire(import.meta.url);
    const names = new Map<string, SchemaLocation>();
    for (const file of files[name]!.toReversed()) {
      const index = indexNames(load(file) as DataObject, draft, (_pointer, message) => new Error(message));
      for (const [address, location] of index) names.set(address, location);
    }
    document = { draft, names };
    read.set(name, document);
  }
  return document;
}
