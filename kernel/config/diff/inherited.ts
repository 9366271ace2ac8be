import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, getKey } from '#contract';
import { isRaw, type KnownPlugins } from '../known-plugins.ts';
import type { Difference } from './compare.ts';

/** Before and after the change. */
export interface Change<T> {
  readonly before: T;
  readonly after: T;
}

/** What an endpoint, or a backend, takes from the service where it has none of its own. */
const inherited = /^\/(?:(timeout|cache_ttl|output_encoding)|backend\/\d+\/(host))$/;
const backendEncoding = /^\/backend\/\d+\/encoding$/;

/**
 * True for a difference of an endpoint that follows from another one, and is told there: the service has changed in the
 * same way, or a stream has come or gone, which its backends are read as.
 */
export function isInherited(
  difference: Difference,
  service: Change<DataObject>,
  route: Change<DataObject>,
  known: KnownPlugins,
): boolean {
  const { op, pointer } = difference;
  if (op !== 'replace') return false;
  const [, ofEndpoint, ofBackend] = inherited.exec(pointer) ?? [];
  const field = ofEndpoint ?? ofBackend;
  if (field !== undefined)
    return has(service.before, field, difference.from) && has(service.after, field, difference.to);
  const outputs = [route.before, route.after].map(({ output_encoding: name }) => String(name));
  return backendEncoding.test(pointer) && outputs[0] !== outputs[1] && outputs.some((name) => isRaw(name, known));
}

function has(object: DataObject, field: string, value: Data): boolean {
  return isDeepStrictEqual(getKey(object, field), value);
}
