import { canonicalHeaderName, type DataObject, type HeaderBag, type PipeRequest, type Query, setKey } from '#contract';

/** Fields available to a template, by name, with the functions that compute them. */
export type Fields<Context> = { readonly [name: string]: (context: Context) => unknown };

/** Request fields available to templates. */
export const requestFields: Fields<{ readonly request: PipeRequest }> = {
  req_headers: ({ request }) => listsOf(request.headers),
  req_params: ({ request }) => ({ ...request.params }),
  req_querystring: ({ request }) => parametersOf(request.query),
  req_path: ({ request }) => decoded(request.client.path),
  req_method: ({ request }) => request.client.method,
};

/** A dot or a dollar that is not followed by a name: all data, as in `{{ toJson . }}` and `{{ index $ "req_path" }}`. */
const wholeData = /(?<![\w)])\.(?![A-Za-z_])|\$(?![\w.])/;

/** Selects the fields that a template can reach: computing the others would cost more than rendering the template. */
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
