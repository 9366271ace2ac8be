import { createRequire } from 'node:module';
import type { DataObject } from '#contract';
import { type Draft, findDraft } from './drafts.ts';
import { indexNames, ROOT_ADDRESS, resolveReference, type SchemaLocation } from './references.ts';

/** A schema document in which references are resolved. */
export interface SchemaDocument {
  readonly draft: Draft;
  /** All schemas in it that declare an address of their own, by that address. */
  readonly names: ReadonlyMap<string, SchemaLocation>;
}
/** A schema and its document. */
export interface ResolvedSchema {
  readonly location: SchemaLocation;
  readonly document: SchemaDocument;
}
/**
 * Resolves a reference within the same document or to one of the three metaschemas.
 * @returns null if neither contains the target, including every target that would have to be fetched.
 */
export function findReferred(reference: string, base: string, document: SchemaDocument): ResolvedSchema | null {
  const place = resolveReference(reference, base, document.names, document.draft);
  if (place) return { location: place, document };
  if (!URL.canParse(reference, base)) return null;
  const { href, hash } = new URL(reference, base);
  const [, number] = /^https?:\/\/json-schema\.org\/draft-0([467])\/schema(?:#|$)/.exec(href) ?? [];
  if (number === undefined) return null;
  const metaschema = metaschemaOf(number);
  const location = resolveReference(addressOf(number) + hash, ROOT_ADDRESS, metaschema.names, metaschema.draft);
  return location && { location, document: metaschema };
}
const files: Readonly<Record<string, string>> = {
  4: 'ajv-draft-04/dist/refs/json-schema-draft-04.json',
  6: 'ajv/dist/refs/json-schema-draft-06.json',
  7: 'ajv/dist/refs/json-schema-draft-07.json',
};

const read = new Map<string, SchemaDocument>();

function metaschemaOf(number: string): SchemaDocument {
  let document = read.get(number);
  if (!document) {
    const root = createRequire(import.meta.url)(files[number]!) as DataObject;
    const draft = findDraft(addressOf(number))!;
    document = { draft, names: indexNames(root, draft, (_pointer, message) => new Error(message)) };
    read.set(number, document);
  }
  return document;
}
function addressOf(number: string): string {
  return `http://json-schema.org/draft-0${number}/schema`;
}
