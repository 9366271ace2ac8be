/** A component of a message that a signature covers. */
export interface Component {
  readonly name: string;
  /** Serialization of the component with its parameters, as in the signature base. */
  readonly identifier: string;
  /** Value of the parameter `name` of the component `@query-param`. */
  readonly queryName: string | null;
  /** Whether the component has a parameter that is not supported. */
  readonly isUnsupported: boolean;
}

/** A member of `Signature-Input`. */
export interface SignatureInput {
  readonly components: readonly Component[];
  /** String and integer parameters by name; other values are dropped. */
  readonly params: ReadonlyMap<string, string | number>;
  /** Serialization of the member, which is part of the signature base. */
  readonly text: string;
}

/** Maximum length of a header, and of all its members together, in characters. */
const MAX_CHARACTERS = 16 * 1024;
const MAX_SIGNATURES = 16;
const MAX_COMPONENTS = 64;

type Bare = string | number | null;

/** Reads structured fields (RFC 8941) from a text. @throws SyntaxError. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > MAX_CHARACTERS) throw new SyntaxError('too long');
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Consumes the text that the sticky expression matches; null without a match. */
  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  expect(pattern: RegExp): string {
    const found = this.match(pattern);
    if (found === null) throw new SyntaxError(`invalid at ${this.#at}`);
    return found;
  }

  key(): string {
    return this.expect(/[a-z*][a-z0-9_\-.*]*/y);
  }

  /** Parses a bare item. `text` is its canonical form. */
  item(): { readonly value: Bare; readonly text: string } {
    const quoted = this.match(/"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y);
    if (quoted !== null) return { value: quoted.slice(1, -1).replace(/\\(.)/g, '$1'), text: quoted };
    const integer = this.match(/-?\d{1,15}(?![\d.])/y);
    if (integer !== null) return { value: Number(integer), text: String(Number(integer)) };
    const other = this.expect(/:[A-Za-z0-9+/]*={0,2}:|\?[01]|[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*/y);
    return { value: null, text: other };
  }

  params(): { readonly values: Map<string, Bare>; readonly text: string } {
    const values = new Map<string, Bare>();
    let text = '';
    while (this.match(/;/y) !== null) {
      this.match(/ */y);
      const key = this.key();
      if (values.has(key)) throw new SyntaxError('a parameter is repeated');
      const item = this.match(/=/y) === null ? null : this.item();
      values.set(key, item ? item.value : null);
      text += item ? `;${key}=${item.text}` : `;${key}`;
    }
    return { values, text };
  }

  /** Moves to the next member of a dictionary; false at the end. */
  next(isFirst: boolean): boolean {
    this.match(/[ \t]*/y);
    if (this.isAtEnd) return false;
    if (!isFirst) this.expect(/,[ \t]*/y);
    return true;
  }
}

function readDictionary<T>(text: string, read: (reader: Reader) => T): Map<string, T> {
  const reader = new Reader(text);
  const members = new Map<string, T>();
  while (reader.next(members.size === 0)) {
    const label = reader.key();
    reader.expect(/=/y);
    if (members.has(label) || members.size >= MAX_SIGNATURES) throw new SyntaxError('too many members');
    members.set(label, read(reader));
  }
  return members;
}

function componentOf(reader: Reader): Component {
  const quoted = reader.expect(/"@?[a-z0-9!#$%&'*+\-.^_`|~]+"/y);
  const name = quoted.slice(1, -1);
  const { values, text } = reader.params();
  const queryName = values.get('name');
  const isQuery = name === '@query-param' && typeof queryName === 'string';
  const isUnsupported = isQuery ? values.size > 1 : values.size > 0;
  return { name, identifier: quoted + text, queryName: isQuery ? queryName : null, isUnsupported };
}

function inputOf(reader: Reader): SignatureInput {
  reader.expect(/\( */y);
  const components: Component[] = [];
  const seen = new Set<string>();
  while (reader.match(/\)/y) === null) {
    if (components.length > 0 && reader.match(/ +(?=")| *(?=\))/y) === null) throw new SyntaxError('not a list');
    if (reader.match(/\)/y) !== null) break;
    const component = componentOf(reader);
    if (seen.has(component.identifier) || components.length >= MAX_COMPONENTS) throw new SyntaxError('not a set');
    seen.add(component.identifier);
    components.push(component);
  }
  const { values, text } = reader.params();
  const params = new Map([...values].filter((pair): pair is [string, string | number] => pair[1] !== null));
  return { components, params, text: `(${components.map(({ identifier }) => identifier).join(' ')})${text}` };
}

/** Reads a `Signature-Input`, by label; null if it is not valid. */
export function readInputs(text: string): Map<string, SignatureInput> | null {
  return attempt(() => readDictionary(text, inputOf));
}

/** Reads a dictionary of byte sequences, such as `Signature` or `Content-Digest`; null if it is not valid. */
export function readBytes(text: string): Map<string, Buffer> | null {
  return attempt(() =>
    readDictionary(text, (reader) => {
      const encoded = reader.expect(/:[A-Za-z0-9+/]*={0,2}:/y);
      reader.params();
      return Buffer.from(encoded.slice(1, -1), 'base64');
    }),
  );
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Serializes a string with quotes. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
