import { ConfigError, type DataObject, type Site } from '#contract';
import { type CheckData, compileCheck } from './json-schema.ts';

/** A schema of arguments or results in its published form, and the check that enforces it. */
export interface CheckedSchema {
  readonly schema: Readonly<DataObject>;
  readonly violations: CheckData;
}

/**
 * Compiles a schema of arguments or results, which must have type `object` (the default).
 * @throws ConfigError MCP_SCHEMA.
 */
export function checkedSchema(site: Site<unknown>, schema: Readonly<DataObject>, pointer: string): CheckedSchema {
  const { type = 'object' } = schema;
  if (type !== 'object') {
    throw site.fault(
      'MCP_SCHEMA',
      `${pointer}/type`,
      'the schemas of arguments and results must have the type "object"',
      {
        hint: 'Set "type" to "object".',
      },
    );
  }
  const whole = { type, ...schema };
  return { schema: whole, violations: compileCheck(site, whole, pointer) };
}

/**
 * Adopts the schema of an endpoint's component, which is of an older draft. Returns undefined, with the warning
 * MCP_SCHEMA, if it is not valid in the draft that tools use.
 * @param of component that the schema is written for.
 * @param field field of the tool that would override it.
 */
export function inheritedSchema(
  { $schema: _draft, ...schema }: DataObject,
  of: string,
  field: string,
  { site, pointer }: { readonly site: Site<unknown>; readonly pointer: string },
): CheckedSchema | undefined {
  const { type } = schema;
  const isOfObjects = Array.isArray(type) && type.includes('object');
  try {
    return checkedSchema(site, isOfObjects ? { ...schema, type: 'object' } : schema, pointer);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    site.warn('MCP_SCHEMA', pointer, `the schema of ${of} is not used for the tool: ${error.message}`, {
      hint: `Set "${field}" of the tool.`,
    });
    return undefined;
  }
}
