import { Ajv, type AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { CheckSettings } from './handlers.ts';

/**
 * Compiles a module's JSON Schema for its settings: draft 2020-12 if `$schema` says so, otherwise draft 07.
 * @throws Error for an invalid schema.
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
