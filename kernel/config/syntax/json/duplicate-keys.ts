import { escapePointer } from '../../../values/pointer.ts';
import type { TextRange } from '../position.ts';
import { duplicateKey, type TextFault } from '../text-format.ts';

interface Level {
  /** Keys seen so far, with the first position of each; null in a list. */
  readonly keys: Map<string, TextRange> | null;
  key: string;
  index: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** Maximum number of keys per object that are compared one by one. */
const FEW = 32;

/** Finds duplicate keys in the objects of a valid JSON text. */
export function duplicateKeys(text: string): TextFault[] {
  return mayHaveDuplicates(text) ? listDuplicates(text) : [];
}

/** Fast check in one pass: false without duplicates, true if duplicates are possible. */
function mayHaveDuplicates(text: string): boolean {
  /** Keys of all open objects; the keys of an inner object follow those of the outer one. */
  const keys: string[] = [];
  const begins: number[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (isKey(text, end)) {
          const key = text.slice(at + 1, end - 1);
          const begin = begins.at(-1)!;
          if (keys.length - begin >= FEW || key.includes('\\') || keys.indexOf(key, begin) >= 0) return true;
          keys.push(key);
        }
        at = end - 1;
        break;
      }
      case 0x7b:
        begins.push(keys.length);
        break;
      case 0x7d:
        keys.length = begins.pop()!;
        break;
    }
  }
  return false;
}

/** Lists duplicate keys with their positions. */
function listDuplicates(text: string): TextFault[] {
  const results: TextFault[] = [];
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        const level = levels.at(-1);
        if (level?.keys && isKey(text, end)) {
          const raw = text.slice(at + 1, end - 1);
          level.key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
          const range = { start: at, end };
          const first = level.keys.get(level.key);
          if (first) results.push(duplicateKey(level.key, pointerOf(levels), range, first));
          else level.keys.set(level.key, range);
        }
        at = end - 1;
        break;
      }
      case 0x7b:
        levels.push({ keys: new Map(), key: '', index: 0 });
        break;
      case 0x5b:
        levels.push({ keys: null, key: '', index: 0 });
        break;
      case 0x7d:
      case 0x5d:
        levels.pop();
        break;
      case COMMA: {
        const level = levels.at(-1);
        if (level) level.index++;
        break;
      }
    }
  }
  return results;
}

/** @returns the offset after the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(++at)) {
    if (code === BACKSLASH) at++;
  }
  return at + 1;
}

/** True if the string that ends at the offset is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === COLON;
}

function pointerOf(levels: readonly Level[]): string {
  return levels.map(({ keys, key, index }) => '/' + (keys ? escapePointer(key) : index)).join('');
}
