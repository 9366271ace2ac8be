import { type DataObject, type EachMessage, type Plugin, setKey } from '#contract';
import { encodingOf } from './support.ts';

/** Output of a plugin for a stream in the given chunks. */
export function rewrite(
  plugin: Plugin,
  chunks: readonly (string | Uint8Array)[],
  each: EachMessage | null = null,
): Buffer {
  const out: Uint8Array[] = [];
  const reader = encodingOf(plugin).messages!.open(each, (bytes) => out.push(bytes));
  for (const chunk of chunks) reader.write(Buffer.from(chunk as string));
  reader.end();
  return Buffer.concat(out);
}

/** Output for each chunk before the next one arrives. */
export function stepwise(plugin: Plugin, chunks: readonly string[], each: EachMessage | null = null): string[] {
  let out = '';
  const reader = encodingOf(plugin).messages!.open(each, (bytes) => {
    out += Buffer.from(bytes).toString();
  });
  return chunks.map((chunk) => {
    out = '';
    reader.write(Buffer.from(chunk));
    return out;
  });
}

/** The stream split in two at every byte, and into single bytes. */
export function everyCut(stream: string | Uint8Array): Buffer[][] {
  const bytes = Buffer.from(stream as string);
  const cuts = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...cuts, Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))];
}

/** Removes a key from every message. */
export function without(name: string): EachMessage {
  return (data) => {
    const left: DataObject = {};
    for (const key of Object.keys(data)) if (key !== name) setKey(left, key, data[key]!);
    return left;
  };
}

/** Leaves every message unchanged. */
export const same: EachMessage = (data) => data;
