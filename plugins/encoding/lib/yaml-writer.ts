import { type Data, type DataObject, type Encoded, isObject } from '#contract';
import { nestingError } from './nesting.ts';
import { isScalar, type Scalar, scalarText } from './scalar.ts';

const contentType = 'application/yaml; charset=utf-8';

/** Deeper data is refused: every line is indented, so that the text would grow with the square of the depth. */
const MAX_DEPTH = 1000;

/** Longer keys, in characters, need the explicit form `? key`. */
const MAX_IMPLICIT_KEY = 1000;

/**
 * Data as block-style YAML: two spaces a level, keys sorted, a line end behind the last line. Numbers keep their
 * digits; texts that another type or sign could be read into are in double quotes. No data is `{}`.
 * @throws Error when the data is nested too deeply.
 */
export function writeYaml(data: DataObject | null): Encoded {
  try {
    const body = data === null || isEmpty(data) ? '{}\n' : block(data, '');
    return { contentType, body };
  } catch (error) {
    throw nestingError(error);
  }
}

function isEmpty(value: DataObject | readonly Data[]): boolean {
  return (Array.isArray(value) ? value : Object.keys(value)).length === 0;
}

/** The lines of a list or object with members; the first line comes without its indentation. */
function block(value: DataObject | readonly Data[], indent: string): string {
  if (indent.length > 2 * MAX_DEPTH) throw new Error(`data nested deeper than ${MAX_DEPTH} levels`);
  let lines = '';
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    for (const member of value as readonly Data[]) {
      if (lines !== '') lines += indent;
      lines += isScalar(member) || isEmpty(member) ? `- ${flow(member)}\n` : `- ${block(member, deeper)}`;
    }
    return lines;
  }
  const object = value as DataObject;
  for (const key of Object.keys(object).sort()) {
    if (lines !== '') lines += indent;
    const member = object[key]!;
    const name = text(key);
    lines += name.length > MAX_IMPLICIT_KEY ? `? ${name}\n${indent}:` : `${name}:`;
    lines += isScalar(member) || isEmpty(member) ? ` ${flow(member)}\n` : `\n${deeper}${block(member, deeper)}`;
  }
  return lines;
}

function flow(value: Data): string {
  if (Array.isArray(value)) return '[]';
  if (isObject(value)) return '{}';
  return scalar(value);
}

function scalar(value: Scalar): string {
  if (typeof value === 'string') return text(value);
  return value === null ? 'null' : scalarText(value);
}

/** Words and single signs between them, none of which could end the text, comment on it or give it another type. */
const plain = /^[\p{L}_/][\p{L}\p{M}\p{N}_./@()+-]*(?:(?:[,;?!]? |[:=;?!*$%^~<>&,'|])[\p{L}\p{M}\p{N}_./@()+-]+)*$/u;

const reserved = /^(?:true|false|null|yes|no|on|off)$/i;

const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

function text(value: string): string {
  if (plain.test(value) && !reserved.test(value)) return value;
  return JSON.stringify(value).replace(unprintable, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
