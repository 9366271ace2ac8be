import { deepEqual } from 'node:assert/strict';
import { normalize } from '../../support/known.ts';

/** A mistake: what it is, the fragment that holds it, where it is reported, in which words, and what to write instead. */
export type Row = readonly [title: string, fragment: unknown, pointer: string, message: string, hint?: string];

/** Puts a fragment into a configuration that has no other mistake. */
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

/** Every row is refused for this one mistake and no other; a field that is undefined is left out. */
export function table(title: string, build: Builder, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [name, fragment, pointer, message, hint] of rows) {
      it(`is rejected: ${name}`, () => {
        const document = JSON.parse(JSON.stringify(build(fragment as never)));
        const results = normalize(document).errors.map((error) => [error.pointer, error.message, error.hint]);
        deepEqual(results, [[pointer, message, hint]]);
      });
    }
  });
}
