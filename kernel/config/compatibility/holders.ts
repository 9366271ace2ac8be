import { type Data, type DataObject, isObject } from '#contract';
import { joinPointer } from '../../values/pointer.ts';

/** An object of a document that has, or can have, components. */
export interface Holder {
  readonly holder: DataObject;
  readonly pointer: string;
}

/** Maximum depth of pipes within components; deeper ones are rejected later. */
const MAX_DEPTH = 64;

/**
 * Finds the objects that have components: the service, its endpoints, agents and their backends, and the pipes within
 * components, which are the objects with a list of backends.
 */
export function* holdersIn(document: DataObject): Generator<Holder> {
  yield { holder: document, pointer: '' };
  for (const list of ['endpoints', 'async_agent']) {
    for (const { holder, pointer } of itemsOf(document[list], `/${list}`)) yield* pipe(holder, pointer, 0);
  }
  yield* within(document['extra_config'], '/extra_config', 0);
}

function* pipe(holder: DataObject, pointer: string, depth: number): Generator<Holder> {
  if (depth > MAX_DEPTH) return;
  yield { holder, pointer };
  yield* pipesOf(holder, pointer, depth);
  for (const backend of itemsOf(holder['backend'], `${pointer}/backend`)) {
    yield backend;
    yield* pipesOf(backend.holder, backend.pointer, depth);
  }
}

/** Pipes that are components themselves, such as workflows. */
function* pipesOf({ extra_config: components }: DataObject, pointer: string, depth: number): Generator<Holder> {
  if (!isObject(components)) return;
  for (const name in components) {
    const component = components[name]!;
    if (isPipe(component)) yield* pipe(component, joinPointer(pointer, 'extra_config', name), depth + 1);
  }
}

/** Pipes at any depth of a component's settings, such as those that components of the service declare. */
function* within(value: Data | undefined, pointer: string, depth: number): Generator<Holder> {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return;
  if (isPipe(value)) {
    yield* pipe(value, pointer, depth + 1);
    return;
  }
  for (const [key, inner] of Object.entries(value)) yield* within(inner, joinPointer(pointer, key), depth + 1);
}

function isPipe(value: Data): value is DataObject {
  return isObject(value) && Array.isArray(value['backend']);
}

function itemsOf(list: Data | undefined, pointer: string): readonly Holder[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((holder, index) => (isObject(holder) ? [{ holder, pointer: `${pointer}/${index}` }] : []));
}
