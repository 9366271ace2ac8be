import type { Level, Schema } from '#contract';
import { toolServices } from '../../kernel/cli/tools.ts';
import { routerSchema, serviceSchema } from '../../kernel/contract/internal.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import type { Path } from './printed.ts';

/** A value of a configuration and its schema. */
export interface Field {
  readonly path: Path;
  readonly value: unknown;
  readonly schema: Schema;
  /** The closed object that contains the key; undefined for list items and keys of free-form maps. */
  readonly holder: ObjectSchema | undefined;
}

export type ObjectSchema = Extract<Schema, { type: 'object' }>;

const registry = new Registry(catalogue, toolServices());
await registry.load(registry.namespaces);

/** The schema of a component at a level. */
export function componentSchema(namespace: string, level: Level): Schema | undefined {
  return namespace === 'router' && level === 'service' ? routerSchema : registry.place(namespace, level)?.schema;
}

/** The levels at which a component is allowed. */
export function levelsOf(namespace: string): readonly Level[] {
  if (namespace === 'router') return ['service'];
  return registry.plugin(namespace)!.places!.map(({ at }) => at);
}

/** The levels of an `extra_config`; the one of an agent contains drivers and components of an endpoint. */
function levelsAt(path: Path): readonly Level[] {
  if (path[0] === 'async_agent' && path.length === 3) return ['agent', 'endpoint'];
  if (path.length === 1) return ['service'];
  // A pipeline inside a component has the level of an endpoint, at any depth.
  return [path.at(-3) === 'backend' ? 'backend' : 'endpoint'];
}

/** Every value of a good configuration that a schema describes, the root first. */
export function fieldsOf(document: unknown): Field[] {
  const results: Field[] = [];
  const visit = (value: unknown, schema: Schema, path: Path, holder?: ObjectSchema): void => {
    if ('anyOf' in schema) {
      results.push({ path, value, schema, holder });
      return;
    }
    if (schema.type === 'recursive') return visit(value, schema.schema(), path, holder);
    if (path.at(-1) === 'extra_config') return visitComponents(value as object, path);
    results.push({ path, value, schema, holder });
    if (schema.type === 'array') {
      for (const [index, item] of (value as unknown[]).entries()) visit(item, schema.items, [...path, index]);
    } else if (schema.type === 'object') {
      for (const [key, inner] of Object.entries(value as object)) {
        if (schema.properties) {
          if (schema.properties[key]) visit(inner, schema.properties[key], [...path, key], schema);
        } else if (schema.values) visit(inner, schema.values, [...path, key]);
      }
    }
  };
  const visitComponents = (components: object, path: Path): void => {
    for (const [namespace, config] of Object.entries(components)) {
      const schema = levelsAt(path).map((level) => componentSchema(namespace, level));
      visit(config, schema.find((one) => one !== undefined)!, [...path, namespace]);
    }
  };
  visit(document, serviceSchema, []);
  return results;
}
