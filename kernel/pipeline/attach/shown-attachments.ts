import type { AtBackend, AtEndpoint, AttachmentTraits, Namespace } from '#contract';
import type { ComponentState } from '../traffic/observer.ts';
import type { Attached } from './attach.ts';

/** Components of an endpoint and its backends, with the hooks that they returned. */
interface AttachedParts {
  readonly attached: readonly Attached<AtEndpoint>[];
  readonly backends: readonly { readonly attached: readonly Attached<AtBackend>[] }[];
}

/** Reads the state of a component. */
interface StateReader {
  readonly namespace: Namespace;
  readonly backend: number | null;
  readonly read: NonNullable<AttachmentTraits['state']>;
}

const none: readonly never[] = Object.freeze([]);
const noStates = (): readonly ComponentState[] => none;

/** Returns a function that reads the states of the components of an endpoint, as far as this process has them. */
export function stateReader({ attached, backends }: AttachedParts): () => readonly ComponentState[] {
  const readersOf = (list: readonly Attached<AttachmentTraits>[], backend: number | null): StateReader[] =>
    list.flatMap(({ plugin, at }) => (at.state ? [{ namespace: plugin.name, backend, read: at.state }] : []));
  const readers = [
    ...readersOf(attached, null),
    ...backends.flatMap((backend, index) => readersOf(backend.attached, index)),
  ];
  return readers.length === 0 ? noStates : statesOf.bind(null, readers);
}

function statesOf(readers: readonly StateReader[]): readonly ComponentState[] {
  return readers.flatMap(({ namespace, backend, read }) => {
    const state = read();
    return state === null ? [] : [{ namespace, backend, state }];
  });
}

/** Names of headers, parameters and fields that the components of an endpoint and its backends declare as credentials. */
export function credentialsOf({ attached, backends }: AttachedParts): readonly string[] {
  const names = [attached, ...backends.map((backend) => backend.attached)]
    .flat()
    .flatMap(({ at }) => at.credentials ?? []);
  return names.length === 0 ? none : names;
}
