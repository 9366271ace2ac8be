import type { ConfigError } from '#contract';
import type { NormalizeOptions } from '../../../kernel/config/index.ts';
import { normalize } from '../../support/known.ts';

/** All issues of a document with one code, without undefined fields. */
export function findings(document: object, code: string, options: NormalizeOptions = {}): readonly ConfigError[] {
  const { errors, warnings } = normalize(JSON.parse(JSON.stringify(document)), options);
  return [...errors, ...warnings].filter((match) => match.code === code);
}

/** Returns the only issue with a code. @throws if this issue is missing, or if another one was reported. */
export function finding(document: object, code: string): ConfigError {
  const results = findings(document, code);
  if (results.length !== 1)
    throw new Error(`${results.length} findings under ${code}: ${results.map(({ message }) => message)}`);
  return results[0]!;
}

/** A service with these endpoints, each with one backend by default. */
export function service(endpoints: readonly object[], fields: object = {}): object {
  const backend = [{ url_pattern: '/', host: ['http://backend.test'] }];
  return { version: 3, endpoints: endpoints.map((each, at) => ({ endpoint: `/e${at}`, backend, ...each })), ...fields };
}

/** A service with one endpoint and these backends. */
export function backends(list: readonly object[], endpoint: object = {}, fields: object = {}): object {
  const filled = list.map((each) => ({ url_pattern: '/', host: ['http://backend.test'], ...each }));
  return service([{ endpoint: '/items/{id}', backend: filled, ...endpoint }], fields);
}

/** The part of a text to which an issue points. */
export function pointedAt(text: string, { within }: ConfigError): string | undefined {
  return within && text.slice(within.start, within.end);
}
