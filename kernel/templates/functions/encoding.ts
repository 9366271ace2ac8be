import { parseExact } from '../../values/json.ts';
import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import type { Value } from '../value.ts';
import { type JsonStyle, writeJson } from './json.ts';

const COMPACT: JsonStyle = { escapesHtml: true, indent: '' };
const PRETTY: JsonStyle = { escapesHtml: true, indent: '  ' };
const RAW: JsonStyle = { escapesHtml: false, indent: '' };

const toJson = bounded('any', (run, value) => writeJson(value, COMPACT, run));
const toPrettyJson = bounded('any', (run, value) => writeJson(value, PRETTY, run));
const toRawJson = bounded('any', (run, value) => writeJson(value, RAW, run));

/** Functions that encode values as text, and decode them. */
export const encodingFunctions: Functions = {
  toJson,
  mustToJson: toJson,
  marshal: toJson,
  toPrettyJson,
  mustToPrettyJson: toPrettyJson,
  toRawJson,
  mustToRawJson: toRawJson,
  fromJson: bounded('string', (run, text) => {
    run.budget.spend(text.length >> 4);
    return readJson(text) ?? null;
  }),
  mustFromJson: bounded('string', (run, text) => {
    run.budget.spend(text.length >> 4);
    const value = readJson(text);
    if (value === undefined) throw new Failure('the text is not JSON');
    return value;
  }),
  b64enc: fn('string', (text) => Buffer.from(text).toString('base64')),
  b64dec: fn('string', (text) => {
    const plain = text.replace(/[\r\n]/g, '');
    if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) return 'illegal base64 data';
    return Buffer.from(plain, 'base64').toString();
  }),
  b32enc: fn('string', base32),
  b32dec: fn('string', (text) => fromBase32(text.replace(/[\r\n]/g, ''))),
};

/** @returns undefined for invalid JSON. */
function readJson(text: string): Value {
  try {
    return parseExact(text) as Value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(text: string): string {
  let bits = 0;
  let count = 0;
  let result = '';
  for (const byte of Buffer.from(text)) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 5; count -= 5) result += BASE32[(bits >> (count - 5)) & 31];
    bits &= 31;
  }
  if (count > 0) result += BASE32[(bits << (5 - count)) & 31];
  return result.padEnd(Math.ceil(result.length / 8) * 8, '=');
}

function fromBase32(text: string): string {
  if (text.length % 8 !== 0 || !/^[A-Z2-7]*={0,6}$/.test(text)) return 'illegal base32 data';
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const sign of text.replace(/=+$/, '')) {
    bits = (bits << 5) | BASE32.indexOf(sign);
    count += 5;
    if (count >= 8) {
      count -= 8;
      bytes.push((bits >> count) & 255);
      bits &= 255;
    }
  }
  return Buffer.from(bytes).toString();
}
