import type { DataObject } from '../values/data.ts';
import type { AttackCatalogue } from './attack.ts';
import type { AuditRule } from './audit.ts';
import type { ServiceConfig } from './config.ts';
import type { Namespace } from './extra-config.ts';
import type { Isolation } from './isolation.ts';
import type { Plugin } from './plugin.ts';
import type { Skeletons } from './skeleton.ts';

/** Modules by namespace, loaded when a configuration first uses them. */
export type Manifest = Readonly<Record<Namespace, () => Promise<{ readonly plugin: Plugin }>>>;

/** Source of everything that a configuration can name. */
export interface Catalogue {
  readonly plugins: Manifest;
  readonly order: Order;
  readonly compatibility?: Compatibility;
  /** Audit rules in addition to those of plugins. */
  readonly audit?: () => Promise<{ readonly rules: readonly AuditRule[] }>;
  /** Attacks on configurations, and the servers and callers that they need. */
  readonly attack?: () => Promise<{ readonly catalogue: AttackCatalogue }>;
  /** Describes the served API. */
  readonly describe?: () => Promise<{ readonly describeApi: DescribeApi }>;
  /** Plugins that are attached to every service, without a namespace in its configuration. */
  readonly always?: readonly Namespace[];
  /** Plugins with stores of secrets, by scheme, in addition to `secrets/<scheme>`. */
  readonly secretStores?: { readonly [scheme: string]: Namespace };
  /** Plugins that configurations are read by, by URL scheme. No configuration names them. */
  readonly sources?: Manifest;
  /** Plugins that provide commands, so that no other is loaded to list them. Default: any plugin can. */
  readonly commands?: readonly Namespace[];
  /** Converts a module written for another gateway's extension points into a plugin. */
  readonly adapt?: () => Promise<{ readonly adapt: AdaptModule; readonly isolation?: Isolation }>;
  /** Small commented configurations to start with, by file extension. */
  readonly starters?: () => Promise<{ readonly starters: Readonly<Record<string, string>> }>;
  /** Skeletons of modules in the forms that `adapt` supports. */
  readonly skeletons?: () => Promise<{ readonly skeletons: Skeletons }>;
  /** Plugin whose protocol serves backends that no other protocol claims. */
  readonly defaultProtocol: Namespace;
  /** Component that configures the application log, if any. */
  readonly logging?: Namespace;
}

/**
 * Describes the served API in OpenAPI.
 * @param options.audience includes only endpoints for this audience; default: all. @param options.version default: 3.0.
 */
export type DescribeApi = (
  config: ServiceConfig,
  options?: { readonly audience?: string | undefined; readonly version?: '3.0' | '3.1' | undefined },
) => { readonly document: DataObject };

/**
 * @param module exports of the module. @param file its path, for messages.
 * @returns undefined for a module of another form. @throws ConfigError for an invalid module.
 */
export type AdaptModule = (module: Readonly<Record<string, unknown>>, file: string) => Plugin | undefined;

/** Names that older releases and KrakenD use. */
export interface Compatibility {
  /** Namespaces of KrakenD. Those that no plugin provides are rejected as not supported yet. */
  readonly namespaces: readonly Namespace[];
  /** Current namespaces by old name, without `github.com/` or `github_com/`. */
  readonly oldNamespaces: { readonly [name: string]: Namespace };
  /** Replacements of components of older releases. */
  readonly successors: { readonly [name: Namespace]: Namespace };
  /** Advice by old component name without a replacement, without `github.com/` or `github_com/`. */
  readonly retired?: { readonly [name: string]: string };
  /** Components that version 4 of the format no longer has in KrakenD, with their replacements. */
  readonly removed?: { readonly [name: Namespace]: Namespace };
  /** Components, families of components (ending with a slash) and handlers whose removal weakens protection. */
  readonly protecting?: readonly string[];
  /** Hints for missing settings, in terms of this release's components. */
  readonly remedies?: {
    /** Hint for a warning about equal keys in several responses. */
    readonly joined: string;
    /** Setting that makes responses of earlier backends available to later ones, and the hint for a missing one. */
    readonly earlier: { readonly field: string; readonly hint: string };
    /** Component that provides the claims for `{JWT.name}`. */
    readonly claims: Namespace;
  };
}

/** Phases of a request in which wraps are ordered. */
export type Phase = 'middleware' | 'request' | 'endpoint' | 'proxy' | 'backend' | 'transport';

/**
 * Namespaces by phase, outermost first. `service: NAME` is the position of the parts that a component at the root
 * attaches to each endpoint or backend, if it differs from the position of NAME.
 */
export type Order = Readonly<Record<Phase, readonly Namespace[]>>;
