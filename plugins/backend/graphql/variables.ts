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

/** Fills in the variables of one request. */
export type FillVariables = (request: PipeRequest, call: Call) => DataObject;

/** Where a placeholder takes its value from; undefined for what the request does not have. */
type Source = (request: PipeRequest, call: Call) => string | undefined;

/** A placeholder of a variable: its key, its name and what it means. */
interface Placeholder {
  readonly key: string;
  readonly name: string;
  readonly source: Source;
}

/** The placeholders among variables: values that are one as a whole, at the top level. */
export function placeholdersIn(variables: Readonly<DataObject>): Placeholder[] {
  return Object.entries(variables).flatMap(([key, value]) => {
    const name = typeof value === 'string' ? /^\{([^{}]+)\}$/.exec(value)?.[1] : undefined;
    return name === undefined ? [] : [{ key, name, source: sourceOf(name) }];
  });
}

/** What replaces placeholders by values of the request: always texts, an empty one for what is missing. */
export function filling(variables: Readonly<DataObject>, placeholders: readonly Placeholder[]): FillVariables {
  return (request, call) => {
    const filled: DataObject = { ...variables };
    for (const { key, source } of placeholders) setKey(filled, key, source(request, call) ?? '');
    return filled;
  };
}

/** True for a name of something that is there or not in each request, rather than a variable of the endpoint's path. */
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
