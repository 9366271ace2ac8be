import type { BackendConfig, Data, DataObject, EndpointConfig, Level, Schema, ServiceConfig } from '#contract';
import { backendSchema, endpointSchema, routerSchema, serviceSchema } from '../../contract/internal.ts';
import { cloneData } from '../normalize/plain-data.ts';
import { printDuration } from '../schema/duration.ts';
import { compileSchema } from '../schema/validate.ts';

/** Schema of a component at a level; undefined if no component has that name. */
export type ComponentSchema = (namespace: string, level: Level) => Schema | undefined;

/** An endpoint in document form, with its original position. */
export interface Route {
  /** Method and path; unique among all routes. */
  readonly key: string;
  readonly method: string;
  readonly endpoint: string;
  readonly index: number;
  readonly data: DataObject;
}

/** A configuration in document form: all defaults written out, durations as text, routes by key. */
export interface EffectiveDocument {
  readonly service: DataObject;
  readonly routes: readonly Route[];
}

/**
 * Converts a configuration to document form. Equivalent configurations give equal documents.
 * @param componentSchema fills in the defaults of components too.
 */
export function effectiveDocument(
  config: ServiceConfig,
  componentSchema: ComponentSchema = () => undefined,
): EffectiveDocument {
  const components = (given: DataObject, level: Level): DataObject => {
    const written = Object.entries(given).map(([namespace, value]): [string, Data] => {
      const schema = componentSchema(namespace, level);
      return [namespace, schema ? writeComponent(schema, value) : value];
    });
    return Object.fromEntries(written);
  };
  const writeBackend = (backend: BackendConfig): DataObject => {
    const { extra_config, method, ...rest } = backend;
    const fields = write(backendSchema, method === '' ? rest : { ...rest, method });
    return { ...fields, extra_config: components(extra_config, 'backend') };
  };
  const writeEndpoint = ({ extra_config, backend, ...rest }: EndpointConfig): DataObject => ({
    ...write(endpointSchema, rest),
    backend: backend.map(writeBackend),
    extra_config: components(extra_config, 'endpoint'),
  });

  const { $schema: _, extra_config, router, endpoints, ...rest } = config;
  const service = {
    ...write(serviceSchema, rest),
    extra_config: { ...components(extra_config, 'service'), router: write(routerSchema, router) },
  };
  const seen = new Map<string, number>();
  const routes = endpoints.map((endpoint, index): Route => {
    const name = `${endpoint.endpoint} ${endpoint.method}`;
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    const { method, endpoint: path } = endpoint;
    return {
      key: times === 0 ? name : `${name} ${times}`,
      method,
      endpoint: path,
      index,
      data: writeEndpoint(endpoint),
    };
  });
  return { service, routes: routes.sort((one, other) => (one.key < other.key ? -1 : 1)) };
}

/** The document as one value, with endpoints ordered by key. */
export function documentData({ service, routes }: EffectiveDocument): DataObject {
  return { ...service, endpoints: routes.map(({ data }) => data) };
}

function writeComponent(schema: Schema, value: Data): Data {
  const { value: filled, errors } = compileSchema(schema)(cloneData(value), '');
  return errors.length > 0 ? value : writeValue(schema, filled as Data);
}

function write(schema: Schema, value: object): DataObject {
  return writeValue(schema, value as DataObject) as DataObject;
}

/** Durations are numbers in a normalized configuration; only the schema distinguishes them from other numbers. */
function writeValue(schema: Schema, value: Data): Data {
  if ('anyOf' in schema || value === null) return value;
  if (schema.type === 'duration') return typeof value === 'number' ? printDuration(value) : value;
  if (schema.type === 'array') return (value as Data[]).map((item) => writeValue(schema.items, item));
  if (schema.type !== 'object') return value;
  const { properties, values } = schema;
  if (!properties && !values) return value;
  const result = Object.entries(value as DataObject).map(([key, item]): [string, Data] => {
    const inner = properties && Object.hasOwn(properties, key) ? properties[key] : values;
    return [key, inner ? writeValue(inner, item) : item];
  });
  return Object.fromEntries(result);
}
