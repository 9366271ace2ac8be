import { type Data, type DataObject, getKey, isObject } from '#contract';
import type { Draft } from './drafts.ts';

/** A schema in the document, and the base address of its references. */
export interface SchemaLocation {
  readonly schema: Data;
  readonly pointer: string;
  readonly base: string;
}

/** Address of a document that declares none. */
export const ROOT_ADDRESS = 'schema:///';

const single = [
  ...['additionalProperties', 'additionalItems', 'items', 'contains', 'not', 'if', 'then', 'else', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
];
const lists = ['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf'];
const maps = ['properties', 'patternProperties', 'definitions', '$defs', 'dependencies', 'dependentSchemas'];

/**
 * Finds all schemas that declare an address or an anchor; the keys are the absolute addresses.
 * @param fault creates the error for an invalid address.
 */
export function indexNames(
  root: DataObject,
  draft: Draft,
  fault: (pointer: string, message: string) => Error,
): ReadonlyMap<string, SchemaLocation> {
  const index = new Map<string, SchemaLocation>();
  const isKnown = (keyword: string) => !draft.unknown.has(keyword);
  const visit = (schema: Data | undefined, pointer: string, outer: string) => {
    if (!isObject(schema ?? null)) return;
    const node = schema as DataObject;
    const { base, address, invalid } = rebase(node, outer, draft);
    if (invalid !== null) throw fault(`${pointer}/${invalid}`, 'must be a URI reference');
    const place = { schema: node, pointer, base };
    if (address !== null && !index.has(address)) index.set(address, place);
    for (const keyword of draft.anchors) {
      const anchor = getKey(node, keyword);
      if (typeof anchor === 'string') index.set(`${withoutFragment(base)}#${anchor}`, place);
    }
    for (const keyword of single) if (isKnown(keyword)) visit(getKey(node, keyword), `${pointer}/${keyword}`, base);
    for (const keyword of lists) {
      if (!isKnown(keyword)) continue;
      const list = getKey(node, keyword);
      if (!Array.isArray(list)) continue;
      for (const [at, child] of list.entries()) visit(child, `${pointer}/${keyword}/${at}`, base);
    }
    for (const keyword of maps) {
      if (!isKnown(keyword)) continue;
      const map = getKey(node, keyword);
      if (!isObject(map ?? null)) continue;
      for (const [key, child] of Object.entries(map as DataObject)) {
        visit(child, `${pointer}/${keyword}/${escapeToken(key)}`, base);
      }
    }
  };
  visit(root, '', ROOT_ADDRESS);
  const { base } = rebase(root, ROOT_ADDRESS, draft);
  const whole = { schema: root, pointer: '', base };
  index.set(ROOT_ADDRESS, whole);
  index.set(withoutFragment(base), whole);
  return index;
}

/**
 * Resolves a reference.
 * @returns null if the document does not contain the target, including every target that would have to be fetched.
 */
export function resolveReference(
  reference: string,
  base: string,
  names: ReadonlyMap<string, SchemaLocation>,
  draft: Draft,
): SchemaLocation | null {
  if (!URL.canParse(reference, base)) return null;
  const address = new URL(reference, base).href;
  const named = names.get(address);
  if (named) return named;
  const resource = names.get(withoutFragment(address));
  const fragment = address.slice(withoutFragment(address).length + 1);
  if (!resource || (fragment !== '' && !fragment.startsWith('/'))) return null;
  return fragment === '' ? resource : walk(resource, fragment, draft);
}

/** Escapes a key as one step of a JSON pointer. */
export function escapeToken(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * Returns the base address of a schema's references, after the address that it declares. Drafts that ignore the
 * keywords next to `$ref` ignore an address there too.
 */
function rebase(
  schema: DataObject,
  base: string,
  draft: Draft,
): { readonly base: string; readonly address: string | null; readonly invalid: string | null } {
  if (!draft.besideRef && typeof getKey(schema, '$ref') === 'string') return { base, address: null, invalid: null };
  for (const keyword of draft.ids) {
    const name = getKey(schema, keyword);
    if (typeof name !== 'string') continue;
    if (!URL.canParse(name, base)) return { base, address: null, invalid: keyword };
    const address = new URL(name, base).href.replace(/#$/, '');
    // An id with only a fragment is an anchor, which does not change the base address.
    return { base: name.startsWith('#') ? base : address, address, invalid: null };
  }
  return { base, address: null, invalid: null };
}

/** Returns the base address of the references inside a schema. */
export function baseOf(schema: Data, outer: string, draft: Draft): string {
  return isObject(schema) ? rebase(schema, outer, draft).base : outer;
}

function walk(resource: SchemaLocation, fragment: string, draft: Draft): SchemaLocation | null {
  let { schema, pointer, base } = resource;
  for (const token of fragment.slice(1).split('/')) {
    const key = decodeToken(token);
    if (key === null) return null;
    const next = Array.isArray(schema)
      ? /^(?:0|[1-9]\d*)$/.test(key)
        ? schema[Number(key)]
        : undefined
      : isObject(schema)
        ? getKey(schema, key)
        : undefined;
    if (next === undefined) return null;
    schema = next;
    pointer += '/' + escapeToken(key);
    base = baseOf(schema, base, draft);
  }
  return { schema, pointer, base };
}

function decodeToken(token: string): string | null {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}

/** Returns an address up to its fragment. */
export function withoutFragment(address: string): string {
  const at = address.indexOf('#');
  return at < 0 ? address : address.slice(0, at);
}
