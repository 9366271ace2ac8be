import { backendSchema, endpointSchema, routerSchema, serviceSchema } from '../../contract/internal.ts';
import type { Kind } from './not-supported.ts';

const FIELDS: Readonly<Record<Kind, object>> = {
  root: serviceSchema.properties,
  endpoint: endpointSchema.properties,
  backend: backendSchema.properties,
  router: routerSchema.properties,
};

/** For each kind of object, the other objects that a misplaced field may belong to, most likely first, with their names as seen from there. */
const OTHERS: Readonly<Record<Kind, readonly (readonly [kind: Kind, name: string])[]>> = {
  root: [
    ['endpoint', 'an endpoint'],
    ['backend', 'a backend'],
    ['router', 'extra_config.router'],
  ],
  endpoint: [
    ['backend', 'a backend'],
    ['root', 'the root'],
  ],
  backend: [
    ['endpoint', 'the endpoint'],
    ['root', 'the root'],
  ],
  router: [
    ['root', 'the root'],
    ['endpoint', 'an endpoint'],
  ],
};

const NAMES: Readonly<Record<Kind, string>> = {
  root: 'the root',
  endpoint: 'an endpoint',
  backend: 'a backend',
  router: 'extra_config.router',
};

/** True if objects of a kind have a field with this name. */
export function hasField(kind: Kind, key: string): boolean {
  return Object.hasOwn(FIELDS[kind], key);
}

/** The object that a misplaced field belongs to. @returns undefined if no object has such a field. */
export function placeOf(key: string, kind: Kind): { readonly belongs: string; readonly not: string } | undefined {
  const [, home] = OTHERS[kind].find(([other]) => hasField(other, key)) ?? [];
  return home === undefined ? undefined : { belongs: home, not: NAMES[kind] };
}
const EACH = 'one endpoint for each method';
const EVERY = '"method": "ANY" for all methods';

/** Hint for a `method` that an endpoint or a backend cannot have. */
export function methodHint(kind: Kind | undefined, value: unknown): string {
  if (Array.isArray(value)) return methodsHint(value);
  if (kind === 'backend') return "remove the field: the endpoint's method is the default";
  if (value === 'HEAD') return 'use GET: its endpoint answers HEAD as well';
  return `${EACH}, or ${EVERY}`;
}

/** Hint for a list of methods. */
export function methodsHint([first, ...others]: readonly unknown[]): string {
  const example = `"method": ${JSON.stringify(typeof first === 'string' ? first.toUpperCase() : 'GET')}`;
  return others.length === 0 ? example : `${EACH}, the first with ${example}, or ${EVERY}`;
}
