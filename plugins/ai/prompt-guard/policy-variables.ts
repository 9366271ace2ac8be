import type { CelInput } from '@bufbuild/cel';
import { canonicalHeaderName, type DataObject, type HeaderBag, type Query } from '#contract';
import { objectValue } from '../../engines/cel/language/values.ts';
import type { Guarded } from './guard.ts';

/** Variables of policies; each is computed when it is read. */
export class PolicyVariables {
  readonly #request: Guarded;

  constructor(request: Guarded) {
    this.#request = request;
  }

  /** The body as text. Invalid UTF-8 is decoded to U+FFFD. */
  get body(): string {
    const { body } = this.#request;
    return Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  }

  get meta(): CelInput {
    const { method, path, search, params, headers, query } = this.#request;
    const url = search === '' ? path : `${path}?${search}`;
    return objectValue({
      ...{ method, path, url, params },
      headers: headerLists(headers),
      query: queryLists(query),
    });
  }
}

/** Values of each header, by name. Created from entries, so that names such as `__proto__` are ordinary keys. */
function headerLists(headers: HeaderBag): DataObject {
  const names = new Map(Array.from(headers, ([name]) => [canonicalHeaderName(name), name.toLowerCase()]));
  return Object.fromEntries(Array.from(names, ([name, key]) => [name, [...headers.getAll(key)]]));
}

function queryLists(query: Query): DataObject {
  return Object.fromEntries(Array.from(query, ([name]) => [name, [...query.getAll(name)]]));
}
