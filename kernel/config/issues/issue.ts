import { ConfigError, type Data, type DataObject, isObject, setKey } from '#contract';
import { escapePointer, parentPointer, parsePointer } from '../../values/pointer.ts';
import { maskStored } from '../secrets/read-secrets.ts';
import { type IsSecret, isSecret } from '../secrets/secret.ts';
import type { Document } from '../syntax/load.ts';
import { type KeyOrValue, type Position, PositionedError } from '../syntax/position.ts';

/**
 * Appended to advice for a template: `sluice migrate` rewrites plain files only, so the author must make the changes.
 */
const advice: readonly (readonly [offer: string, byHand: string])[] = [
  ['sluice migrate renames it', 'rename it in the template'],
  ['sluice migrate moves it', 'move it in the template'],
  [', which sluice migrate moves', ': move it in the template'],
  [
    'sluice migrate --write brings the file to version 3',
    'set "version": 3 in the template and run sluice check again',
  ],
];

/** A position in a configuration file; lines and columns start at 1, columns are UTF-16 units, the end is exclusive. */
interface InFile extends Partial<Position> {
  readonly file?: string;
  readonly pointer: string;
}

/** Another position that contributes to an error. */
export interface RelatedIssue extends InFile {
  readonly message?: string;
}

/** A finding about a configuration, in machine-readable form. */
export interface Issue extends InFile {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** Component that the finding belongs to; `core` outside all components. */
  readonly namespace: string;
  readonly message: string;
  /** The value in question as compact JSON, truncated to 200 characters; `***` for a secret. Absent for a missing key. */
  readonly value?: string;
  /** Suggested correction. */
  readonly hint?: string;
  /** Whether the error has a single possible correction, which `check --fix` makes. */
  readonly fixable?: true;
  readonly related?: readonly RelatedIssue[];
}

/**
 * Adds positions to errors: a wrong key is placed at the key, a wrong value at the value or at its invalid range, a
 * missing key at the object that lacks it.
 * @param document null if the errors are about an unreadable file.
 * @param hides selects the values not to be shown. Default: by names and texts.
 */
export function toIssues(
  document: Document | null,
  errors: readonly ConfigError[],
  severity: Issue['severity'],
  hides: IsSecret = isSecret,
): Issue[] {
  return errors.map((error) => {
    const value = shownValue(document, error, hides);
    const related = relatedOf(document, error);
    return {
      ...placeOf(document, error),
      pointer: error.pointer,
      severity,
      code: error.code,
      namespace: namespaceOf(error.pointer),
      message: maskStored(advised(document, error instanceof PositionedError ? error.reason : error.message)),
      ...(value !== undefined && { value }),
      ...(error.hint !== undefined && { hint: maskStored(advised(document, error.hint)) }),
      ...(isFixable(error) && { fixable: true as const }),
      ...(related.length > 0 && { related }),
    };
  });
}

function isFixable(error: ConfigError): boolean {
  return error.fix !== undefined || (error instanceof PositionedError && error.mend !== undefined);
}

function placeOf(document: Document | null, error: ConfigError): Partial<Position> & { file?: string } {
  if (error instanceof PositionedError) return { file: error.file, ...error.position };
  return document ? { file: document.file, ...locate(document, error.pointer, keyOrValue(error), error.within) } : {};
}

/** Codes of errors that are about a key, regardless of its value. */
const aboutKeys =
  /^(?:SCHEMA_UNKNOWN_KEY|OPTION_UNUSED|JSON_SCHEMA_KEYWORD|SHAPE_MAPPING|CONFIG_(?:CONFLICT|INCLUDE|NOT_SUPPORTED|OLD_FIELD)|NAMESPACE_.*)$/;

function keyOrValue({ code, fix, ofKey }: ConfigError): KeyOrValue {
  return ofKey || aboutKeys.test(code) || (fix && 'key' in fix) ? 'key' : 'value';
}

