import type { Run } from '../run.ts';
import { isList, isRawNumber, Struct, sortedKeys, TypedInteger, type Value, valueAt } from '../value.ts';

/** How JSON is written. */
export interface JsonStyle {
  /** `<`, `>` and `&` as `\u003c` and so on, as Go does. */
  readonly escapesHtml: boolean;
  /** Of each level; empty for all on one line. */
  readonly indent: string;
}

/** A value as JSON, keys in their order, as Go writes it; exact numbers keep their digits. */
export function writeJson(value: Value, style: JsonStyle, run: Run): string {
  const text = written(value, '', style, run);
  return style.escapesHtml ? withoutHtml(text) : text;
}

const HTML = /[<>&]/;
const LINE_SEPARATORS = /[\u2028\u2029]/g;

function withoutHtml(text: string): string {
  return HTML.test(text) ? text.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`) : text;
}

/** @param lead white space of the line that the value begins on. */
function written(value: Value, lead: string, style: JsonStyle, run: Run): string {
  switch (typeof value) {
    case 'string':
      return stringJson(value, run);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : 'null';
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
    default:
      return value === null ? 'null' : objectJson(value, lead, style, run);
  }
}

/** Characters that stand for themselves in a JSON string. */
const PLAIN = /^[ !#-[\]-~]*$/;

function stringJson(value: string, run: Run): string {
  run.budget.claim(value.length);
  if (PLAIN.test(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  return LINE_SEPARATORS.test(text)
    ? text.replace(LINE_SEPARATORS, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`)
    : text;
}

function objectJson(value: Exclude<Value, null | undefined>, lead: string, style: JsonStyle, run: Run): string {
  run.budget.spend(1);
  if (value instanceof TypedInteger) return String(value.value);
  if (value instanceof Struct) return JSON.stringify(value);
  if (isRawNumber(value)) return value.rawJSON;
  const inner = style.indent && `\n${lead.slice(1)}${style.indent}`;
  const space = style.indent ? ' ' : '';
  let text = '';
  if (isList(value)) {
    for (const item of value) text += `${text && ','}${inner}${written(item, inner, style, run)}`;
    return text === '' ? '[]' : `[${text}${style.indent && `\n${lead.slice(1)}`}]`;
  }
  for (const key of sortedKeys(value as never)) {
    const member = written(valueAt(value as never, key), inner, style, run);
    text += `${text && ','}${inner}${stringJson(key, run)}:${space}${member}`;
  }
  return text === '' ? '{}' : `{${text}${style.indent && `\n${lead.slice(1)}`}}`;
}
