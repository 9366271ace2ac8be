import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describeAdmin } from '../../../admin/openapi/admin-api.ts';
import { createComponents } from '../../../admin/openapi/components.ts';
import { changing } from '../../../admin/operations/changing.ts';
import { reading } from '../../../admin/operations/reading.ts';
import { objectOf, text, whole } from '../../../admin/schemas.ts';
import { issuesIn } from '../../support/generated-types.ts';
import { openAdmin } from '../support.ts';

const document = describeAdmin([...changing, ...reading], 'http://127.0.0.1:9180');
const source = JSON.stringify(document);

/** Every schema of a document, with its path. */
function* schemasIn(value: unknown, path = '#', isSchema = false): Generator<[path: string, schema: object]> {
  if (typeof value !== 'object' || value === null) return;
  if (isSchema) yield [path, value];
  for (const [key, inner] of Object.entries(value)) {
    const holdsSchemas = /\/(?:properties|schemas)$/.test(path) || /\/(?:anyOf|allOf)$/.test(path);
    yield* schemasIn(
      inner,
      `${path}/${key}`,
      holdsSchemas || ['schema', 'items', 'additionalProperties'].includes(key),
    );
  }
}

describe('the OpenAPI document of the admin API, for client generators', function () {
  this.timeout(60_000);

  it('passes every recommended rule of redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source, config });
    deepEqual(
      problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
      [],
    );
  });

  it('is converted to TypeScript types that compile in strict mode, distinguish results from problems, and reject incorrect client code', async () => {
    const right = `
      import type { components, paths } from './api.ts';
      type Answers = paths['/v1/config']['put']['responses'];
      export function told(applied: Answers[200]['content']['application/json']): string {
        const guard: components['schemas']['Guard'] | null = applied.guard;
        return applied.result === 'applied' ? applied.hash : guard?.reason ?? '';
      }
      export function refused(problem: Answers[422]['content']['application/problem+json']): string {
        if (problem.type === 'urn:gateway:problem:routes') return 'routes';
        const [first]: components['schemas']['Issue'][] = problem.errors ?? [];
        return first?.message ?? problem.detail;
      }
      export const stale = (problem: components['schemas']['StaleProblem']): 412 => problem.status;
    `;
    const wrong = `
      import type { components } from './api.ts';
      export const revision = (guard: components['schemas']['Guard']): string => guard.revision;
    `;
    deepEqual(await issuesIn(document, { '/right.ts': right, '/wrong.ts': wrong }), [
      "/wrong.ts: Type 'number' is not assignable to type 'string'.",
    ]);
  });

  it('declares every object under a name and refers to it', () => {
    const inline = [...schemasIn(document)].filter(([path, schema]) => {
      const isKind = /^#\/components\/schemas\/\w+Problem\/allOf\/1$/.test(path);
      return 'properties' in schema && !isKind && !/^#\/components\/schemas\/\w+$/.test(path);
    });
    deepEqual(inline, []);
    for (const [path, schema] of schemasIn(document)) {
      if ('$ref' in schema) match(String(schema.$ref), /^#\/components\/schemas\/\w+$/, path);
    }
  });

  it('states for every object whether it may have additional members', () => {
    const silent = [...schemasIn(document)].filter(
      ([, schema]) => 'type' in schema && schema.type === 'object' && !('additionalProperties' in schema),
    );
    deepEqual(silent, []);
  });

  it('has a success response for every operation', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        ok(
          Object.keys(responses).some((status) => status.startsWith('2')),
          `${method} ${path}`,
        );
      }
    }
  });

  it('has the address of the request as its server', async () => {
    const { admin, ask, close } = await openAdmin();
    const { address } = admin;
    const { body } = await ask('/v1/admin-openapi');
    await close();
    deepEqual(body.servers, [{ url: `http://${address}` }]);
  });
});

describe('named schemas of the admin API', () => {
  it('are defined once, even if used repeatedly', () => {
    const inner = objectOf('Inner', { a: text });
    const { schemas, refer } = createComponents();
    deepEqual(refer(objectOf('Outer', { one: inner, two: inner })), { $ref: '#/components/schemas/Outer' });
    deepEqual(Object.keys(schemas).sort(), ['Inner', 'Outer']);
  });

  it('have unique names', () => {
    const { refer } = createComponents();
    refer(objectOf('Same', { a: text }));
    let message = '';
    try {
      refer(objectOf('Same', { a: whole }));
    } catch (error) {
      ({ message } = error as Error);
    }
    equal(message, 'two schemas are named Same');
  });
});
