import { credentialWords } from '../values/credential-words.ts';
import { type Data, type DataObject, setKey } from '../values/data.ts';
import { parseExact, printJson } from '../values/json.ts';
import { maskTarget } from './masked-query.ts';
import { Query } from './query.ts';

/** Replacement for masked values. */
const MASK = '***';

/** Maximum nesting depth of JSON bodies that are recorded. */
const MAX_DEPTH = 200;

/** Pattern of names of headers and fields that contain credentials, or may contain them. */
const credential = new RegExp(`${credentialWords}|authorization|cookie|session|signature|jwt`, 'i');

/** Pattern of values that are credentials whatever the name of their header or field: those of authentication schemes, and JSON Web Tokens. */
const credentialValue = /^(?:basic|bearer|digest|negotiate|ntlm)\s|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/i;

/** The name of a credential with a value: in assignments, lines of JSON, form fields of HTML, and elements of XML. */
const assigned = new RegExp(
  `(?:${credential.source})[\\w.-]{0,24}["']?\\s{0,4}(?:[:=]|value=)|<[\\w:.-]{0,64}?(?:${credential.source})[\\w.-]{0,24}(?:\\s[^<>]{0,300})?>`,
  'i',
);

/** User name and password in a URL. */
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i;

/** Masks credentials, and the named fields, in headers, queries and bodies. */
export class Masks {
  readonly #names: ReadonlySet<string>;
  /** Whether bodies that cannot be searched may be recorded. */
  readonly #keepsOpaque: boolean;

  /** @param fields case-insensitive. @param more names of headers and parameters that contain API keys. */
  constructor(fields: readonly string[], more: readonly string[] = []) {
    this.#names = new Set([...fields, ...more].map((name) => name.toLowerCase()));
    this.#keepsOpaque = fields.length === 0;
  }

  isMasked(name: string): boolean {
    return credential.test(name) || this.#names.has(name.toLowerCase());
  }

  header(name: string, value: string): string {
    return this.isMasked(name) || credentialValue.test(value) ? MASK : this.target(value);
  }

  /** Masks the query of a URL or request target, and removes user name and password. */
  target(target: string): string {
    const mark = target.indexOf('?');
    const address = (mark < 0 ? target : target.slice(0, mark + 1)).replace(userInfo, '$1');
    return mark < 0 ? address : address + this.query(target.slice(mark + 1));
  }

  /** Masks an undecoded query or form. */
  query(search: string): string {
    const pairs = maskTarget(`?${search}`).slice(1).split('&');
    return pairs.map((pair) => this.#pair(pair)).join('&');
  }

  #pair(pair: string): string {
    const [parameter] = Query.parse(pair);
    if (!parameter || !pair.includes('=')) return pair;
    const [name, values] = parameter;
    const isMasked = this.isMasked(name.replace(/\[\w*\]$/, '')) || credentialValue.test(values[0]!);
    return isMasked ? `${pair.slice(0, pair.indexOf('='))}=${MASK}` : pair;
  }

  /**
   * Masks a body.
   * @returns null if credentials or named fields in the body cannot be found, so that it must be omitted.
   */
  body(bytes: Uint8Array, contentType: string): Uint8Array | null {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    if (/\bapplication\/x-www-form-urlencoded\b/i.test(contentType)) return Buffer.from(this.query(text));
    const data = parsed(text);
    if (typeof data === 'object' && data !== null) return this.#data(data);
    return this.#keepsOpaque && !/\bmultipart\/|[/+]json\b/i.test(contentType) ? opaque(bytes, text) : null;
  }

  /** Masks decoded data, as JSON; null if it is nested too deeply. */
  #data(data: Data): Uint8Array | null {
    const masked = this.#masked(data, MAX_DEPTH);
    return masked === undefined ? null : Buffer.from(printJson(masked));
  }

  /** A copy with masked values; undefined for data that is nested too deeply. */
  #masked(value: Data, depth: number): Data | undefined {
    if (typeof value === 'string') return credentialValue.test(value) ? MASK : value;
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
    if (depth === 0) return undefined;
    if (Array.isArray(value)) {
      const items: Data[] = [];
      for (const item of value) {
        const masked = this.#masked(item, depth - 1);
        if (masked === undefined) return undefined;
        items.push(masked);
      }
      return items;
    }
    return this.#object(value as DataObject, depth);
  }

  #object(value: DataObject, depth: number): DataObject | undefined {
    const copy: DataObject = {};
    for (const key of Object.keys(value)) {
      const inner = value[key]!;
      const isMasked = this.isMasked(key) && inner !== null && typeof inner !== 'boolean';
      const masked = isMasked ? MASK : this.#masked(inner, depth - 1);
      if (masked === undefined) return undefined;
      setKey(copy, key, masked);
    }
    return copy;
  }
}

function opaque(bytes: Uint8Array, text: string): Uint8Array | null {
  return credentialValue.test(text) || assigned.test(text) ? null : bytes;
}

function parsed(text: string): Data | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
