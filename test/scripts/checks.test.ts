import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toolServices } from '../../kernel/cli/tools.ts';
import { cloneData, type compileSchema } from '../../kernel/config/index.ts';
import { ajvCheck } from '../../kernel/config/schema/ajv-check.ts';
import { type CheckCode, digestOf, runCheckCode } from '../../kernel/config/schema/built-check.ts';
import { type Evaluation, holderSchema, schemaCompiler } from '../../kernel/config/schema/validate.ts';
import { isObject, type Schema } from '../../kernel/contract/index.ts';
import { routerSchema, serviceSchema } from '../../kernel/contract/internal.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { makeChecks } from '../../scripts/build/checks.ts';
import { mutationsOf } from '../corpus/mutations.ts';
import { budgetSeed, sampler } from '../support/budget.ts';

const root = join(import.meta.dirname, '..');
const good = [...globSync(join(root, 'corpus/good/*.json')), ...globSync(join(root, '../samples/*/gateway.json'))];

describe('the generated validators of the package', function () {
  this.timeout(180_000);
  const registry = new Registry(catalogue, toolServices());
  const lacking = new Set<string>();
  let generated: ReadonlyMap<string, CheckCode>;
  const builtSchema = schemaCompiler((schema, choose) => {
    const code = generated.get(digestOf(schema));
    if (!code) lacking.add(JSON.stringify(schema));
    return code ? runCheckCode(code, schema, choose) : ajvCheck(schema, choose);
  });
  const ajvSchema = schemaCompiler(ajvCheck);

  before(async () => {
    await registry.load(registry.namespaces);
    generated = new Map([...(await makeChecks())].map(([digest, text]) => [digest, codeOf(text)]));
  });
  after(() => registry.close());

  const schemasOf = (name: string): readonly Schema[] =>
    registry.namespaces.includes(name) ? (registry.plugin(name)?.places ?? []).map(({ schema }) => schema) : [];

  it(`return the same errors as ajv, at the same places (SLUICE_TEST_SEED=${budgetSeed})`, () => {
    /** One in four of the wrong configurations in `npm test`, all of them in `npm run test:long`. */
    const isPicked = sampler(4);
    const seen = new Set<string>();
    let refusals = 0;
    for (const path of good) {
      for (const { name, data } of mutationsOf(JSON.parse(readFileSync(path, 'utf8'))).filter(isPicked)) {
        for (const { schema, value, id } of valuesIn(data, schemasOf)) {
          const key = `${id} ${JSON.stringify(value)}`;
          if (seen.has(key)) continue;
          seen.add(key);
          const evaluate = (compile: typeof compileSchema): Evaluation => compile(schema)(cloneData(value), '/at');
          const expected = evaluate(ajvSchema);
          deepEqual(evaluate(builtSchema), expected, `${path}: ${name}`);
          refusals += expected.errors.length;
        }
      }
    }
    notEqual(refusals, 0);
  });

  it('exist for every schema of the release', () => deepEqual([...lacking], []));

  it('do not apply to another schema', () => {
    equal(generated.has(digestOf(holderSchema({ type: 'object', properties: { acme: { type: 'string' } } }))), false);
  });
});

function codeOf(text: string): CheckCode {
  const module = { exports: {} };
  new Function('module', 'require', text)(module, createRequire(import.meta.url));
  return module.exports as CheckCode;
}

interface Held {
  readonly id: string;
  readonly schema: Schema;
  readonly value: unknown;
}

/** A document and the components in it, with the schemas that can apply to them. */
function valuesIn(document: unknown, schemasOf: (name: string) => readonly Schema[]): Held[] {
  const results: Held[] = [{ id: 'service', schema: serviceSchema, value: document }];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      visit(inner);
      if (key !== 'extra_config' || !isObject(inner)) continue;
      for (const [name, settings] of Object.entries(inner)) {
        const schemas = name === 'router' ? [routerSchema] : schemasOf(name);
        schemas.forEach((schema, at) => void results.push({ id: `${name} ${at}`, schema, value: settings }));
      }
    }
  };
  visit(document);
  return results;
}
