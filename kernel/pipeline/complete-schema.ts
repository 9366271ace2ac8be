import type { Level, Namespace, Schema } from '#contract';
import {
  closedObject,
  DEFINITIONS,
  type JsonSchema,
  oldNamesOf,
  oldNamespaceSchemas,
  recursiveSchemas,
  toPublicSchema,
  withOldFields,
  withOldNames,
  withVersionTwo,
} from '../config/index.ts';
import { backendSchema, endpointSchema, routerSchema, serviceSchema } from '../contract/internal.ts';
import type { Registry } from '../registry/registry.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

/** The JSON Schema of a whole configuration. */
export interface CompleteSchema extends JsonSchema {
  readonly $id: string;
  /** Schemas of every component at every level it supports, by `definitionKey`. */
  readonly definitions: Schemas;
}

const levels: readonly Level[] = ['service', 'endpoint', 'backend', 'agent'];
const DRAFT = 'http://json-schema.org/draft-07/schema#';

/**
 * Returns the JSON Schema of a whole configuration: the core's own schemas, with those of every plugin at each
 * `extra_config` where it is allowed, and the names of encodings and discoveries. It has no external references.
 */
export async function completeSchema(registry: Registry): Promise<CompleteSchema> {
  await registry.load(registry.namespaces);
  const components = componentsOf(registry);
  const outputs = registry.names('encoding').filter((name) => writable(registry, name));
  const inputs = registry.names('encoding').filter((name) => readable(registry, name));

  const backend = complete('backend', toPublicSchema(backendSchema), components, {
    encoding: { enum: inputs },
    sd: { enum: registry.names('discovery') },
  });
  const alone = registry.namespaces.filter((namespace) => registry.plugin(namespace)!.answersAlone);
  const endpoint = complete('endpoint', withOptionalBackend(toPublicSchema(endpointSchema), alone), components, {
    output_encoding: { enum: outputs },
    backend: { items: backend },
  });
  const published = toPublicSchema(serviceSchema);
  const service = complete('service', published, components, {
    output_encoding: { enum: outputs },
    endpoints: { items: endpoint },
    async_agent: { items: completeAgent(agentOf(published), backend, components) },
  });
  const definitions = {
    ...recursiveDefinitions(registry),
    ...Object.fromEntries(components.map(({ key, schema }) => [key, schema])),
  };
  const root = withVersionTwo(service, definitions);
  return { $schema: DRAFT, $id: `urn:sluice:schema:${registry.services.version}`, ...root, definitions };
}

/**
 * Returns the JSON Schema of one component at any level.
 * @returns undefined when no component of that name has a configuration.
 */
export async function componentSchema(registry: Registry, namespace: Namespace): Promise<JsonSchema | undefined> {
  const { $id, definitions } = await completeSchema(registry);
  const forms = levels
    .map((level) => definitions[definitionKey(level, namespace)])
    .filter((form) => form !== undefined);
  const different = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  if (different.length === 0) return undefined;
  const own = recursiveDefinitions(registry, [namespace]);
  const more = Object.keys(own).length > 0 && { definitions: own };
  const head = { $schema: DRAFT, $id: `${$id}:${namespace}`, ...more };
  return different.length === 1 ? { ...head, ...different[0] } : { ...head, title: namespace, anyOf: different };
}

/** Definitions that recursive schemas refer to. */
function recursiveDefinitions(registry: Registry, namespaces: readonly Namespace[] = registry.namespaces): Schemas {
  const results = new Map<string, Schema>();
  for (const namespace of namespaces) {
    for (const { schema } of registry.plugin(namespace)?.places ?? []) recursiveSchemas(schema, results);
  }
  return Object.fromEntries([...results].map(([name, schema]) => [name, toPublicSchema(schema)]));
}

/** A component allowed in the `extra_config` of a level. */
interface Component {
  readonly level: Level;
  readonly namespace: Namespace;
  readonly oldNames: readonly string[];
  /** Key of the schema in the published definitions. */
  readonly key: string;
  readonly schema: JsonSchema;
}

