import { copyData, type Data, printJson } from '#contract';
import {
  type Before,
  type Document,
  type FormatName,
  formatNameOf,
  parseAfter,
  readDocument,
} from '../config/index.ts';
import { contentHash, contentHashInSlices, listingHash } from '../runtime/prints/content-hash.ts';
import type { FileRead } from '../runtime/watch/index.ts';

export type Format = FormatName;

/** The text of a configuration that does not come from a file. */
export class ConfigText {
  readonly text: string;
  readonly format: Format;

  constructor(text: string, format: Format) {
    this.text = text;
    this.format = format;
  }
}

/** A configuration: the path of its file, its text, or the object it would contain. */
export type Source = string | ConfigText | object;

/** The document of one attempt, kept in memory so that later steps and other processes use the same content. */
export interface Snapshot {
  readonly source: Source;
  /** The path of the file, or a name for a text without one. */
  readonly file: string;
  readonly format: Format;
  readonly data: unknown;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly textHash: string;
  /** Locates values in the text; null for an object. */
  readonly document: Document | null;
}

/**
 * Reads a source once.
 * @param onRead called for the file, and for everything else that it is built from, including unreadable and malformed
 * files.
 * @param before the serving configuration: only changes to its text are parsed. `aside` parses all of it, without blocking
 * requests.
 * @throws ConfigErrors when it cannot be read or parsed.
 */
export async function readSnapshot(
  source: Source,
  onRead?: (file: FileRead) => void,
  before: Before = null,
): Promise<Snapshot> {
  if (typeof source === 'string') {
    const read: (readonly [path: string, content: Uint8Array | readonly string[] | null])[] = [];
    try {
      return ofDocument(source, await readDocument(source, (...file) => read.push(file), before));
    } finally {
      for (const [path, content] of read) onRead?.({ path, hash: content && (await hashOf(content)) });
    }
  }
  if (source instanceof ConfigText) {
    return ofDocument(source, await parseAfter(before, source.text, `configuration.${source.format}`));
  }
  const data = copyData(source as Data);
  return new Plain(source, data);
}

function hashOf(content: Uint8Array | readonly string[]): Promise<string> | string {
  return content instanceof Uint8Array ? contentHashInSlices(content) : listingHash(content);
}

function ofDocument(source: Source, document: Document): Snapshot {
  return new Written(source, document);
}

/** A snapshot that was created from a text. Its hash is computed on first use. */
class Written implements Snapshot {
  readonly source: Source;
  readonly file: string;
  readonly format: Format;
  readonly data: unknown;
  readonly text: string;
  readonly document: Document;
  #textHash: string | null = null;

  constructor(source: Source, document: Document) {
    this.source = source;
    this.file = document.file;
    this.format = formatNameOf(document.file) ?? 'json';
    this.data = document.data;
    this.text = document.text;
    this.document = document;
  }

  get textHash(): string {
    this.#textHash ??= contentHash(Buffer.from(this.text));
    return this.#textHash;
  }
}

/** A snapshot that was created from an object. Its text is created on first use. */
class Plain implements Snapshot {
  readonly source: object;
  readonly file = 'configuration.json';
  readonly format = 'json';
  readonly data: Data;
  readonly document = null;
  #text: string | null = null;

  constructor(source: object, data: Data) {
    this.source = source;
    this.data = data;
  }

  get text(): string {
    // Values that JSON cannot express also get a text; their errors are reported when the configuration is validated.
    this.#text ??= String(printJson(this.data));
    return this.#text;
  }

  get textHash(): string {
    return contentHash(Buffer.from(this.text));
  }
}
