import type { Data, DataObject } from '#contract';
import { joinPointer, parsePointer } from '../../values/pointer.ts';
import { isRaw, type KnownPlugins } from '../normalize/known-plugins.ts';
import type { IsSecret } from '../secrets/secret.ts';
import type { ComponentSchema } from './effective-document.ts';

/** One of the two compared configurations. */
export type Side = 'from' | 'to';

/** Position of a field in its file, and the names under which it is written there. */
export interface ChangePosition {
  readonly pointer?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** A change, as shown to operators. */
export interface ConfigChange extends ChangePosition {
  readonly op: 'add' | 'remove' | 'replace';
  /** Pointer in the new document, or in the old one for removed values. */
  readonly pointer: string;
  /** The endpoint that the change belongs to; absent for the service. */
  readonly route?: RouteName;
  /** The old value; absent for added values. */
  readonly from?: Data;
  /** The new value; absent for removed values. */
  readonly to?: Data;
  readonly effect: Effect;
}

/** Method and path that identify a route. */
export interface RouteName {
  readonly method: string;
  readonly endpoint: string;
}

/** An operation of JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Data }
  | { readonly op: 'remove'; readonly path: string };

/** Semantic differences between two configurations. */
export interface ConfigDiff {
  readonly equal: boolean;
  /** Number of changes of each kind. */
  readonly summary: { readonly added: number; readonly changed: number; readonly removed: number };
  /** Changes of the service first, then by endpoint, ordered by path and method. Inherited changes are listed only at their origin. */
  readonly changes: readonly ConfigChange[];
  /** Includes endpoints that change only through inherited values. */
  readonly endpoints: {
    readonly added: readonly RouteName[];
    readonly changed: readonly RouteName[];
    readonly removed: readonly RouteName[];
  };
  /** Turns the canonical data of the first configuration into that of the second. Must not be applied if secrets are masked. */
  readonly patch: readonly PatchOperation[];
}

export interface DiffOptions {
  /** Adds positions to a change. Default: none. */
  readonly places?: (pointer: string, side: Side) => ChangePosition;
  /** Selects the values shown as `***`, in `patch` too. Default: none. */
  readonly isSecret?: IsSecret;
  /**
   * Selects values of the second configuration that are always reported as changed, so that a comparison does not
   * confirm a guessed secret. Default: none.
   */
  readonly isGuess?: IsSecret;
  /** Plugins that provide the known encodings. Default: none. */
  readonly known?: KnownPlugins;
  /** Schemas for comparing components by meaning; without them components are compared as written. */
  readonly componentSchema?: ComponentSchema;
}

/**
 * Effect of a change on a reload: `swap` replaces the configuration; `rebind` opens or adjusts the listener; `stream`
 * also ends open streams of the endpoint; `restart` defers the change to the next start.
 */
export type Effect = 'swap' | 'rebind' | 'restart' | 'stream';

/** Settings of the listener. All other settings of the service belong to the configuration that a reload replaces. */
const rebinds: readonly RegExp[] = [
  /^\/(?:port|listen_ip|socket_mode|use_h2c|max_header_bytes|max_connections|max_requests_per_connection)$/,
  /^\/(?:read|read_header|write|send|idle)_timeout$/,
  /^\/(?:tls|proxy_protocol)(?:\/|$)/,
  /^\/extra_config\/router\/use_h2c$/,
];

/** @param pointer of a field outside the endpoints. */
export function serviceEffect(pointer: string, known: KnownPlugins): Effect {
  const [holder, namespace = '', ...steps] = parsePointer(pointer);
  const opens = holder === 'extra_config' ? known.plugin(namespace)?.opens : undefined;
  const isAddress = opens?.includes(joinPointer('', ...steps)) === true;
  return isAddress || rebinds.some((pattern) => pattern.test(pointer)) ? 'rebind' : 'swap';
}

/** @param endpoint the endpoint before the change: only endpoints already served can have open streams. */
export function endpointEffect(endpoint: DataObject | undefined, known: KnownPlugins): Effect {
  return isRaw(String(endpoint?.['output_encoding']), known) ? 'stream' : 'swap';
}
