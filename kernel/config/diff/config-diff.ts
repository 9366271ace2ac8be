import type { Data, DataObject } from '#contract';
import { joinPointer, parsePointer } from '../../values/pointer.ts';
import { isRaw, type KnownPlugins } from '../known-plugins.ts';
import type { IsSecret } from '../secrets/secret.ts';
import type { ComponentSchema } from './effective-document.ts';

/** Which of the two configurations a pointer belongs to. */
export type Side = 'from' | 'to';

/** Where a field stands in its file, and by which names. */
export interface ChangePosition {
  readonly pointer?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** One change, as an operator sees it. */
export interface ConfigChange extends ChangePosition {
  readonly op: 'add' | 'remove' | 'replace';
  /** In the new document; in the old one for what is removed. */
  readonly pointer: string;
  /** The endpoint it belongs to; absent for the service. */
  readonly route?: RouteName;
  /** Absent for what is added. */
  readonly from?: Data;
  /** Absent for what is removed. */
  readonly to?: Data;
  readonly effect: Effect;
}

/** A route by its name. */
export interface RouteName {
  readonly method: string;
  readonly endpoint: string;
}

/** An operation of RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Data }
  | { readonly op: 'remove'; readonly path: string };

/** How the meaning of two configurations differs. */
export interface ConfigDiff {
  readonly equal: boolean;
  /** How many changes of each kind there are. */
  readonly summary: { readonly added: number; readonly changed: number; readonly removed: number };
  /** First those of the service, then by endpoint, in the order of path and method; what is inherited stands where it is from. */
  readonly changes: readonly ConfigChange[];
  /** Also those that change by what they inherit. */
  readonly endpoints: {
    readonly added: readonly RouteName[];
    readonly changed: readonly RouteName[];
    readonly removed: readonly RouteName[];
  };
  /** Makes the canonical data of the one configuration that of the other. Not to be applied where secrets are masked. */
  readonly patch: readonly PatchOperation[];
}

export interface DiffOptions {
  /** Adds to a change where it stands. Default: nothing. */
  readonly places?: (pointer: string, side: Side) => ChangePosition;
  /** Which values are shown as `***`, in `patch` too. Default: none. */
  readonly isSecret?: IsSecret;
  /** Values of the second configuration that are always reported as changed. Default: none. */
  readonly isGuess?: IsSecret;
  /** Which encodings there are. Default: none is known. */
  readonly known?: KnownPlugins;
  /** Lets components be compared by what they mean; without it they are compared as they are written. */
  readonly componentSchema?: ComponentSchema;
}

/**
 * What a reload does for a change: it swaps the configuration; opens or adjusts the listener; also ends open streams of
 * the endpoint; or leaves the change to the next start.
 */
export type Effect = 'swap' | 'rebind' | 'restart' | 'stream';

/** Settings of the port; anything else of the service is part of what is swapped. */
const rebinds: readonly RegExp[] = [
  /^\/(?:port|listen_ip|use_h2c|max_header_bytes|max_connections|max_requests_per_connection)$/,
  /^\/(?:read|read_header|write|send|idle)_timeout$/,
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
