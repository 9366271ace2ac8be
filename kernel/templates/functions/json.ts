import type { Run } from '../run.ts';
import { type Dict, isList, isRawNumber, Struct, sortedKeys, TypedInteger, type Value } from '../value.ts';

/** Format of printed JSON. */
export interface JsonStyle {
  /** Prints `<`, `>` and `&` as `\u003c` and so on, as Go does. */
  readonly escapesHtml: boolean;
  /** Indentation per level; empty for output on one line. */
  readonly indent: string;
}

/** Prints a value as JSON like Go, with keys in sorted order; exact numbers keep their digits. */
export function writeJson(value: Value, style: JsonStyle, run: Run): string {
  return written(value, '', style, run);
}

/** @param lead line break and indentation of the line on which the value begins. */
function written(value: Value, lead: string, style: JsonStyle, run: Run): string {
  switch (typeof value) {
    case 'string':
      return stringJson(value, style, run);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
    default:
      return value === null ? 'null' : objectJson(value, lead, style, run);
  }
}

/** Strings whose characters need no escape in any style. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;
/** Characters that Go escapes although JSON does not require it. */
const BEYOND_JSON = /[\u2028\u2029]/g;
const BEYOND_JSON_IN_HTML = /[\u2028\u2029<>&]/g;

function stringJson(value: string, { escapesHtml }: JsonStyle, run: Run): string {
  run.budget.claim(value.length);
  if (PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value).replace(escapesHtml ? BEYOND_JSON_IN_HTML : BEYOND_JSON, escaped);
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function objectJson(value: Exclude<Value, null | undefined>, lead: string, style: JsonStyle, run: Run): string {
  run.budget.spend(1);
  if (isList(value)) return listJson(value, lead, style, run);
  // Most values are plain JSON objects, and need none of the checks inside.
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    if (value instanceof TypedInteger) return String(value.value);
    if (value instanceof Struct) return stringJson(value.toJSON(), style, run);
    if (isRawNumber(value)) return value.rawJSON;
  }
  const map = value as Dict;
  const inner = innerLead(lead, style);
  const colon = style.indent ? ': ' : ':';
  let text = '';
  for (const key of sortedKeys(map)) {
    if (text !== '') text += ',';
    text += inner + stringJson(key, style, run) + colon + written(map[key], inner, style, run);
  }
  return text === '' ? '{}' : `{${text}${style.indent && (lead || '\n')}}`;
}

function listJson(list: readonly Value[], lead: string, style: JsonStyle, run: Run): string {
  const inner = innerLead(lead, style);
  let text = '';
  for (const item of list) {
    if (text !== '') text += ',';
    text += inner + written(item, inner, style, run);
  }
  return text === '' ? '[]' : `[${text}${style.indent && (lead || '\n')}]`;
}

/** Line break and indentation of the lines inside an object or a list. */
function innerLead(lead: string, { indent }: JsonStyle): string {
  return indent && `${lead || '\n'}${indent}`;
}
