import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnySchemaObject, SchemaObjCxt } from 'ajv';
import { _Code } from 'ajv/dist/compile/codegen/code.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'rolldown';
import { toolServices } from '../../kernel/cli/tools.ts';
import { innerSchemas } from '../../kernel/config/index.ts';
import { createAjv } from '../../kernel/config/schema/ajv-check.ts';
import { digestOf } from '../../kernel/config/schema/built-check.ts';
import { keywordsOf } from '../../kernel/config/schema/keywords.ts';
import type { JsonSchema } from '../../kernel/config/schema/schema.ts';
import { holderSchema } from '../../kernel/config/schema/validate.ts';
import type { Schema } from '../../kernel/contract/index.ts';
import { endpointSchema, routerSchema, serviceSchema } from '../../kernel/contract/internal.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';

/** Folder of the generated checks, relative to the build folder, next to the module that loads them. */
const FOLDER = 'kernel/config/schema/checks';

/** Generated code of this release's schemas, by the digest of each schema. */
export async function makeChecks(): Promise<ReadonlyMap<string, string>> {
  const checks = new Map<string, string>();
  for (const schema of await fixedSchemas()) {
    const json = holderSchema(schema);
    checks.set(digestOf(json), codeOf(json));
  }
  return checks;
}

/** Writes the checks, and registers them in the bundle. */
export function withChecks(checks: ReadonlyMap<string, string>, folder: string): Plugin {
  const target = join(folder, FOLDER);
  mkdirSync(target, { recursive: true });
  for (const [digest, code] of checks) writeFileSync(join(target, `${digest}.cjs`), code);
  return {
    name: 'checks',
    load(path) {
      if (!/\/config\/schema\/built-checks\.ts$/.test(path)) return null;
      return `export const builtChecks = new Set(${JSON.stringify([...checks.keys()])});`;
    },
  };
}

/** All schemas that validate a configuration of this release: those of the kernel, of components, and nested ones. */
export async function fixedSchemas(): Promise<ReadonlySet<Schema>> {
  const registry = new Registry(catalogue, toolServices());
  const results = new Set<Schema>([serviceSchema, endpointSchema, routerSchema]);
  await registry.load(registry.namespaces);
  for (const name of registry.namespaces) {
    for (const { schema } of registry.plugin(name)?.places ?? []) results.add(schema);
  }
  await registry.close();
  const visited = new Set<Schema>();
  const addForms = (schema: Schema): void => {
    if (visited.has(schema)) return;
    visited.add(schema);
    const forms = 'anyOf' in schema ? schema.anyOf : schema.type === 'recursive' ? [schema.schema()] : [];
    for (const form of forms) results.add(form);
    for (const inner of [...forms, ...innerSchemas(schema)]) addForms(inner);
  };
  for (const schema of [...results]) addForms(schema);
  return results;
}

/** Code that ajv generates for a schema, as a function of the schema and its keywords and patterns. */
function codeOf(schema: JsonSchema): string {
  const places = new Map<unknown, string>([[schema, 'schema']]);
  const keywords = keywordsOf(() => ({ problems: [] })).map((definition) => ({
    ...definition,
    compile(value: unknown, parent: AnySchemaObject, context: SchemaObjCxt) {
      const check = definition.compile!(value, parent, context);
      const steps = context.errSchemaPath.split('/').slice(1).map(readStep);
      const parentPlace = `schema${steps.map((step) => `[${JSON.stringify(step)}]`).join('')}`;
      places.set(check, `keyword(${JSON.stringify(definition.keyword)}, ${parentPlace})`);
      return check;
    },
  }));
  const ajv = createAjv(keywords, { source: true });
  const check = ajv.compile(schema);
  for (const { value } of Object.values(check.source!.scopeValues).flatMap((names) => [...names!])) {
    const place = places.get(value!.ref);
    if (place !== undefined) value!.code = new _Code(place);
  }
  const code = standalone.default(ajv, check);
  return `module.exports = (schema, keyword, regExp, self) => {\nconst module = {};\n${code}\nreturn module.exports;\n};\n`;
}

/** One step of the path by which ajv identifies a place in a schema. */
function readStep(text: string): string {
  return decodeURIComponent(text).replaceAll('~1', '/').replaceAll('~0', '~');
}
