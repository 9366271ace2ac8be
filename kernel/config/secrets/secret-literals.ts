import { ConfigError, type Data, type DataObject, isObject, type Schema } from '#contract';
import { fieldName, joinPointer } from '../../values/pointer.ts';
import type { Report } from '../issues/report.ts';
import { hasFreeKeys, type KnownPlugins } from '../normalize/known-plugins.ts';
import { cloneData } from '../normalize/plain-data.ts';
import { innerSchemas } from '../schema/schema.ts';
import { compileSchema } from '../schema/validate.ts';
import type { TextRange } from '../syntax/position.ts';
import { holdsReadSecret, isReadText } from './read-secrets.ts';
import { holdsSecret, isAddress, isReference, passwordIn, privateKeyIn } from './secret-words.ts';
import { tokensIn } from './tokens-in-text.ts';

/** A secret written into a configuration in clear text. */
export interface SecretLiteral {
  readonly pointer: string;
  /** Kind of a secret, such as a password, without the secret itself. */
  readonly what: string;
  /** Secret part of the text; the whole text if absent. */
  readonly within?: TextRange | undefined;
}

type Path = (string | number)[];

/** Decides whether the field at a path of a component contains a secret. */
type HoldsSecret = (path: Path) => boolean;

/**
 * All clear-text secrets in a configuration: passwords and tokens of components and within texts, passwords in URLs,
 * private keys.
 */
export function secretLiterals(configuration: object, known: KnownPlugins): SecretLiteral[] {
  const results: SecretLiteral[] = [];
  const path: Path = [];
  const byName = new Map<string, boolean>();
  const isNamedSo: HoldsSecret = (at) => {
    // Items of a list are recognized as secrets by the name of the field that contains the list.
    const key = at.findLast((step) => typeof step === 'string');
    if (key === undefined) return false;
    let isSecret = byName.get(key);
    if (isSecret === undefined) {
      isSecret = holdsSecret(key);
      byName.set(key, isSecret);
    }
    return isSecret;
  };

  const visitEach = (value: DataObject, holds: HoldsSecret | null): void => {
    const isComponents = path.at(-1) === 'extra_config';
    for (const key in value) {
      path.push(key);
      visit(value[key]!, isComponents ? (hasFreeKeys(key, known) ? null : isNamedSo) : holds);
      path.pop();
    }
  };
  /** @param holds null outside components, where names do not indicate secrets. */
  const visit = (value: Data, holds: HoldsSecret | null): void => {
    if (typeof value === 'string') {
      const literal = literalOf(value, path, holds?.(path) ?? false);
      if (literal) results.push({ pointer: joinPointer('', ...path), ...literal });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        path.push(index);
        visit(item, holds);
        path.pop();
      });
    } else if (isObject(value)) visitEach(value, holds);
  };
  visitEach(configuration as DataObject, null);
  return results;
}

function literalOf(text: string, path: Path, isField: boolean): Omit<SecretLiteral, 'pointer'> | undefined {
  // The value is replaced in the file by a variable or a file path, so it is not written in clear text.
  if (holdsReadSecret(text) || isReadText(text)) return undefined;
  if (isField && !isReference(text)) return { what: `'${fieldName(joinPointer('', ...path))}'` };
  const key = privateKeyIn(text);
  if (key) return { what: 'a private key', within: key };
  const password = passwordIn(text);
  if (password) return { what: 'the password in this address', within: password };
  const [token] = tokensIn(text);
  return token && { what: 'a token or password in this text', within: token };
}

/**
 * Clear-text secrets that only a component's schema reveals: fields marked as `secret` whose names do not indicate one.
 * A URL without a password is not a secret.
 * @param pointer to the component.
 */
export function markedLiterals(schema: Schema, settings: Data, pointer: string): SecretLiteral[] {
  const results: SecretLiteral[] = [];
  if (!hasMarks(schema)) return results;
  const form = formOf(schema, settings);
  const visit = (value: Data, path: readonly string[]): void => {
    if (typeof value === 'string') {
      const isRead = isReference(value) || holdsReadSecret(value) || isReadText(value);
      if (isRead || holdsSecret(path.at(-1) ?? '') || isRevealedBy(value) || !isMarked(form, path, true)) return;
      const at = joinPointer(pointer, ...path);
      results.push({ pointer: at, what: `'${fieldName(at)}'` });
    } else if (Array.isArray(value) || isObject(value)) {
      for (const [step, item] of Object.entries(value)) visit(item, [...path, step]);
    }
  };
  visit(settings, []);
  return results;
}

/** True for a text that is recognized as a secret in any field, or as an address without a password. */
function isRevealedBy(text: string): boolean {
  return isAddress(text) || privateKeyIn(text) !== undefined || tokensIn(text).length > 0;
}

/** Selects the form in which a component is written: a key stored as a hash is not a secret. */
function formOf(schema: Schema, settings: Data): Schema {
  if (!('anyOf' in schema)) return schema;
  const isWrittenSo = (form: Schema) => compileSchema(form)(cloneData(settings), '').errors.length === 0;
  return schema.anyOf.find(isWrittenSo) ?? schema;
}

/**
 * True if the schema marks a value, or an object that contains it, as secret.
 * @param steps path to the value. @param certainly omits values that are only possibly a secret.
 */
export function isMarked(schema: Schema, steps: readonly string[], certainly = false): boolean {
  if (certainly ? schema.secret === true : schema.secret) return true;
  if ('anyOf' in schema) return schema.anyOf.some((branch) => isMarked(branch, steps, certainly));
  if (schema.type === 'recursive') return isMarked(schema.schema(), steps, certainly);
  const [step, ...rest] = steps;
  if (step === undefined) return false;
  const inner = innerOf(schema, step);
  return inner !== undefined && isMarked(inner, rest, certainly);
}

function innerOf(schema: Exclude<Schema, { anyOf: unknown }>, step: string): Schema | undefined {
  if (schema.type === 'array') return schema.items;
  if (schema.type !== 'object') return undefined;
  return schema.properties && Object.hasOwn(schema.properties, step) ? schema.properties[step] : schema.values;
}

const marks = new WeakMap<Schema, boolean>();

/** True if a schema marks any secret; computed once per schema. */
function hasMarks(schema: Schema): boolean {
  let hasOne = marks.get(schema);
  if (hasOne === undefined) {
    marks.set(schema, false);
    const inner = 'type' in schema && schema.type === 'recursive' ? [schema.schema()] : innerSchemas(schema);
    hasOne = schema.secret === true || inner.some(hasMarks);
    marks.set(schema, hasOne);
  }
  return hasOne;
}

/**
 * Warns of secrets written into the file. Messages never show them.
 *
 * Code: a warning, SECRET_LITERAL.
 */
export function checkSecrets(document: DataObject, known: KnownPlugins, report: Report): void {
  for (const literal of secretLiterals(document, known)) report.warnings.push(secretWarning(literal));
}

/** Warning for a clear-text secret. */
export function secretWarning({ pointer, what, within }: SecretLiteral): ConfigError {
  return new ConfigError('SECRET_LITERAL', pointer, `${what} is stored in plain text`, {
    within,
    hint: 'keep the value out of the file and inject it at deployment',
  });
}
