import { type Data, type DataObject, isObject, joinPointer } from '#contract';

/** Names of providers in the routes, with their pointers. */
export function* referencesIn(config: DataObject, pointer: string): Generator<readonly [string, string]> {
  for (const field of ['provider', 'failover', 'providers']) {
    const value = config[field];
    if (typeof value === 'string') yield [value, joinPointer(pointer, field)];
    for (const [index, each] of listOf(value).entries()) {
      if (typeof each === 'string') yield [each, joinPointer(pointer, field, index)];
    }
  }
  for (const [index, route] of listOf(config['routes']).entries()) {
    if (isObject(route)) yield* referencesIn(route, joinPointer(pointer, 'routes', index));
  }
}

/** Returns a list, or an empty list in place of any other value. */
export function listOf(value: Data | undefined): readonly Data[] {
  return Array.isArray(value) ? value : [];
}
