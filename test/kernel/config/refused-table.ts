import { deepEqual } from 'node:assert/strict';
import { normalize } from '../../support/known.ts';

/** An error: title, the fragment that contains it, the pointer, the message and the hint. */
export type Row = readonly [title: string, fragment: unknown, pointer: string, message: string, hint?: string];

/** Inserts a fragment into a configuration without other errors. */
type Builder = (fragment: never) => object;

const oneBackend = { url_pattern: '/', host: ['http://backend'] };
const oneEndpoint = { endpoint: '/items/{id}', backend: [oneBackend] };

export const root: Builder = (fields: object) => ({ version: 3, endpoints: [oneEndpoint], ...fields });
export const path: Builder = (text: string) => root({ endpoints: [{ ...oneEndpoint, endpoint: text }] } as never);
export const endpoint: Builder = (fields: object) => root({ endpoints: [{ ...oneEndpoint, ...fields }] } as never);
export const backend: Builder = (fields: object) => endpoint({ backend: [{ ...oneBackend, ...fields }] } as never);
export const router: Builder = (fields: object) => root({ extra_config: { router: fields } } as never);

/** Endpoints by method and path: `GET /a`. */
export const routes: Builder = (names: readonly string[]) => {
  const endpoints = names.map((name) => {
    const [method, text] = name.split(' ');
    return { method, endpoint: text, backend: [oneBackend] };
  });
  return root({ endpoints } as never);
};

/** One sequential endpoint whose backends have these patterns. */
export const patterns: Builder = (texts: readonly string[]) => {
  const list = texts.map((text) => ({ ...oneBackend, url_pattern: text }));
  return endpoint({ extra_config: { proxy: { sequential: true } }, backend: list } as never);
};

/** Every row is rejected for exactly this error; undefined fields are omitted. */
export function table(title: string, build: Builder, rows: readonly Row[]): void {
  describe(`with an error in ${title} is rejected:`, () => {
    for (const [name, fragment, pointer, message, hint] of rows) {
      it(name, () => {
        const document = JSON.parse(JSON.stringify(build(fragment as never)));
        const results = normalize(document).errors.map((error) => [error.pointer, error.message, error.hint]);
        deepEqual(results, [[pointer, message, hint]]);
      });
    }
  });
}
