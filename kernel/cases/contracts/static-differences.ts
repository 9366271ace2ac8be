import { ANY } from '../../contract/internal.ts';
import type { Served } from '../../inspect/index.ts';
import type { Difference } from './breaks.ts';
import { type Contract, contractKey } from './contract.ts';
import { type Contracts, mediaType } from './observation.ts';
import { missingFields } from './static-fields.ts';

type Route = Served['compiled']['routes'][number];

type Named = Pick<Contract, 'method' | 'endpoint'>;

/** Contracts whose endpoints a configuration does not have. */
export function removedEndpoints(contracts: readonly Named[], endpoints: readonly Named[]): Difference[] {
  const keys = new Set(endpoints.map(({ method, endpoint }) => contractKey(method, endpoint)));
  return contracts
    .filter(({ method, endpoint }) => ![method, ANY].some((each) => keys.has(contractKey(each, endpoint))))
    .map((contract) => difference(contract, { kind: 'endpoint', status: null, shown: '' }));
}

/**
 * Differences that follow from the settings of an endpoint alone, for contracts that no request has reached: another
 * content type of the output encoding, and fields that its backends can no longer return.
 * @param isTested whether requests have reached the contract with a key.
 */
export function changedSettings(
  contracts: Contracts,
  { compiled }: Pick<Served, 'compiled'>,
  isTested: (key: string) => boolean,
): Difference[] {
  const routes = new Map(
    compiled.routes.map((route) => [contractKey(route.endpoint.method, route.endpoint.endpoint), route]),
  );
  return [...contracts].flatMap(([key, contract]): Difference[] => {
    const route = routes.get(key) ?? routes.get(contractKey(ANY, contract.endpoint));
    if (isTested(key) || !route) return [];
    const shown = changedType(contract, route);
    if (shown !== null) return [difference(contract, { kind: 'content-type', status: 200, shown })];
    const shape = route.output.raw ? null : contract.responses.get(200)?.shape;
    const missing = shape ? missingFields(shape, route.endpoint) : [];
    return missing.map((at) => difference(contract, { kind: 'removed', status: 200, shown: '', at }));
  });
}

function difference(
  { method, endpoint }: Named,
  { kind, status, shown, at = '' }: Pick<Difference, 'kind' | 'status' | 'shown'> & { readonly at?: string },
): Difference {
  return { kind, endpoint: `${method} ${endpoint}`, status, at, shown, isKnown: false, example: null };
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
