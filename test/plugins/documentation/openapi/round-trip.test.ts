import { deepEqual } from 'node:assert/strict';
import { globSync } from 'node:fs';
import { documentFault } from '../../../../plugins/documentation/openapi/export/meta-schema.ts';
import { operationsOf, type SpecOperation } from '../../../../plugins/documentation/openapi/import/operations.ts';
import { readSpec } from '../../../../plugins/documentation/openapi/import/read-spec.ts';
import { Resolver } from '../../../../plugins/documentation/openapi/import/resolver.ts';
import { issuesIn } from '../../../support/generated-types.ts';
import { normalize } from '../../../support/known.ts';
import { describedAs, validate } from '../fixture.ts';
import { imported } from './import-fixture.ts';

const folder = 'node_modules/@readme/oas-examples';

/** Small examples in every version, and published documents of whole APIs. */
const files = [...globSync('{2.0,3.0,3.1}/json/*.json', { cwd: folder })].sort();

/** Every operation that an endpoint can serve, without the names of path parameters, which an import can change. */
function served(document: object): SpecOperation[] {
  return operationsOf(new Resolver(document as never)).filter(
    ({ method, path }) => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) && !/[:*?#]/.test(path),
  );
}

function routes(document: object): string[] {
  return served(document)
    .map(({ method, path }) => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`)
    .sort();
}

/** Parameter names of each operation, except those of credentials. */
function parameters(document: object): Record<string, string[]> {
  const credentials = ['api_key', 'access_token', 'authorization'];
  return Object.fromEntries(
    served(document).map(({ method, path, parameters: all }) => [
      `${method} ${path}`,
      all
        .filter(({ name }) => !credentials.includes(name.toLowerCase()))
        .map(({ in: where, name }) => `${where} ${name}`)
        .sort(),
    ]),
  );
}

describe('an OpenAPI document imported and exported again', function () {
  this.timeout(60_000);

  for (const file of files) {
    it(`from ${file} is valid and has the same routes`, async () => {
      const spec = await readSpec(`${folder}/${file}`, false);
      const { configuration } = imported(spec, { validate: true });
      const { config, errors } = normalize(configuration);
      deepEqual(
        errors.map(({ pointer, message }) => `${pointer} ${message}`),
        [],
      );
      const document = describedAs(config);
      deepEqual(routes(document), routes(spec));
      deepEqual(await documentFault(document), null);
      deepEqual(await documentFault(describedAs(config, { version: '3.1' })), null);
      await validate(document);
    });
  }

  for (const file of ['3.0/json/petstore.json', '3.0/json/uspto.json', '3.1/json/train-travel.json']) {
    it(`from ${file} has the same parameters`, async () => {
      const spec = await readSpec(`${folder}/${file}`, false);
      const { config } = normalize(imported(spec).configuration);
      deepEqual(parameters(describedAs(config)), parameters(spec));
    });
  }

  for (const version of ['3.0', '3.1'] as const) {
    it(`of a pet store compiles to client types with version ${version}`, async () => {
      const spec = await readSpec(`${folder}/3.0/json/petstore.json`, false);
      const { config } = normalize(imported(spec).configuration);
      const right = `
        import type { components, operations } from './api.ts';
        type Found = operations['getPetById']['responses'][200]['content']['application/json'];
        export const nameOf = (pet: Found): string => pet.name;
        export const asked: operations['getPetById']['parameters']['path'] = { petId: 1 };
        export const tag = (pet: components['schemas']['Pet']): string | undefined => pet.category?.name;
      `;
      const wrong = `
        import type { operations } from './api.ts';
        export const asked: operations['getPetById']['parameters']['path'] = { petId: 'one' };
      `;
      deepEqual(await issuesIn(describedAs(config, { version }), { '/right.ts': right, '/wrong.ts': wrong }), [
        "/wrong.ts: Type 'string' is not assignable to type 'number'.",
      ]);
    });
  }
});
