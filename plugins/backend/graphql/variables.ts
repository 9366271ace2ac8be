import {
  type Call,
  claimsSlot,
  type Data,
  type DataObject,
  getKey,
  type PipeRequest,
  paramKey,
  setKey,
  textOf,
} from '#contract';

/** Returns the variables of a request. */
export type FillVariables = (request: PipeRequest, call: Call) => DataObject;

/** Reads the value of a placeholder; undefined if the request does not have it. */
type Source = (request: PipeRequest, call: Call) => string | undefined;

/** A placeholder in a variable: its key, its name and the source of its value. */
interface Placeholder {
  readonly key: string;
  readonly name: string;
  readonly source: Source;
}

/** Finds the placeholders: top-level values that consist entirely of a placeholder. */
export function placeholdersIn(variables: Readonly<DataObject>): Placeholder[] {
  return Object.entries(variables).flatMap(([key, value]) => {
    const name = typeof value === 'string' ? /^\{([^{}]+)\}$/.exec(value)?.[1] : undefined;
    return name === undefined ? [] : [{ key, name, source: sourceOf(name) }];
  });
}

/** Returns a function that replaces placeholders with values of the request. The values are always strings, empty if missing. */
export function filling(variables: Readonly<DataObject>, placeholders: readonly Placeholder[]): FillVariables {
  return (request, call) => {
    const filled: DataObject = { ...variables };
    for (const { key, source } of placeholders) setKey(filled, key, source(request, call) ?? '');
    return filled;
  };
}

/** Whether the name refers to an optional part of a request rather than to a variable of the endpoint's path. */
export function isOfRequest(name: string): boolean {
  return /^(?:input_headers|input_query_strings|JWT)\.|^resp\d/.test(name);
}

function sourceOf(name: string): Source {
  const [, kind, rest = ''] = /^(input_headers|input_query_strings|JWT)\.(.+)$/s.exec(name) ?? [];
  if (kind === 'input_headers') return ({ client }) => client.headers.get(rest.toLowerCase());
  if (kind === 'input_query_strings') return ({ client }) => client.query.get(rest);
  if (kind === 'JWT') return (_request, call) => claim(call.get(claimsSlot), rest);
  const key = paramKey(name);
  return ({ params }) => (Object.hasOwn(params, key) ? params[key] : undefined);
}

function claim(claims: Readonly<DataObject> | undefined, name: string): string | undefined {
  const value: Data | undefined = claims && getKey(claims, name);
  return value === undefined ? undefined : textOf(value);
}
