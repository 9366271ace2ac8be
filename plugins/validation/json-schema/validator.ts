import { type Data, type DataObject, isObject, mayLoseDigits, parseExact } from '#contract';
import { compileProof, isProvable } from './compiled.ts';
import { examine } from './evaluate.ts';
import { childrenOf, type SchemaNode } from './node.ts';
import { readSchema, type SchemaSite } from './read.ts';

/**
 * Maximum number of subschemas for generated code, whose generation takes quadratic time: half a second for this
 * number. With larger schemas every document is evaluated in full.
 */
const MAX_PROVEN = 1000;

/** A compiled schema. */
export interface Validator {
  /**
   * Describes the violations of a document as lines of text; null for a valid one.
   * @throws RangeError if it is nested too deeply. @throws PatternLimit for a text that is too long for its pattern.
   */
  validate(document: Data): string | null;
  /** Same as `validate`, with a fast path for documents that are certainly valid. */
  validateData(document: Data): string | null;
  /** Validates a JSON text, like `validate` does with data. @throws SyntaxError for invalid JSON. */
  validateText(text: string): string | null;
}

/**
 * Compiles a JSON Schema of draft 04, 06, 07, 2019-09 or 2020-12.
 *
 * @throws ConfigError those of `readSchema`, `JSON_SCHEMA_ENDLESS` for a circular reference, and `JSON_SCHEMA_DEPTH` for a
 *   schema nested so deeply that the stack overflows.
 */
export function compileValidator(schema: DataObject, site: SchemaSite): Validator {
  try {
    return compile(schema, site);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw site.fault('JSON_SCHEMA_DEPTH', '', 'the schema is nested too deeply');
  }
}

function compile(schema: DataObject, site: SchemaSite): Validator {
  const root = readSchema(schema, site);
  const { recursive, endless } = findRecursion(root);
  if (endless) throw site.fault('JSON_SCHEMA_ENDLESS', endless.pointer, 'refers to itself in an endless loop');
  // Recursive schemas are not compiled: generated code checks a value once for every path to it, and recursion
  // multiplies the paths.
  const nodes = reachable(root);
  const tracks = nodes.some(({ unevaluated }) => unevaluated !== null);
  const proof =
    recursive || nodes.length > MAX_PROVEN || !nodes.every(isProvable) ? null : compileProof(root, schema, site);
  const validate = (document: Data) => {
    const findings = examine(root, document, { recursive, tracks });
    return findings.count === 0 ? null : findings.text();
  };
  if (!proof) return { validate, validateData: validate, validateText: (text) => validate(parseExact(text)) };
  return {
    validate,
    validateData: (document) => (!holdsExact(document) && proof(document) ? null : validate(document)),
    validateText: (text) => {
      const suspicious = mayLoseDigits(text);
      const document = suspicious ? parseExact(text) : (JSON.parse(text) as Data);
      const plain = !suspicious || !holdsExact(document);
      return plain && proof(document) ? null : validate(document);
    },
  };
}

function holdsExact(value: Data): boolean {
  if (Array.isArray(value)) return value.some(holdsExact);
  if (isObject(value)) return Object.values(value).some(holdsExact);
  return JSON.isRawJSON(value);
}

/** Properties of a schema's references, known before any document arrives. */
export interface Recursion {
  /** Whether the schema contains itself. */
  readonly recursive: boolean;
  /** A schema that refers back to itself for the same value, so that validation would never end. */
  readonly endless: SchemaNode | null;
}

export function findRecursion(root: SchemaNode): Recursion {
  return { recursive: findCycle([root], false) !== null, endless: findCycle(reachable(root), true) };
}

/** Returns a schema and all schemas that it applies. */
export function reachable(root: SchemaNode): SchemaNode[] {
  const results = new Set([root]);
  for (const node of results) for (const { child } of childrenOf(node)) results.add(child);
  return [...results];
}

/**
 * @param hereOnly whether to follow only subschemas that apply to the same value. @returns a node of the first cycle
 * found.
 */
function findCycle(starts: readonly SchemaNode[], hereOnly: boolean): SchemaNode | null {
  const open = new Set<SchemaNode>();
  const done = new Set<SchemaNode>();
  const visit = (node: SchemaNode): SchemaNode | null => {
    if (open.has(node)) return node;
    if (done.has(node)) return null;
    open.add(node);
    for (const { child, here } of childrenOf(node)) {
      const cycle = here || !hereOnly ? visit(child) : null;
      if (cycle) return cycle;
    }
    open.delete(node);
    done.add(node);
    return null;
  };
  for (const start of starts) {
    const cycle = visit(start);
    if (cycle) return cycle;
  }
  return null;
}
