import { copyData, type Data, type DataObject, isObject, setKey } from '#contract';
import { parsePointer, valueAt } from '../../config/index.ts';
import { compileMock, type Mock } from '../mock.ts';
import type { Baselines } from './baseline.ts';

/**
 * Copies a document, with the settings that components have in a sandbox.
 * @param origin maps pointers of the normalized configuration to pointers of the document.
 */
export function sandboxData(
  data: Data,
  { settings }: Pick<Baselines, 'settings'>,
  origin: (pointer: string) => string,
): Data {
  const copy = copyData(data);
  for (const [pointer, changes] of settings) {
    const component = valueAt(copy as DataObject, parsePointer(origin(pointer)));
    if (!isObject(component)) continue;
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) delete component[name];
      else setKey(component, name, copyData(value));
    }
  }
  return copy;
}

/** Mocks that serve the documents which components fetch in a sandbox. */
export function documentMocks({ documents }: Pick<Baselines, 'documents'>): Mock[] {
  return [...documents].map(([url, body]) =>
    compileMock(url, { url, response: { status: 200, headers: {}, body, delay: 0 } }),
  );
}
