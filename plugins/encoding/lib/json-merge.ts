import type { Passed } from '#contract';
import { contentType } from './json-bounds.ts';
import { afterBlank, afterString, afterValue, jsonObject } from './json-bytes.ts';
import { isSame } from './json-keys.ts';
import { JsonOutput } from './json-output.ts';

/** More members than this are merged decoded: each key is compared with every one before it. */
const MAX_MEMBERS = 256;

const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Members of the parts by their keys, for one merge at a time; positions are those in their parts. */
const members = {
  /** Tells most keys apart. */
  mark: new Int32Array(MAX_MEMBERS),
  /** The part where the key first appeared. */
  part: new Uint16Array(MAX_MEMBERS),
  key: new Uint32Array(MAX_MEMBERS),
  keyEnd: new Uint32Array(MAX_MEMBERS),
  /** Where the member behind it begins, in the same part. */
  next: new Uint32Array(MAX_MEMBERS),
  /** The part that has given the value last. */
  valuePart: new Uint16Array(MAX_MEMBERS),
  value: new Uint32Array(MAX_MEMBERS),
  valueEnd: new Uint32Array(MAX_MEMBERS),
  /** 1 for a value that stands behind its key. */
  own: new Uint8Array(MAX_MEMBERS),
};

/**
 * One JSON object out of several that have passed: a key stands where it first appeared and has the value of the last part
 * that gave it. Null for what takes decoded data: escapes in keys, very many keys.
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

/** Writes a member, and with it those that follow it in its part as they follow it here. @returns the last one written. */
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

/** Notes the members of a part beside those before. @returns how many there are; -1 for what takes decoded data. */
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

/** A mark of a key's bytes; -1 with an escape among them, as one key can then be written in several ways. */
function markOf(bytes: Uint8Array, start: number, end: number): number {
  let mark = end - start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) return -1;
    mark = (Math.imul(mark, 31) + byte) & 0x7fff_ffff;
  }
  return mark;
}

/** Where a key stands among the members, or how many there are when it is new. */
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
