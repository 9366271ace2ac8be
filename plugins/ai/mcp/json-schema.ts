import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type DataObject, mayLoseDigits, PatternLimit, printJson, type Site } from '#contract';

/**
 * Maximum size of the arguments, in characters, for which all violations are listed. For larger arguments only the
 * first is reported.
 */
const LISTED_CHARACTERS = 64 * 1024;
/** Maximum number of violations listed. */
const MAX_LISTED = 20;

/**
 * Validators of schemas against the meta-schema. Each is created once, because that takes longer than compiling a
 * schema.
 */
const drafts = new Ajv2020({ strict: false, logger: false });

/** Checks data against a schema. @returns one line for each violation; null if the data is valid. */
export type CheckData = (data: DataObject) => string | null;

/**
 * Compiles a JSON Schema of draft 2020-12. Formats are annotations and are not enforced, as the draft specifies.
 * Patterns use RE2 syntax.
 * @param pointer JSON pointer of the schema, relative to the configuration.
 * @throws ConfigError MCP_SCHEMA.
 */
export function compileCheck(site: Site<unknown>, schema: DataObject, pointer: string): CheckData {
  const validate = compile(site, schema, pointer, false);
  let listing: ValidateFunction | undefined;
  const check = (given: DataObject): string | null => {
    const text = printJson(given);
    // Backends receive numbers with all digits, but the schema checks the nearest JavaScript number.
    const data: unknown = mayLoseDigits(text) ? JSON.parse(text) : given;
    if (validate(data)) return null;
    if (text.length > LISTED_CHARACTERS) return described(validate.errors);
    listing ??= compile(site, schema, pointer, true);
    listing(data);
    return described(listing.errors ?? validate.errors);
  };
  return (given) => {
    try {
      return check(given);
    } catch (error) {
      // Data that cannot be checked is rejected: a text too long for a pattern, or nesting that overflows the stack.
      if (error instanceof PatternLimit) return `- (root) ${error.message}`;
      if (error instanceof RangeError) return '- (root) is nested too deeply';
      throw error;
    }
  };
}

function compile(site: Site<unknown>, schema: DataObject, pointer: string, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors,
    strict: false,
    logger: false,
    addUsedSchema: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    // Inherited properties such as `toString` do not count as arguments.
    ownProperties: true,
    code: { regExp: Object.assign((source: string) => site.pattern(source, pointer), { code: '' }) },
  });
  // Replaces the built-in check of unique items, which compares every item with every other item.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: areUnique });
  try {
    drafts.validateSchema(schema, true);
    return ajv.compile(structuredClone(schema));
  } catch (error) {
    const { message } = error as Error;
    throw site.fault('MCP_SCHEMA', pointer, `not a valid JSON Schema of draft 2020-12: ${message}`, { cause: error });
  }
}

function areUnique(demanded: boolean, items: readonly unknown[]): boolean {
  return !demanded || new Set(items.map(canonical)).size === items.length;
}

/** Serializes a value independently of the order of its keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function described(errors: readonly ErrorObject[] | null | undefined): string {
  const lines = (errors ?? []).slice(0, MAX_LISTED).map(({ instancePath, message = 'is not valid', params }) => {
    const extra = (params as { additionalProperty?: unknown }).additionalProperty;
    return `- ${instancePath || '(root)'} ${message}${typeof extra === 'string' ? `: ${extra}` : ''}`;
  });
  return lines.join('\n');
}
