import { toolServices } from '../../kernel/cli/tools.ts';
import { extraConfig } from '../../kernel/contract/extra-config.ts';
import type { Level, Schema } from '../../kernel/contract/index.ts';
import { backendSchema, routerSchema } from '../../kernel/contract/internal.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';

type ObjectSchema = Extract<Schema, { type: 'object' }>;
type Properties = NonNullable<ObjectSchema['properties']>;

/** A component at a level. */
interface Component {
  readonly namespace: string;
  readonly at: Level;
  readonly description: string;
  readonly schema: Schema;
}

/** Declarations that replace `kernel/contract/components.ts`: the settings of every component of this release. */
export async function componentTypes(): Promise<string> {
  const components = await allComponents();
  const writer = new TypeWriter();
  const levels = ([level, base]: readonly [Level, string]): string => {
    const members = components
      .filter(({ at }) => at === level)
      .map(({ namespace, at, description, schema }) => {
        const type = writer.named(schema, pascal(`${namespace}/${at}`));
        return `${doc(description)}readonly ${keyOf(namespace)}?: ${type} | undefined;`;
      });
    return `export interface ${pascal(level)}Components extends ${base} {\n${members.join('\n')}\n}`;
  };
  const exported = [
    ['service', 'Comments'],
    ['endpoint', 'Comments'],
    ['backend', 'Comments'],
    ['agent', 'EndpointComponents'],
  ] as const;
  const interfaces = exported.map(levels);
  return [
    "import type { BackendSettings } from './config.js';",
    "import type { Comments } from './schema.js';",
    ...interfaces,
    ...writer.declarations,
    'export {};\n',
  ].join('\n');
}

/** Components of this release, by namespace, including aliases. */
async function allComponents(): Promise<readonly Component[]> {
  const registry = new Registry(catalogue, toolServices());
  await registry.load(registry.namespaces);
  const all = registry.namespaces.flatMap((namespace) => {
    const { description, places = [] } = registry.plugin(namespace)!;
    return places.map(({ at, schema }) => ({ namespace, at, description, schema }));
  });
  await registry.close();
  const description = 'Matching, redirects, error bodies, client address and payload limits.';
  return [{ namespace: 'router', at: 'service', description, schema: routerSchema }, ...all];
}

/** Converts schemas to types. Objects with the same fields are declared only once. */
class TypeWriter {
  /** Names of the declared objects. */
  readonly #names = new Map<Schema, string>();
  /** Names by their declarations. */
  readonly #declared = new Map<string, string>();
  readonly #taken = new Set<string>();

  get declarations(): readonly string[] {
    return Array.from(this.#declared, ([members, name]) => `interface ${name} extends Comments {\n${members}\n}`);
  }

  /** Type of a schema; objects are declared under a name. @param name the preferred name. */
  named(schema: Schema, name: string): string {
    if (!isClosed(schema)) return this.#write(schema, name);
    const known = this.#names.get(schema);
    if (known !== undefined) return known;
    // Registered before its fields, since the schema may be recursive.
    this.#names.set(schema, this.#free(name));
    const members = this.#members(schema, name).join('\n');
    const declared = this.#declared.get(members) ?? this.#names.get(schema)!;
    this.#declared.set(members, declared);
    this.#names.set(schema, declared);
    return declared;
  }

  #write(schema: Schema, name: string): string {
    if (schema === backendSchema) return 'BackendSettings';
    if (schema === extraConfig) return 'EndpointComponents';
    if ('anyOf' in schema) return schema.anyOf.map((one) => this.named(one, name)).join(' | ');
    if ('enum' in schema && schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    switch (schema.type) {
      case 'string':
      case 'duration':
        return 'string';
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'array':
        return `readonly (${this.named(schema.items, name)})[]`;
      case 'recursive':
        return this.named(schema.schema(), pascal(schema.name));
      case 'object':
        return this.#map(schema, name);
      default:
        return 'unknown';
    }
  }

  /** An object with arbitrary keys, at least in part. */
  #map(schema: ObjectSchema, name: string): string {
    if (!schema.properties)
      return `{ readonly [key: string]: ${schema.values ? this.named(schema.values, name) : 'unknown'} }`;
    return `{\n${this.#members(schema, name).join('\n')}\nreadonly [key: string]: unknown;\n}`;
  }

  #members(schema: ObjectSchema, name: string): string[] {
    const required = new Set(schema.required);
    return Object.entries(schema.properties as Properties).map(([key, inner]) => {
      const type = this.named(inner, name + pascal(key));
      return `${doc(inner.description, inner.deprecated)}readonly ${keyOf(key)}${required.has(key) ? ': ' : '?: undefined | '}${type};`;
    });
  }

  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#taken.has(free); count++) free = `${name}${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** True for an object that accepts only its own fields and comments. */
function isClosed(schema: Schema): schema is ObjectSchema {
  const isObject = 'type' in schema && schema.type === 'object';
  return isObject && schema !== backendSchema && schema.properties !== undefined && schema.values === undefined;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function doc(description = '', deprecated = false): string {
  const text = [description.replaceAll('*/', '*\\/'), ...(deprecated ? ['@deprecated'] : [])].filter(Boolean).join(' ');
  return text === '' ? '' : `/** ${text} */\n`;
}
