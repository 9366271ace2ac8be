import { type Data, type DataObject, type Encoded, isObject } from '#contract';
import { BoundedText } from './bounded-text.ts';
import { nestingError } from './nesting.ts';
import { isScalar, type Scalar, scalarText } from './scalar.ts';
import { yamlText } from './yaml-text.ts';

const contentType = 'application/yaml; charset=utf-8';

/** Deeper data is refused: every line is indented, so that the text would grow with the square of the depth. */
const MAX_DEPTH = 1000;

/** Longer keys, in characters, need the explicit form `? key`. */
const MAX_IMPLICIT_KEY = 1000;

/**
 * Data as block-style YAML: two spaces a level, keys sorted, a line end behind the last line. Numbers keep their
 * digits; texts that another type or sign could be read into are in double quotes. No data is `{}`.
 * @throws Error when the data is nested too deeply, or the text would be longer than 128 Mi characters.
 */
export function writeYaml(data: DataObject | null): Encoded {
  return { contentType, body: printYaml(data ?? {}) };
}

/**
 * Data of any type as block-style YAML.
 * @throws Error as `writeYaml`.
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

/** The lines of a list or object with members; the first line comes without its indentation. */
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

/** What stands on the line of its key or dash. */
function isFlow(value: Data): value is Scalar | [] | Record<string, never> {
  return isScalar(value) || isEmpty(value);
}

function flow(value: Scalar | [] | Record<string, never>): string {
  if (Array.isArray(value)) return '[]';
  if (isObject(value)) return '{}';
  if (typeof value === 'string') return yamlText(value);
  return value === null ? 'null' : scalarText(value);
}
