import { copyData, type Data, isObject } from '#contract';
import { parentPointer, parsePointer, valueAt } from '../../config/index.ts';

/**
 * Copies a document without endpoints that cannot be compared and without agents, so that neither gateway connects to
 * their servers.
 * @param pointers of the endpoints in the document.
 */
export function withoutEndpoints(data: Data, pointers: readonly string[]): Data {
  const copy = copyData(data);
  if (!isObject(copy)) return copy;
  const lists = Map.groupBy(pointers, parentPointer);
  for (const [list, removed] of lists) {
    const endpoints = valueAt(copy, parsePointer(list));
    const positions = new Set(removed.map((pointer) => Number(parsePointer(pointer).at(-1))));
    if (!Array.isArray(endpoints)) continue;
    const kept = endpoints.filter((_, at) => !positions.has(at));
    endpoints.splice(0, endpoints.length);
    for (const endpoint of kept) endpoints.push(endpoint);
  }
  delete copy['async_agent'];
  return copy;
}
