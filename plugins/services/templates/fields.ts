import { canonicalHeaderName, type DataObject, type HeaderBag, type PipeRequest, type Query, setKey } from '#contract';

/** What a template may read, by name, and what makes it. */
export type Fields<Context> = { readonly [name: string]: (context: Context) => unknown };

/** What a template reads of a request. */
export const requestFields: Fields<{ readonly request: PipeRequest }> = {
  req_headers: ({ request }) => listsOf(request.headers),
  req_params: ({ request }) => ({ ...request.params }),
  req_querystring: ({ request }) => parametersOf(request.query),
  req_path: ({ request }) => decoded(request.client.path),
  req_method: ({ request }) => request.client.method,
};

/** A dot or a dollar that no name follows: everything there is, as in `{{ toJson . }}` and `{{ index $ "req_path" }}`. */
const wholeData = /(?<![\w)])\.(?![A-Za-z_])|\$(?![\w.])/;

/**
 * Those of the fields that a template can reach: to make the others would cost more than to fill the template in.
 */
export function reachable<Context>(
  text: string,
  fields: Fields<Context>,
): readonly [string, Fields<Context>[string]][] {
  const all = Object.entries(fields);
  return wholeData.test(text) ? all : all.filter(([name]) => text.includes(name));
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

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
