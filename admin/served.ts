import {
  type FindPosition,
  normalize,
  type Operations,
  pointerOnly,
  positionsIn,
  type Served,
  type Snapshot,
} from '#kernel';

/** The serving configuration, and the positions of its parts in the files. */
export interface ServedNow {
  readonly served: Served;
  readonly snapshot: Snapshot;
  /** Maps a JSON pointer in the configuration to the pointer of the same part in the document as it was written. */
  readonly origin: (pointer: string) => string;
  /** Finds the file position of a JSON pointer in the configuration. */
  readonly positionOf: FindPosition;
  /** Finds the file position of a JSON pointer in the document as it was written. */
  readonly writtenPlace: FindPosition;
}

const origins = new WeakMap<Snapshot, ServedNow['origin']>();

/** Reads the serving configuration. */
export function servedNow({ serving, components }: Operations): ServedNow {
  const { snapshot, ...served } = serving;
  const writtenPlace = snapshot.document ? positionsIn(snapshot.document) : pointerOnly;
  const origin = (pointer: string): string => originOf(snapshot, components.known)(pointer);
  return { served, snapshot, origin, writtenPlace, positionOf: (pointer) => writtenPlace(origin(pointer)) };
}

/** Maps pointers with current names to the names in the document. This requires interpreting the document again, which is done once per snapshot. */
function originOf(snapshot: Snapshot, known: Operations['components']['known']): ServedNow['origin'] {
  let origin = origins.get(snapshot);
  if (!origin) {
    ({ origin } = normalize(snapshot.data, { env: process.env, known }));
    origins.set(snapshot, origin);
  }
  return origin;
}
