import { type Data, type DataObject, type Encoded, isObject } from '#contract';
import { BoundedText } from '../bounded-text.ts';
import { nestingError } from '../nesting.ts';
import { isScalar, type Scalar, scalarText } from '../scalar.ts';
import { yamlText } from './text.ts';

const contentType = 'application/yaml; charset=utf-8';

/** Deepest nesting allowed: every line is indented, so the text grows with the square of the depth. */
const MAX_DEPTH = 1000;

/** Longest key without the explicit form `? key`, in characters. */
const MAX_IMPLICIT_KEY = 1000;

/**
 * Formats data as block-style YAML: two spaces per level, sorted keys, a final line break. Numbers keep their digits;
 * texts that could be read as another type or as syntax are double-quoted. No data becomes `{}`.
 * @throws Error when the data is nested too deeply, or the text would be longer than 128 Mi characters.
 */
export function writeYaml(data: DataObject | null): Encoded {
  return { contentType, body: printYaml(data ?? {}) };
}

/**
 * Formats data of any type as block-style YAML.
 * @throws the errors of `writeYaml`.
 */
export function printYaml(data: Data): string {
  try {
    const text = new BoundedText();
    if (isFlow(data)) text.add(`${flow(data)}\n`);
    else writeBlock(text, data as DataObject | readonly Data[], '');
    return text.toString();
  } catch (error) {
    throw nestingError(error);
  }
}

function isEmpty(value: DataObject | readonly Data[]): boolean {
  return (Array.isArray(value) ? value : Object.keys(value)).length === 0;
}

/** Writes the lines of a non-empty list or object; the first line is not indented. */
function writeBlock(text: BoundedText, value: DataObject | readonly Data[], indent: string): void {
  if (indent.length > 2 * MAX_DEPTH) throw new Error(`data nested deeper than ${MAX_DEPTH} levels`);
  const deeper = `${indent}  `;
  let before = '';
  if (Array.isArray(value)) {
    for (const member of value as readonly Data[]) {
      text.add(`${before}- `);
      if (isFlow(member)) text.add(`${flow(member)}\n`);
      else writeBlock(text, member, deeper);
      before = indent;
    }
    return;
  }
  const object = value as DataObject;
  for (const key of Object.keys(object).sort()) {
    const member = object[key]!;
    const name = yamlText(key);
    text.add(name.length > MAX_IMPLICIT_KEY ? `${before}? ${name}\n${indent}:` : `${before}${name}:`);
    if (isFlow(member)) {
      text.add(` ${flow(member)}\n`);
    } else {
      text.add(`\n${deeper}`);
      writeBlock(text, member, deeper);
    }
    before = indent;
  }
}

/** Whether a value is written on the line of its key or dash. */
function isFlow(value: Data): value is Scalar | [] | Record<string, never> {
  return isScalar(value) || isEmpty(value);
}

function flow(value: Scalar | [] | Record<string, never>): string {
  if (Array.isArray(value)) return '[]';
  if (isObject(value)) return '{}';
  if (typeof value === 'string') return yamlText(value);
  return value === null ? 'null' : scalarText(value);
}
