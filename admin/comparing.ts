import type Koa from 'koa';
import {
  type ConfigDiff,
  diffConfigs,
  type Examined,
  endpointId,
  type FindPosition,
  type Operations,
  pointerOnly,
  positionsIn,
  type Reach,
  type Snapshot,
} from '#kernel';
import { isRevealing } from './keep-secrets.ts';
import { anything, flag, listOf, objectOf, objectWith, oneOf, place, text, whole } from './schemas.ts';

/** One of two configurations to compare. */
export interface Side {
  readonly snapshot: Snapshot;
  readonly examined: Examined;
}

/** @throws Refusal with all errors. */
export async function sideOf(gateway: Operations, snapshot: Snapshot, reach: Reach): Promise<Side> {
  return { snapshot, examined: await gateway.examine(snapshot, reach) };
}

/**
 * Compares two configurations, as far as the request may see them.
 * @param guesses pointers in the second document, as returned by `guessesIn`, of secrets that are always reported as
 * changed.
 */
export function compare(
  ctx: Koa.Context,
  gateway: Operations,
  from: Side,
  to: Side,
  guesses: ReadonlySet<string> = new Set(),
): ConfigDiff {
  const sides = { from: placerOf(from), to: placerOf(to) };
  return diffConfigs(from.examined.config, to.examined.config, {
    ...(!isRevealing(ctx) && { isSecret: gateway.components.isSecret }),
    ...(guesses.size > 0 && { isGuess: (pointer) => guesses.has(to.examined.origin(pointer)) }),
    known: gateway.components.known,
    componentSchema: (namespace, level) => gateway.components.schemaAt(namespace, level),
    places: (pointer, side) => sides[side](pointer),
  });
}

/** Returns a function that finds positions in the document that a configuration was read from. */
function placerOf({ snapshot: { document }, examined }: Side): FindPosition {
  const find = document ? positionsIn(document) : pointerOnly;
  return (pointer) => {
    const written = examined.origin(pointer);
    return { ...find(written), pointer: written };
  };
}

/** Open streams that applying the difference would end: those of changed or removed endpoints. */
export function streamsAffected(gateway: Operations, { endpoints: { changed, removed } }: ConfigDiff): number {
  const { streamsByEndpoint } = gateway.processes;
  const affected = new Set([...changed, ...removed].map(endpointId));
  return [...affected].reduce((sum, endpoint) => sum + (streamsByEndpoint.get(endpoint) ?? 0), 0);
}

const route = objectOf('EndpointName', { method: text, endpoint: text });
const change = objectWith(
  'Change',
  {
    op: oneOf(['add', 'remove', 'replace']),
    from: anything,
    to: anything,
    effect: oneOf(['swap', 'rebind', 'restart', 'stream']),
    route,
    ...place,
  },
  'op',
  'pointer',
  'effect',
);
const names = listOf(route);

/** Schema of a JSON patch (RFC 6902). */
export const patchSchema = listOf(
  objectWith(
    'PatchOperation',
    { op: oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test']), path: text, from: text, value: anything },
    'op',
    'path',
  ),
);

/** Schema of a difference. */
export const differenceSchema = objectOf('Difference', {
  equal: flag,
  summary: objectOf('ChangeCounts', { added: whole, changed: whole, removed: whole }),
  changes: listOf(change),
  endpoints: objectOf('ChangedEndpoints', { added: names, changed: names, removed: names }),
  patch: patchSchema,
  streamsAffected: whole,
});
