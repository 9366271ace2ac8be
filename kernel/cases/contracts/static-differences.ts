import { ANY } from '../../contract/internal.ts';
import type { Served } from '../../inspect/index.ts';
import type { Difference } from './breaks.ts';
import { type Contract, contractKey } from './contract.ts';
import { type Contracts, mediaType } from './observation.ts';

type Route = Served['compiled']['routes'][number];

/**
 * Differences that a configuration shows without a request: removed endpoints, and for contracts that no request has
 * reached another content type of the output encoding.
 * @param isTested whether requests have reached the contract with a key.
 */
export function staticDifferences(
  contracts: Contracts,
  { compiled }: Pick<Served, 'compiled'>,
  isTested: (key: string) => boolean,
): Difference[] {
  const routes = new Map(
    compiled.routes.map((route) => [contractKey(route.endpoint.method, route.endpoint.endpoint), route]),
  );
  return [...contracts].flatMap(([key, contract]): Difference[] => {
    const route = routes.get(key) ?? routes.get(contractKey(ANY, contract.endpoint));
    if (!route) return [difference(contract, { kind: 'endpoint', status: null, shown: '' })];
    const shown = isTested(key) ? null : changedType(contract, route);
    return shown === null ? [] : [difference(contract, { kind: 'content-type', status: 200, shown })];
  });
}

function difference(
  { method, endpoint }: Contract,
  { kind, status, shown }: Pick<Difference, 'kind' | 'status' | 'shown'>,
): Difference {
  return { kind, endpoint: `${method} ${endpoint}`, status, at: '', shown, isKnown: false, example: null };
}

function changedType({ responses }: Contract, { output }: Route): string | null {
  const promised = responses.get(200)?.contentTypes ?? new Set<string>();
  const type = mediaTypeOf(output);
  if (type === null || promised.size === 0 || promised.has(type)) return null;
  return `${[...promised].sort().join(', ')} → ${type}`;
}

/** Media type that an encoding writes for an empty object; null for one that passes the type of the backend. */
function mediaTypeOf({ raw, encode }: Route['output']): string | null {
  const written = raw ? undefined : encode?.({}, undefined).contentType;
  return written === undefined ? null : mediaType(written);
}