/** Values that are not in the document, such as defaults or missing keys, are placed at the innermost existing object. */
function locate(
  document: Document,
  pointer: string,
  which: KeyOrValue,
  within: ConfigError['within'],
): Position | undefined {
  const position = document.locate(pointer, which, within);
  return position || pointer === '' ? position : locate(document, parentPointer(pointer), 'value', undefined);
}

function relatedOf(document: Document | null, error: ConfigError): RelatedIssue[] {
  const file = document && { file: document.file };
  const placed = error instanceof PositionedError ? error.places : [];
  return [
    ...placed.map(({ position, ...place }) => ({ ...place, file: (error as PositionedError).file, ...position })),
    ...error.related.map((pointer) => ({ pointer, ...file, ...document?.locate(pointer, 'value') })),
  ];
}

/** Name after the innermost `extra_config` of a pointer. */
function namespaceOf(pointer: string): string {
  const steps = parsePointer(pointer);
  return steps[steps.lastIndexOf('extra_config', steps.length - 2) + 1 || steps.length] ?? 'core';
}

/** A copy of an error without secrets from stores; the error itself if it has none. */
export function withoutSecrets(error: ConfigError): ConfigError {
  const { code, pointer, hint, fix, ofKey, within, related, cause } = error;
  const message = maskStored(error.message);
  const isMasked = message !== error.message || (hint !== undefined && maskStored(hint) !== hint);
  if (!isMasked || error instanceof PositionedError) return error;
  return new ConfigError(code, pointer, message, {
    hint: hint && maskStored(hint),
    fix,
    ofKey,
    within,
    related,
    cause,
  });
}

const MAX_VALUE = 200;

function shownValue(document: Document | null, { code, pointer }: ConfigError, hides: IsSecret): string | undefined {
  if (pointer === '' || code === 'SCHEMA_REQUIRED') return undefined;
  const value = document?.valueAt(pointer);
  if (value === undefined) return undefined;
  const holder = document?.valueAt(parentPointer(pointer));
  if (hides(pointer, value, holder)) return '***';
  const text = JSON.stringify(abridged(value as Data, pointer, { left: MAX_VALUE + 1, hides }, holder));
  return text.slice(0, MAX_VALUE).replace(/[\ud800-\udbff]$/, '');
}

/** Copies a value without secrets, leaving out the parts that exceed the remaining characters. */
function abridged(
  value: Data,
  pointer: string,
  budget: { left: number; readonly hides: IsSecret },
  holder: unknown,
): Data {
  if (budget.hides(pointer, value, holder)) return '***';
  budget.left--;
  if (typeof value === 'string') return value.slice(0, MAX_VALUE + 1);
  if (Array.isArray(value)) {
    const items: Data[] = [];
    for (const item of value)
      if (budget.left > 0) items.push(abridged(item, `${pointer}/${items.length}`, budget, value));
    return items;
  }
  if (!isObject(value)) return value;
  const object: DataObject = {};
  for (const key in value) {
    if (budget.left <= 0) break;
    setKey(object, key, abridged(value[key]!, `${pointer}/${escapePointer(key)}`, budget, value));
  }
  return object;
}

/** Formats a finding as one line: `gateway.json:41:17: must be an array (/host) [SCHEMA_TYPE]; hint: wrap it in [ ]`. */
export function issueLine({ file, line, column, message, pointer, code, hint }: Issue): string {
  const place = file === undefined ? '' : line === undefined ? `${file}: ` : `${file}:${line}:${column}: `;
  const subject = pointer === '' ? '' : ` (${pointer})`;
  return `${place}${message}${subject} [${code}]${hint === undefined ? '' : `; hint: ${hint}`}`;
}

/** Adapts the text of a finding to its document: for a template, advice that applies only to plain files is replaced. */
function advised<T extends string | undefined>(document: Document | null, text: T): T {
  const found = document?.rendering && text && advice.find(([offer]) => text.includes(offer));
  return found ? (text!.replace(found[0], found[1]) as T) : text;
}
