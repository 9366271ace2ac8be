import { basename, extname } from 'node:path';
import { type ConfigError, type Data, type DataObject, isObject, setKey } from '#contract';
import { ConfigErrors } from '../../../contract/internal.ts';
import type { Value } from '../../../templates/value.ts';
import { readText } from '../../syntax/load.ts';

/** Content of a settings file, with warnings about its text. */
interface Settings {
  readonly value: Value;
  readonly warnings: readonly ConfigError[];
}

/** Parser of settings files with a given suffix. */
type Reader = (text: string, path: string) => Settings;

const json: Reader = (text, path) => {
  const { data, warnings } = readText(text, path);
  return { value: data as Value, warnings };
};
/** Formats that distinguish integers. */
const typed: Reader = (text, path) => {
  const { data, warnings } = readText(text, path);
  return { value: withIntegers(data), warnings };
};
const pairs: Reader = (text) => ({ value: readPairs(text, false), warnings: [] });

const readers: Readonly<Record<string, Reader>> = {
  '.json': json,
  '.yaml': typed,
  '.yml': typed,
  '.toml': typed,
  '.tml': (text, path) => typed(text, path.replace(/\.tml$/i, '.toml')),
  '.ini': (text) => ({ value: readPairs(text, true), warnings: [] }),
  '.env': pairs,
  '.dotenv': pairs,
  '.properties': pairs,
  '.prop': pairs,
  '.props': pairs,
};

/** Suffix that determines how a file is read; for `.env`, the whole name. */
export function suffixOf(path: string): string {
  return (extname(path) || basename(path)).toLowerCase();
}

/** Parses a settings file. @throws Error with the reason and position if it is invalid. */
export function readSettings(text: string, path: string): Settings {
  const reader = readers[suffixOf(path)] ?? json;
  try {
    return reader(text, path);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    throw new Error(error.errors.map(({ message }) => message.replace(`${path}:`, '')).join('; '), { cause: error });
  }
}

function withIntegers(value: Data): Value {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(withIntegers);
  if (!isObject(value)) return value;
  const result: Record<string, Value> = {};
  for (const [key, inner] of Object.entries(value)) setKey(result as DataObject, key, withIntegers(inner) as Data);
  return result;
}

/** Parses lines of `name=value` or `name: value`; all values are strings. @param hasSections sections of the form `[name]` are allowed. */
function readPairs(text: string, hasSections: boolean): Value {
  const result: DataObject = {};
  let target = result;
  text.split(/\r?\n/).forEach((written, index) => {
    const line = written.trim();
    if (line === '' || /^[#;!]/.test(line)) return;
    const section = hasSections ? /^\[(.+)\]$/.exec(line)?.[1] : undefined;
    if (section !== undefined) {
      target = {};
      setKey(result, section, target);
      return;
    }
    const [, name, value] = /^(?:export\s+)?([^=:\s]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`line ${index + 1}: expected a name and a value, as in name=value`);
    if (Object.hasOwn(target, name)) throw new Error(`line ${index + 1}: duplicate key '${name}'`);
    setKey(target, name, unquoted(value!));
  });
  return result as Value;
}

/** A comment after a value must be preceded by white space. */
function unquoted(value: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:[#;].*)?$/.exec(value) ?? [];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
  return single ?? value.replace(/\s+[#;].*$/, '');
}
