import type { DataObject, Encoding, Plugin } from '#contract';

/** The single encoding of a plugin. */
export function encodingOf(plugin: Plugin): Encoding {
  return plugin.encodings![0]!;
}

/** The data that the plugin decodes from a body. */
export function read(plugin: Plugin, body: string | Uint8Array, asCollection = false): DataObject | null {
  return encodingOf(plugin).decode!(Buffer.from(body as string), asCollection);
}

/** The output of the plugin's encoder as text. */
export function write(plugin: Plugin, data: DataObject | null, accept?: string): string {
  return String(encodingOf(plugin).encode!(data, accept).body);
}

export function contentType(plugin: Plugin, accept?: string): string {
  return encodingOf(plugin).encode!({ a: 1 }, accept).contentType;
}
