import { backendSchema, endpointSchema, type Level, routerSchema, type Schema, serviceSchema } from '#contract';
import { toPublicSchema } from '../config/index.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * The JSON Schema of the whole configuration: the core's own schemas with every plugin's at each `extra_config` it may
 * stand in, and the names of encodings and discoveries.
 */
export async function completeSchema(registry: Registry): Promise<object> {
  await registry.load(registry.namespaces);
  const backend = withExtra(backendSchema, extraAt(registry, 'backend'));
  const backendEncodings = registry.names('encoding').filter((name) => readable(registry, name));
  const outputs = registry.names('encoding').filter((name) => writable(registry, name));
  const endpoint = withExtra(
    {
      ...endpointSchema,
      properties: {
        ...endpointSchema.properties,
        output_encoding: { ...endpointSchema.properties.output_encoding, enum: outputs },
        backend: {
          ...endpointSchema.properties.backend,
          items: {
            ...backend,
            properties: {
              ...backend.properties,
              encoding: { ...backendSchema.properties.encoding, enum: backendEncodings },
              sd: { ...backendSchema.properties.sd, enum: registry.names('discovery') },
            },
          },
        },
      },
    },
    extraAt(registry, 'endpoint'),
  );
  const service = withExtra(
    {
      ...serviceSchema,
      properties: {
        ...serviceSchema.properties,
        output_encoding: { ...serviceSchema.properties.output_encoding, enum: outputs },
        endpoints: { ...serviceSchema.properties.endpoints, items: endpoint },
      },
    },
    { router: routerSchema, ...extraAt(registry, 'service') },
  );
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...toPublicSchema(service) };
}

type Properties = Readonly<Record<string, Schema>>;
type ObjectSchema = Extract<Schema, { type: 'object' }> & { readonly properties: Properties };

function withExtra(schema: ObjectSchema, components: Properties): ObjectSchema {
  const { description } = schema.properties['extra_config']!;
  const extra: Schema = { type: 'object', properties: components, ...(description !== undefined && { description }) };
  return { ...schema, properties: { ...schema.properties, extra_config: extra } };
}

/** Every namespace that may stand at a level, aliases included. */
function extraAt(registry: Registry, level: Level): Properties {
  const components: Record<string, Schema> = {};
  for (const namespace of registry.namespaces) {
    const place = registry.place(namespace, level);
    if (place) components[namespace] = { description: registry.plugin(namespace)!.description, ...place.schema };
  }
  return components;
}

function readable(registry: Registry, name: string): boolean {
  const encoding = registry.encoding(name)!;
  return encoding.raw === true || encoding.decode !== undefined;
}

function writable(registry: Registry, name: string): boolean {
  const encoding = registry.encoding(name)!;
  return encoding.raw === true || encoding.encode !== undefined;
}
