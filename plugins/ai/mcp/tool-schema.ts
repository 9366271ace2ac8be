import { ConfigError, type DataObject, type Site } from '#contract';
import { type CheckData, compileCheck } from './json-schema.ts';

/** A schema of arguments or results, as clients are shown it, and what checks it. */
export interface CheckedSchema {
  readonly schema: Readonly<DataObject>;
  readonly violations: CheckData;
}

/**
 * Arguments and results are objects, whatever is written of them.
 * @throws ConfigError MCP_SCHEMA.
 */
export function checkedSchema(site: Site<unknown>, schema: Readonly<DataObject>, pointer: string): CheckedSchema {
  const { type = 'object' } = schema;
  if (type !== 'object') {
    throw site.fault('MCP_SCHEMA', `${pointer}/type`, 'the schema of arguments and results must have type "object"', {
      hint: 'Set "type" to "object".',
    });
  }
  const whole = { type, ...schema };
  return { schema: whole, violations: compileCheck(site, whole, pointer) };
}

/**
 * A schema that the endpoint of a tool has for itself, of an older draft; undefined, with the warning MCP_SCHEMA, where it
 * means nothing in that of tools.
 * @param of the component that it is written for. @param field which would stand above it.
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
      hint: `Set "${field}" at the tool.`,
    });
    return undefined;
  }
}
