import { type Data, printJson } from '#contract';
import { equals, isNumeric, isWhole } from '../../shared/values/exact-values.ts';
import { formats } from './drafts.ts';
import { type Findings, locate, type Path } from './findings.ts';
import type { CommonRules, Identify, Kind, SchemaReader, StringRules, TypeRule } from './node.ts';
import { numberKey } from './numbers.ts';

export function readType(reader: SchemaReader): TypeRule | null {
  const type = reader.get('type');
  if (type === undefined) return null;
  const names = (Array.isArray(type) ? type : [type]) as Kind[];
  const accepts = new Set(names);
  if (accepts.has('number')) accepts.add('integer');
  const expected = names.length === 1 ? names[0] : `[${names.join(',')}]`;
  return { names, accepts, message: `Invalid type. Expected: ${expected}, given: ` };
}

export function readCommonRules(reader: SchemaReader): CommonRules | null {
  const constant = reader.get('const');
  const values = reader.get('enum') as Data[] | undefined;
  const format = reader.get('format') as string | undefined;
  const known = format !== undefined && formats.has(format) ? format : null;
  if (constant === undefined && values === undefined && known === null) return null;
  return { constant: constant === undefined ? null : [constant], enum: values ?? null, format: known };
}

export function checkCommon(rules: CommonRules, value: Data, path: Path | null, findings: Findings): void {
  const { constant, format } = rules;
  if (constant !== null && !equals(value, constant[0])) {
    findings.add(path, `${locate(path)} does not match: ${printJson(constant[0])}`);
  }
  if (rules.enum?.some((choice) => equals(value, choice)) === false) {
    const choices = rules.enum.map(printJson).join(', ');
    findings.add(path, `${locate(path)} must be one of the following: ${choices}`);
  }
  if (format !== null && typeof value === 'string' && !formats.get(format)!(value)) {
    findings.add(path, `Does not match format '${format}'`);
  }
}

export function readStringRules(reader: SchemaReader): StringRules | null {
  const minLength = reader.count('minLength');
  const maxLength = reader.count('maxLength');
  const source = reader.get('pattern') as string | undefined;
  if (minLength === null && maxLength === null && source === undefined) return null;
  const pattern = source === undefined ? null : reader.pattern(source, 'pattern');
  return { minLength, maxLength, pattern };
}

export function checkString(rules: StringRules, value: string, path: Path | null, findings: Findings): void {
  const { minLength, maxLength, pattern } = rules;
  if (minLength !== null || maxLength !== null) {
    const length = countCodePoints(value);
    if (minLength !== null && length < minLength) {
      findings.add(path, `String length must be greater than or equal to ${minLength}`);
    }
    if (maxLength !== null && length > maxLength) {
      findings.add(path, `String length must be less than or equal to ${maxLength}`);
    }
  }
  if (pattern !== null && !pattern.test(value)) {
    findings.add(path, `Does not match pattern '${pattern.source}'`);
  }
}

function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isHighSurrogate(text.charCodeAt(index)) && isLowSurrogate(text.charCodeAt(index + 1))) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

export function createIdentify(): Identify {
  // Keys never look like array indices, because hashes of indices can be made to collide deliberately.
  const numbers = new Map<string, number>();
  const known = new Map<object, number>();
  const numberOf = (text: string): number => {
    const number = numbers.get(text) ?? numbers.size;
    if (number === numbers.size) numbers.set(text, number);
    return number;
  };
  const identify = (value: Data): number => {
    if (typeof value === 'string') return numberOf('"' + value);
    if (isNumeric(value)) return numberOf('#' + numberKey(value));
    if (typeof value !== 'object' || value === null) return numberOf(`!${value}`);
    const seen = known.get(value);
    if (seen !== undefined) return seen;
    const number = Array.isArray(value)
      ? numberOf(`[${value.map(identify).join()}`)
      : numberOf(
          '{' +
            Object.keys(value)
              .sort()
              .map((key) => `${numberOf('"' + key)}:${identify(value[key]!)}`)
              .join(),
        );
    known.set(value, number);
    return number;
  };
  return identify;
}

/** Calls back with the indices of each item and of the nearest equal item before it. */
export function eachDuplicate(
  items: readonly Data[],
  identify: Identify,
  match: (first: number, second: number) => void,
): void {
  if (items.length < 2) return;
  const last = new Map<number, number>();
  for (let index = 0; index < items.length; index += 1) {
    const number = identify(items[index]!);
    const first = last.get(number);
    if (first !== undefined) match(first, index);
    last.set(number, index);
  }
}

export function kindOf(value: Data): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return isWhole(value) ? 'integer' : 'number';
    default:
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'array';
      return JSON.isRawJSON(value) ? (isWhole(value) ? 'integer' : 'number') : 'object';
  }
}
