import type { DataObject } from '#contract';
import { isRaw, type KnownPlugins } from '../known-plugins.ts';
import { joinPointer, parsePointer } from '../pointer.ts';

/**
 * What a reload does for a change: it swaps the configuration; opens or adjusts the listener; also ends open streams of
 * the endpoint; or leaves the change to the next start.
 */
export type Effect = 'swap' | 'rebind' | 'restart' | 'stream';

/** Settings of the port; anything else of the service is part of what is swapped. */
const rebinds: readonly RegExp[] = [
  /^\/(?:port|listen_ip|use_h2c|max_header_bytes)$/,
  /^\/(?:read|read_header|write|idle)_timeout$/,
  /^\/tls(?:\/|$)/,
  /^\/extra_config\/router\/use_h2c$/,
];

/** @param pointer of a field outside of the endpoints. */
export function serviceEffect(pointer: string, known: KnownPlugins): Effect {
  const [holder, namespace = '', ...steps] = parsePointer(pointer);
  const opens = holder === 'extra_config' ? known.plugin(namespace)?.opens : undefined;
  const isAddress = opens?.includes(joinPointer('', ...steps)) === true;
  return isAddress || rebinds.some((pattern) => pattern.test(pointer)) ? 'rebind' : 'swap';
}

/** @param endpoint as it was: only what served can have open streams. */
export function endpointEffect(endpoint: DataObject | undefined, known: KnownPlugins): Effect {
  return isRaw(String(endpoint?.['output_encoding']), known) ? 'stream' : 'swap';
}
