import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { send } from '../../api/client.ts';
import { prettyJson } from '../../format.ts';

/** Format of a configuration text. */
export type Format = 'json' | 'yaml';

/** A configuration text as it was read, and what it is based on. */
export interface Base {
  readonly text: string;
  readonly format: Format;
  readonly etag: string;
  readonly revision: number;
}

/** Format in which the text of a file is shown: TOML is shown as JSON. @param file null for a configuration without a file. */
export function formatOf(file: string | null): Format {
  return file !== null && /\.ya?ml$/.test(file) ? 'yaml' : 'json';
}

/** Reads the active configuration as it was written. @param reveal with its secrets and comments. @throws ApiError. */
export async function readBase(format: Format, reveal: boolean): Promise<Base> {
  const response = await send('/v1/config', {
    query: { form: 'source', ...(reveal && { reveal }) },
    headers: { Accept: `application/${format}` },
  });
  const received = await response.text();
  const isCompact = format === 'json' && !received.trimEnd().includes('\n');
  return {
    text: isCompact ? `${prettyJson(received)}\n` : received,
    format,
    etag: response.headers.get('ETag') ?? '',
    revision: Number(response.headers.get('Gateway-Revision')),
  };
}

/**
 * Line of the value at a JSON pointer in a JSON text, or of the nearest value around it, as the text may inherit the
 * value or have it under an older name; null for a text that is not JSON.
 */
export function lineOf(text: string, pointer: string): number | null {
  const path = pointer.split('/').slice(1);
  const steps = path.map((step) =>
    /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~'),
  );
  const root = parseTree(text);
  for (let depth = steps.length; root && depth >= 0; depth--) {
    const node = findNodeAtLocation(root, steps.slice(0, depth));
    if (node) return text.slice(0, node.offset).split('\n').length;
  }
  return null;
}