/** All components at all levels, including aliases. */
function componentsOf(registry: Registry): Component[] {
  const router = withOldFields('router', toPublicSchema(routerSchema));
  const results: Component[] = [
    {
      level: 'service',
      namespace: 'router',
      oldNames: oldNamesOf('router', registry.compatibility),
      key: definitionKey('service', 'router'),
      schema: router,
    },
  ];
  for (const namespace of registry.namespaces) {
    for (const { at: level, schema } of registry.plugin(namespace)!.places ?? []) {
      const { description } = registry.plugin(namespace)!;
      const described = { title: namespace, description, ...toPublicSchema(schema) };
      const complete = withOldNames(described, registry.plugin(namespace)!.oldFields ?? {});
      const oldNames = oldNamesOf(namespace, registry.compatibility);
      results.push({ level, namespace, oldNames, key: definitionKey(level, namespace), schema: complete });
    }
  }
  return results;
}

/** Key of a component in the definitions. */
export function definitionKey(level: Level, namespace: Namespace): string {
  return `${level}.${namespace.replaceAll('/', '.')}`;
}

/**
 * Requires an endpoint to have a backend, or a component that responds alone. @param alone names of such components.
 */
function withOptionalBackend(endpoint: JsonSchema, alone: readonly Namespace[]): JsonSchema {
  if (alone.length === 0) return endpoint;
  const required = (endpoint['required'] as readonly string[]).filter((field) => field !== 'backend');
  const having = (field: string, inner: JsonSchema = {}) => ({ properties: { [field]: inner }, required: [field] });
  const choices = [
    having('backend'),
    ...alone.map((name) => having('extra_config', { type: 'object', ...having(name) })),
  ];
  return { ...endpoint, required, allOf: [...((endpoint['allOf'] as object[]) ?? []), { anyOf: choices }] };
}

/** Adds the components known to the registry to a core object's schema, and the old field names accepted in existing files. */
function complete(
  level: Exclude<Level, 'agent'>,
  schema: JsonSchema,
  components: readonly Component[],
  known: Schemas,
): JsonSchema {
  const properties = schema['properties'] as Schemas;
  const filled = Object.entries(known).map(([name, more]) => [name, { ...properties[name], ...more }]);
  const extra = { ...properties['extra_config'], ...extraAt([level], components) };
  const all = { ...properties, ...Object.fromEntries(filled), extra_config: extra };
  return withOldFields(level === 'service' ? 'root' : level, { ...schema, properties: all });
}

function agentOf(service: JsonSchema): JsonSchema {
  return ((service['properties'] as Schemas)['async_agent'] as { readonly items: JsonSchema }).items;
}

/** Allows drivers in an agent, and the components that wrap backends. */
function completeAgent(agent: JsonSchema, backend: JsonSchema, components: readonly Component[]): JsonSchema {
  const properties = agent['properties'] as Schemas;
  const extra = { ...properties['extra_config'], ...extraAt(['agent', 'endpoint'], components) };
  return {
    ...agent,
    properties: { ...properties, backend: { ...properties['backend'], items: backend }, extra_config: extra },
  };
}

/**
 * Schema of `extra_config` at a level: current names as properties, old ones as patterns, which editors do not suggest.
 */
function extraAt(levels: readonly Level[], components: readonly Component[]): JsonSchema {
  const here = components
    .filter(({ level }) => levels.includes(level))
    .map(({ namespace, oldNames, key }) => ({ namespace, oldNames, reference: { $ref: `${DEFINITIONS}${key}` } }));
  const object = closedObject(Object.fromEntries(here.map(({ namespace, reference }) => [namespace, reference])));
  const old = here.map(({ namespace, oldNames, reference }) => oldNamespaceSchemas(namespace, oldNames, reference));
  return { ...object, patternProperties: Object.assign({}, object['patternProperties'], ...old) };
}

function readable(registry: Registry, name: string): boolean {
  const encoding = registry.encoding(name)!;
  return encoding.raw === true || encoding.decode !== undefined;
}

function writable(registry: Registry, name: string): boolean {
  const encoding = registry.encoding(name)!;
  return encoding.raw === true || encoding.encode !== undefined;
}
