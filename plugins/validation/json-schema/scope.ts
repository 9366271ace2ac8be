import { getKey, isObject } from '#contract';
import { findReferred, type ResolvedSchema, type SchemaDocument } from './documents.ts';
import { withoutFragment } from './references.ts';

/**
 * The schemas that dynamic references lead to, by anchor, in the order in which evaluation enters their documents: the
 * outermost one counts. It is known when the schema is read, so a schema that is reached on two ways with different
 * targets is read twice and evaluation needs no scope.
 */
export interface DynamicScope {
  /** Key of the scope: equal scopes have equal keys. */
  readonly key: string;
  readonly targets: ReadonlyMap<string, ResolvedSchema>;
}

export const EMPTY_SCOPE: DynamicScope = { key: '', targets: new Map() };

/** Anchor of `$recursiveAnchor`, which has no name. */
const RECURSIVE = '';

/** Adds the anchors of the schema resource at a base address, except those that an outer resource has declared. */
export function enterResource(scope: DynamicScope, base: string, document: SchemaDocument): DynamicScope {
  const added = [...anchorsOf(withoutFragment(base), document)].filter(([name]) => !scope.targets.has(name));
  if (added.length === 0) return scope;
  const key = added.map(([name, { location }]) => ` ${name} ${location.base}#${location.pointer}`).join('');
  return { key: scope.key + key, targets: new Map([...scope.targets, ...added]) };
}

/** Dynamic anchors by document and resource; a document never changes. */
const known = new WeakMap<SchemaDocument, Map<string, ReadonlyMap<string, ResolvedSchema>>>();

function anchorsOf(base: string, document: SchemaDocument): ReadonlyMap<string, ResolvedSchema> {
  let resources = known.get(document);
  if (!resources) {
    resources = new Map();
    known.set(document, resources);
    for (const [address, location] of document.names) {
      const { schema } = location;
      if (!isObject(schema)) continue;
      const name =
        getKey(schema, '$recursiveAnchor') === true && address === withoutFragment(location.base)
          ? RECURSIVE
          : getKey(schema, '$dynamicAnchor');
      if (
        typeof name !== 'string' ||
        document.draft.unknown.has(name === RECURSIVE ? '$recursiveAnchor' : '$dynamicAnchor')
      )
        continue;
      const resource = withoutFragment(location.base);
      const anchors = new Map(resources.get(resource));
      resources.set(resource, anchors.set(name, { location, document }));
    }
  }
  return resources.get(base) ?? NONE;
}

const NONE: ReadonlyMap<string, ResolvedSchema> = new Map();

/**
 * Resolves `$dynamicRef` or `$recursiveRef` like an ordinary reference. If the target declares a dynamic anchor, the
 * result is the outermost schema that declares the same anchor.
 */
export function findDynamic(
  keyword: '$dynamicRef' | '$recursiveRef',
  reference: string,
  base: string,
  document: SchemaDocument,
  scope: DynamicScope,
): ResolvedSchema | null {
  const initial = findReferred(reference, base, document);
  if (!initial || !isObject(initial.location.schema)) return initial;
  const { schema } = initial.location;
  if (keyword === '$recursiveRef') {
    return getKey(schema, '$recursiveAnchor') === true ? (scope.targets.get(RECURSIVE) ?? initial) : initial;
  }
  const name = reference.slice(reference.indexOf('#') + 1);
  return getKey(schema, '$dynamicAnchor') === name ? (scope.targets.get(name) ?? initial) : initial;
}
