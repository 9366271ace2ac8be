import { type JsonSchema, schemaName } from '../schemas.ts';

/** The schemas of an OpenAPI description, each defined once. */
export interface Components {
  /** Schemas of an OpenAPI document, by name. */
  readonly schemas: Readonly<Record<string, object>>;
  /** Schema to use in place: named schemas become references. @throws Error when two share a name. */
  refer(schema: JsonSchema): object;
}

export function createComponents(): Components {
  const schemas: Record<string, object> = {};
  const named = new Map<string, JsonSchema>();

  const refer = (schema: JsonSchema): object => {
    const name = schema[schemaName] as string | undefined;
    if (name === undefined) return within(schema);
    const known = named.get(name);
    if (!known) {
      named.set(name, schema);
      schemas[name] = within(schema);
    } else if (known !== schema) {
      throw new Error(`two schemas are named ${name}`);
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const within = (schema: object): object =>
    Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inner(value)]));

  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    return typeof value === 'object' && value !== null ? refer(value as JsonSchema) : value;
  };

  return { schemas, refer };
}
