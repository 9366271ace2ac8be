import { isUtf8 } from 'node:buffer';
import type { Passed, ShapeRules } from '#contract';
import { contentType, objectBounds } from './json-bounds.ts';
import { afterBlank, afterString, afterValue, type JsonText, jsonObject } from './json-bytes.ts';
import { JsonKeys } from './json-keys.ts';
import { JsonOutput } from './json-output.ts';

/** Rule for a key that the configuration names. */
interface Rule {
  /** Treatment of the key. `below`: the nested rules apply to its object. */
  readonly fate: 'keep' | 'drop' | 'below';
  readonly below: Level | null;
  /** New name to write; null to keep the key. */
  readonly renamed: Uint8Array | null;
  /** Whether another key is renamed to this one. Such a conflict requires decoding. */
  readonly isTarget: boolean;
  /** Number of the last pass that met the key. */
  metIn: number;
}

/** Rules for one level of an object. */
interface Level {
  readonly keys: JsonKeys<Rule>;
  /** Treatment of keys that have no rule. */
  readonly others: 'keep' | 'drop';
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counter that gives every pass over an object a unique number. */
let passes = 0;

/**
 * Compiles `allow` or `deny`, `mapping` and `group` into a function that applies them to the bytes of a JSON object:
 * kept parts are copied unchanged. Null for rules that require decoded data.
 */
export function shapeJson(rules: ShapeRules): ((bytes: Uint8Array, asCollection: boolean) => Passed | null) | null {
  const { target, group } = rules;
  const renames = renamesOf(rules.mapping ?? {});
  if (target || renames === null) return null;
  const paths = (rules.allow?.length ? rules.allow : (rules.deny ?? [])).map((path) => path.split('.'));
  const level = levelOf(paths, rules.allow?.length ? 'allow' : 'deny', renames);
  if (level === null) return null;
  const before = group ? Buffer.from(`{${JSON.stringify(group)}:`) : null;
  const more =
    [...renames.values()].reduce((sum, name) => sum + Buffer.byteLength(JSON.stringify(name)), 8) +
    (before?.length ?? 0);
  return (bytes, asCollection) => {
    if (asCollection || !isUtf8(bytes)) return null;
    const { start, end } = objectBounds(bytes);
    const text = jsonObject(bytes, start, end);
    if (text === null) return null;
    passes += 1;
    const output = new JsonOutput(end - start + more);
    if (before) output.add(before);
    const opened = output.length;
    if (writeObject(text, start, level, output) !== end) return null;
    const empty = before === null && output.length - opened === 2;
    if (before) output.byte(CLOSE_OBJECT);
    return { contentType, body: output.bytes, empty };
  };
}

/** New names by old names; null when the order of renaming matters. */
function renamesOf(mapping: Readonly<Record<string, string>>): ReadonlyMap<string, string> | null {
  const renames = new Map(Object.entries(mapping).map(([from, to]) => [from, to.split('.', 1)[0]!]));
  const targets = new Set(renames.values());
  return targets.size === renames.size && targets.isDisjointFrom(renames) ? renames : null;
}

/** Compiles the rules of one level; null if one path is nested in another, a conflict that requires decoding. */
function levelOf(
  paths: readonly (readonly string[])[],
  mode: 'allow' | 'deny',
  renames: ReadonlyMap<string, string>,
): Level | null {
  const keys = new JsonKeys<Rule>();
  const others = mode === 'allow' ? 'drop' : 'keep';
  const targets = new Set(renames.values());
  const groups = Map.groupBy(paths, ([first]) => first!);
  for (const name of new Set([...groups.keys(), ...renames.keys(), ...targets])) {
    if (!isPlain(name)) return null;
    const inner = (groups.get(name) ?? []).map(([, ...rest]) => rest);
    const isWhole = inner.some(({ length }) => length === 0);
    if (isWhole && inner.some(({ length }) => length > 0)) return null;
    const below = inner.length > 0 && !isWhole ? levelOf(inner, mode, new Map()) : null;
    if (inner.length > 0 && !isWhole && below === null) return null;
    const to = renames.get(name);
    keys.add(name, {
      fate: below ? 'below' : inner.length === 0 ? others : mode === 'allow' ? 'keep' : 'drop',
      below,
      renamed: to === undefined ? null : Buffer.from(JSON.stringify(to)),
      isTarget: targets.has(name),
      metIn: 0,
    });
  }
  return { keys, others };
}

/** Whether JSON has only one spelling of a name, so that it can be compared byte by byte. */
function isPlain(name: string): boolean {
  return JSON.stringify(name) === `"${name}"`;
}

/**
 * Writes the kept parts of the object that starts at a position. @returns the position after it; -1 when the bytes are
 * not such an object, or it must be decoded: because of an escape in a key, or a duplicate key that the rules name.
 */
function writeObject(text: JsonText, start: number, level: Level, output: JsonOutput): number {
  const { bytes, end, lastQuote } = text;
  output.byte(OPEN_OBJECT);
  let isFirst = true;
  let at = afterBlank(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) {
    output.byte(CLOSE_OBJECT);
    return at + 1;
  }
  while (true) {
    const key = at;
    if (bytes[key] !== QUOTE) return -1;
    const keyEnd = afterString(bytes, key + 1, lastQuote);
    if (keyEnd < 0 || hasEscape(bytes, key, keyEnd)) return -1;
    const colon = afterBlank(bytes, keyEnd);
    if (bytes[colon] !== COLON) return -1;
    const value = afterBlank(bytes, colon + 1);
    const rule = level.keys.find(bytes, key + 1, keyEnd - 1);
    if (rule !== undefined) {
      if (rule.metIn === passes) return -1;
      rule.metIn = passes;
    }
    const fate = rule === undefined ? level.others : rule.fate;
    if (fate !== 'drop' && rule?.isTarget) return -1;
    const before = output.length;
    if (fate !== 'drop') {
      if (!isFirst) output.byte(COMMA);
      if (rule?.renamed) output.add(rule.renamed);
      else output.add(bytes, key, keyEnd);
      output.byte(COLON);
    }
    let isWritten = fate !== 'drop';
    if (fate === 'below' && bytes[value] === OPEN_OBJECT) {
      const opened = output.length;
      at = writeObject(text, value, rule!.below!, output);
      // An object of which no member is allowed is dropped, whereas an object whose members are all denied is kept.
      if (rule!.below!.others === 'drop' && output.length === opened + 2) isWritten = false;
    } else {
      at = afterValue(text, value);
      // If a value is not the expected object, it has no members: an allow list drops it, and a deny list keeps it.
      if (fate === 'below' && rule!.below!.others === 'drop') isWritten = false;
      else if (isWritten && at > 0) output.add(bytes, value, at);
    }
    if (at < 0 || at === end) return -1;
    if (isWritten) isFirst = false;
    else output.length = before;
    at = afterBlank(bytes, at);
    if (bytes[at] === CLOSE_OBJECT) {
      output.byte(CLOSE_OBJECT);
      return at + 1;
    }
    if (bytes[at] !== COMMA) return -1;
    at = afterBlank(bytes, at + 1);
  }
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}
