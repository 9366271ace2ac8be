import { canonicalHeaderName, type HeaderBag, isHeaderName, joinPointer, type Site } from '#contract';
import type { HeaderRules } from './schema.ts';

/** Changes the headers of one response. */
export type Change = (headers: HeaderBag) => void;

/** Lower-case names of framing headers, which only the writer of a message can set correctly. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection']);

/**
 * Compiles the rules to changes in the order of their execution: add, replace, rename, delete. Deleted headers are
 * therefore absent, regardless of the other rules.
 * Warnings: HEADERS_FRAMING, HEADERS_DATE.
 * @throws ConfigError HEADERS_EMPTY, HEADERS_NAME, HEADERS_VALUE.
 */
export function compileChanges(site: Site<HeaderRules>): readonly Change[] {
  const { add = {}, replace = {}, rename = {}, delete: unwanted = [] } = site.config;
  if ([add, replace, rename, unwanted].every((rules) => Object.keys(rules).length === 0)) {
    throw site.fault('HEADERS_EMPTY', '', 'no header is added, replaced, renamed or deleted', {
      hint: 'Name a header, or remove the component.',
    });
  }
  return [
    ...Object.entries(add).flatMap(([written, values]) => {
      const pointer = joinPointer('/add', written);
      const name = writableName(site, pointer, written);
      return name ? adding(name, checkedValues(site, pointer, values)) : [];
    }),
    ...Object.entries(replace).flatMap(([written, values]) => {
      const pointer = joinPointer('/replace', written);
      const name = writableName(site, pointer, written);
      return name ? replacing(name, checkedValues(site, pointer, values)) : [];
    }),
    ...Object.entries(rename).flatMap(([written, target]) => {
      const pointer = joinPointer('/rename', written);
      const from = writableName(site, pointer, written);
      const to = writableName(site, pointer, target);
      return from && to ? renaming(from, to) : [];
    }),
    ...unwanted.flatMap((written, at) => {
      const name = writableName(site, `/delete/${at}`, written);
      return name ? (headers: HeaderBag) => headers.delete(name) : [];
    }),
  ];
}

function adding(name: string, values: readonly string[]): Change {
  return (headers) => {
    for (const value of values) headers.append(name, value);
  };
}

function replacing(name: string, values: readonly string[]): Change {
  const add = adding(name, values);
  return (headers) => {
    headers.delete(name);
    add(headers);
  };
}

function renaming(from: string, to: string): Change {
  const source = from.toLowerCase();
  return (headers) => {
    const values = headers.getAll(source);
    if (values.length === 0) return;
    headers.delete(source);
    headers.delete(to);
    for (const value of values) headers.append(to, value);
  };
}

/** Returns the name as written on the wire; null if the rule cannot apply to it. */
function writableName(site: Site<HeaderRules>, pointer: string, name: string): string | null {
  if (!isHeaderName(name)) throw site.fault('HEADERS_NAME', pointer, `"${name}" is not a header name`);
  const lower = name.toLowerCase();
  if (framing.has(lower)) {
    site.warn('HEADERS_FRAMING', pointer, `${name} is a connection header: the rule has no effect`, {
      hint: 'remove the rule',
    });
    return null;
  }
  if (lower === 'date') {
    site.warn('HEADERS_DATE', pointer, 'Date must be the time of the response, because caches rely on it', {
      hint: 'remove the rule',
    });
  }
  return canonicalHeaderName(name);
}

/** Characters not allowed in a header: control characters, and those that do not fit in one byte. */
const forbidden = /[^\t\x20-\x7e\x80-\xff]/;

function checkedValues(site: Site<HeaderRules>, pointer: string, values: readonly string[]): readonly string[] {
  const at = values.findIndex((value) => forbidden.test(value));
  if (at >= 0) {
    const message = 'the value contains a character that is not allowed in headers';
    throw site.fault('HEADERS_VALUE', `${pointer}/${at}`, message, { hint: 'write printable ASCII or Latin-1' });
  }
  return values;
}
