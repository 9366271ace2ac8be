import {
  type FindPosition,
  normalize,
  type Operations,
  pointerOnly,
  positionsIn,
  type Served,
  type Snapshot,
} from '#kernel';

/** What serves, and where its parts are written. */
export interface ServedNow {
  readonly served: Served;
  readonly snapshot: Snapshot;
  /** The pointer in the document of what stands at a pointer of the configuration. */
  readonly origin: (pointer: string) => string;
  /** Finds the place of what a pointer of the configuration leads to. */
  readonly positionOf: FindPosition;
  /** Finds the place of what a pointer of the document leads to. */
  readonly writtenPlace: FindPosition;
}

const origins = new WeakMap<Snapshot, ServedNow['origin']>();

/** Looks at the serving configuration. */
export function servedNow({ serving, components }: Operations): ServedNow {
  const { snapshot, ...served } = serving;
  const writtenPlace = snapshot.document ? positionsIn(snapshot.document) : pointerOnly;
  const origin = (pointer: string): string => originOf(snapshot, components.known)(pointer);
  return { served, snapshot, origin, writtenPlace, positionOf: (pointer) => writtenPlace(origin(pointer)) };
}

/** Old names are only known after the document was read again: that is done once. */
function originOf(snapshot: Snapshot, known: Operations['components']['known']): ServedNow['origin'] {
  let origin = origins.get(snapshot);
  if (!origin) {
    ({ origin } = normalize(snapshot.data, { env: process.env, known }));
    origins.set(snapshot, origin);
  }
  return origin;
}
