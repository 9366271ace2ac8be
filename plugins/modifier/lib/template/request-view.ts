import { canonicalHeaderName, type DataObject, type HeaderBag, type PipeRequest, type Query, setKey } from '#contract';

/** What templates read of a request, made when it is asked for. */
export class RequestView {
  readonly #request: PipeRequest;
  #headers: DataObject | null = null;
  #params: DataObject | null = null;
  #query: DataObject | null = null;

  constructor(request: PipeRequest) {
    this.#request = request;
  }

  get headers(): DataObject {
    this.#headers ??= listsOf(this.#request.headers);
    return this.#headers;
  }

  get params(): DataObject {
    this.#params ??= { ...this.#request.params };
    return this.#params;
  }

  get query(): DataObject {
    this.#query ??= parametersOf(this.#request.query);
    return this.#query;
  }

  get path(): string {
    const { path } = this.#request.client;
    try {
      return decodeURIComponent(path);
    } catch {
      return path;
    }
  }

  get method(): string {
    return this.#request.client.method;
  }
}

/** Headers by their canonical names, each with all its values. */
export function listsOf(headers: HeaderBag): DataObject {
  const lists: DataObject = {};
  for (const [written, value] of headers) {
    const name = canonicalHeaderName(written);
    const list = Object.hasOwn(lists, name) ? (lists[name] as string[]) : undefined;
    if (list) list.push(value);
    else setKey(lists, name, [value]);
  }
  return lists;
}

function parametersOf(query: Query): DataObject {
  const lists: DataObject = {};
  for (const [name, values] of query) setKey(lists, name, [...values]);
  return lists;
}
