import type { Passed } from '#contract';
import { contentType } from './json-bounds.ts';
import { afterBlank, afterString, afterValue, jsonObject } from './json-bytes.ts';
import { isSame } from './json-keys.ts';
import { JsonOutput } from './json-output.ts';

/** Maximum number of members to merge as bytes; beyond it, data is decoded, because each key is compared with all earlier ones. */
const MAX_MEMBERS = 256;

const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Members of the parts by key, used by one merge at a time; positions are within their parts. */
const members = {
  /** Short values derived from the keys, which distinguish most of them. */
  mark: new Int32Array(MAX_MEMBERS),
  /** Index of the part in which the key first appeared. */
  part: new Uint16Array(MAX_MEMBERS),
  key: new Uint32Array(MAX_MEMBERS),
  keyEnd: new Uint32Array(MAX_MEMBERS),
  /** Start of the next member in the same part. */
  next: new Uint32Array(MAX_MEMBERS),
  /** Index of the last part that provided the value. */
  valuePart: new Uint16Array(MAX_MEMBERS),
  value: new Uint32Array(MAX_MEMBERS),
  valueEnd: new Uint32Array(MAX_MEMBERS),
  /** 1 when the value directly follows its key. */
  own: new Uint8Array(MAX_MEMBERS),
};

/**
 * Merges JSON objects that were passed through as bytes: a key stays at its first position and has the value of the
 * last part that contains it. Null when the data must be decoded: escapes in keys, or too many keys.
 */
export function mergeJson(parts: readonly Uint8Array[]): Passed | null {
  let count = 0;
  let size = 2 + parts.length;
  for (let part = 0; part < parts.length; part++) {
    count = readMembers(parts, part, count);
    if (count < 0) return null;
    size += parts[part]!.length;
  }
  const output = new JsonOutput(size);
  output.byte(OPEN_OBJECT);
  for (let at = 0; at < count; at++) {
    if (at > 0) output.byte(COMMA);
    at = writeRun(parts, at, count, output);
  }
  output.byte(CLOSE_OBJECT);
  return { contentType, body: output.bytes, empty: count === 0 };
}

/** Writes a member, together with the members that follow it both in its part and in the merged object. @returns the last one written. */
function writeRun(parts: readonly Uint8Array[], first: number, count: number, output: JsonOutput): number {
  const { part, key, keyEnd, next, valuePart, value, valueEnd, own } = members;
  const from = parts[part[first]!]!;
  if (own[first] === 0) {
    output.add(from, key[first]!, keyEnd[first]!);
    output.byte(COLON);
    output.add(parts[valuePart[first]!]!, value[first]!, valueEnd[first]!);
    return first;
  }
  let last = first;
  while (last + 1 < count && own[last + 1] === 1 && part[last + 1] === part[first] && key[last + 1] === next[last])
    last++;
  output.add(from, key[first]!, valueEnd[last]!);
  return last;
}

/** Adds the members of a part to the earlier ones. @returns the number of members; -1 when the data must be decoded. */
function readMembers(parts: readonly Uint8Array[], part: number, before: number): number {
  const bytes = parts[part]!;
  const text = jsonObject(bytes, 0, bytes.length);
  if (text === null) return -1;
  let count = before;
  let at = afterBlank(bytes, 1);
  if (bytes[at] === CLOSE_OBJECT) return count;
  while (true) {
    const key = at;
    const keyEnd = afterString(bytes, key + 1, text.lastQuote);
    if (keyEnd < 0) return -1;
    const mark = markOf(bytes, key, keyEnd);
    const value = afterBlank(bytes, afterBlank(bytes, keyEnd) + 1);
    const valueEnd = afterValue(text, value);
    if (mark < 0 || valueEnd < 0) return -1;
    const known = find(parts, count, mark, bytes, key, keyEnd);
    if (known === MAX_MEMBERS) return -1;
    if (known === count) {
      members.mark[count] = mark;
      members.part[count] = part;
      members.key[count] = key;
      members.keyEnd[count] = keyEnd;
      count++;
    }
    members.own[known] = members.key[known] === key && members.part[known] === part ? 1 : 0;
    members.valuePart[known] = part;
    members.value[known] = value;
    members.valueEnd[known] = valueEnd;
    at = afterBlank(bytes, valueEnd);
    if (bytes[at] !== COMMA) return count;
    at = afterBlank(bytes, at + 1);
    if (members.own[known] === 1) members.next[known] = at;
  }
}

/** Short value derived from the bytes of a key; -1 when they contain an escape, since such a key can be written in several ways. */
function markOf(bytes: Uint8Array, start: number, end: number): number {
  let mark = end - start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) return -1;
    mark = (Math.imul(mark, 31) + byte) & 0x7fff_ffff;
  }
  return mark;
}

/** Index of a key among the members; the number of members when it is new. */
function find(
  parts: readonly Uint8Array[],
  count: number,
  mark: number,
  bytes: Uint8Array,
  key: number,
  keyEnd: number,
): number {
  for (let at = 0; at < count; at++) {
    if (members.mark[at] !== mark || members.keyEnd[at]! - members.key[at]! !== keyEnd - key) continue;
    if (isSame(bytes, key, parts[members.part[at]!]!, members.key[at]!, keyEnd - key)) return at;
  }
  return count;
}
