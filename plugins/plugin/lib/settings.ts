import { Ajv, type AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { CheckSettings } from './handlers.ts';

/**
 * Compiles the JSON Schema that a module has for its settings: draft 2020-12 where `$schema` says so, else draft 07.
 * @throws Error for what is no schema.
 */
export function compileSettings(schema: AnySchemaObject): CheckSettings {
  const isLatest = typeof schema['$schema'] === 'string' && schema['$schema'].includes('2020-12');
  const options = { strict: false, useDefaults: true, validateFormats: false, logger: false } as const;
  const validate = (isLatest ? new Ajv2020(options) : new Ajv(options)).compile(schema);
  return (settings) => {
    if (validate(settings)) return null;
    const { instancePath, message = 'is wrong', params } = validate.errors![0]!;
    const key: unknown = params['additionalProperty'];
    return { pointer: instancePath, message: typeof key === 'string' ? `${message}: '${key}'` : message };
  };
}
