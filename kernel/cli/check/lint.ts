import { readFile } from 'node:fs/promises';
import { Ajv, type ErrorObject } from 'ajv';
import { ConfigError, type Pattern } from '#contract';
import { joinPointer } from '../../config/index.ts';
import { fileErrorReason, PatternError } from '../../contract/internal.ts';
import { createPatterns } from '../../patterns/patterns.ts';

/**
 * Validates a document against a given JSON Schema (drafts 06 and 07).
 *
 * Codes: LINT_SCHEMA when the schema cannot be read or compiled, LINT for each violation.
 * @param place path or URL of the schema.
 */
export async function lintAgainst(place: string, data: unknown): Promise<ConfigError[]> {
  let validate: ReturnType<Ajv['compile']>;
  let isValid: unknown;
  try {
    const text = /^https?:\/\//.test(place) ? await download(place) : await readFile(place, 'utf8');
    const ajv = new Ajv({
      allErrors: true,
      strict: false,
      validateFormats: false,
      ownProperties: true,
      // Generates code without optimization, which would take longer than the single call of each check.
      code: { regExp, optimize: false },
    });
    validate = ajv.compile(JSON.parse(text));
    isValid = validate(data);
  } catch (error) {
    const { hint } = error as { hint?: string };
    const message = fileErrorReason(error);
    return [
      new ConfigError('LINT_SCHEMA', '', `ERROR compiling the schema: ${place}: ${message}`, { hint, cause: error }),
    ];
  }
  if (isValid) return [];
  return validate.errors!.map((error) => new ConfigError('LINT', error.instancePath, describe(error)));
}

const patterns = createPatterns();
const regExp = Object.assign(compilePattern, { code: '' });

/**
 * Like the pattern service, except that error messages contain the pattern, because its position in the schema cannot
 * be shown.
 */
function compilePattern(source: string): Pattern {
  try {
    return patterns.compile(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new PatternError(`pattern ${JSON.stringify(source)}: ${error.message}`, error);
  }
}

/** Maximum size of a fetched schema, in bytes. */
const SCHEMA_LIMIT_BYTES = 1024 * 1024;

async function download(address: string): Promise<string> {
  const { default: got } = await import('got');
  const limit = new AbortController();
  const request = got(address, { timeout: { request: 10_000 }, retry: { limit: 0 }, signal: limit.signal });
  request.on('downloadProgress', ({ transferred }) => {
    if (transferred > SCHEMA_LIMIT_BYTES) limit.abort();
  });
  return request.text();
}

/** Describes a violation, including the key it concerns. */
function describe({ message, params, instancePath }: ErrorObject): string {
  const key = (params as { additionalProperty?: string }).additionalProperty;
  return key === undefined ? (message ?? 'does not match the schema') : `${message}: ${joinPointer(instancePath, key)}`;
}
