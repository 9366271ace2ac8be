import type Koa from 'koa';
import { isObject } from '#contract';
import { demandJson } from './body.ts';
import type { Admin } from './operation.ts';
import { Problem } from './problem.ts';
import { type JsonSchema, listOf, mapOf, objectWith, text } from './schemas.ts';

/** A request as a person writes it. */
export interface SampleRequest {
  readonly method: string;
  /** Path and query, encoded as in a request. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Schema of a sample request in the body of an operation. */
export const sampleRequestSchema: JsonSchema = objectWith(
  'SampleRequest',
  {
    method: { ...text, description: 'Request method.', default: 'GET' },
    path: { ...text, description: 'Path and query, encoded as in a request.' },
    headers: { ...mapOf({ anyOf: [text, listOf(text)] }), description: 'Headers: a value, or a list of values.' },
    body: { ...text, description: 'Request body.', default: '' },
  },
  'path',
);

const known: ReadonlySet<string> = new Set(['method', 'path', 'headers', 'body']);

/** Reads a sample request from the body of an operation. @throws Problem bad-request. */
export async function readSampleRequest(ctx: Koa.Context, admin: Admin): Promise<SampleRequest> {
  const given = await demandJson(ctx, admin);
  if (!isObject(given)) throw new Problem('bad-request', 'the body must be an object');
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) throw new Problem('bad-request', `the body has an unknown field ${unknown}`);
  const { method = 'GET', path, headers = {}, body = '' } = given;
  if (typeof method !== 'string' || !/^[A-Za-z][\w-]{0,31}$/.test(method))
    throw new Problem('bad-request', 'method must be a request method such as GET');
  if (typeof path !== 'string' || !/^\/[\x21-\x7e]*$/.test(path))
    throw new Problem('bad-request', 'path must begin with a slash and be encoded as in a request');
  if (typeof body !== 'string') throw new Problem('bad-request', 'body must be a string');
  return { method: method.toUpperCase(), path, headers: headersOf(headers), body };
}

function headersOf(given: unknown): SampleRequest['headers'] {
  if (!isObject(given)) throw new Problem('bad-request', 'headers must be an object');
  return Object.entries(given).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => {
      const isValid = /^[!#$%&'*+\-.^_`|~\w]+$/.test(name) && typeof value === 'string' && /^[^\r\n\0]*$/.test(value);
      if (!isValid) throw new Problem('bad-request', `the header ${JSON.stringify(name)} is not valid`);
      return [name, value];
    }),
  );
}
