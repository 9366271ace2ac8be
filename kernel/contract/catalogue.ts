import type { DataObject } from '../values/data.ts';
import type { AuditRule } from './audit.ts';
import type { ServiceConfig } from './config.ts';
import type { Namespace } from './extra-config.ts';
import type { Isolation } from './isolation.ts';
import type { Plugin } from './plugin.ts';
import type { Skeletons } from './skeleton.ts';

/** Namespace to the module that brings it, loaded when a configuration first uses it. */
export type Manifest = Readonly<Record<Namespace, () => Promise<{ readonly plugin: Plugin }>>>;

/** Where everything that can be named in a configuration comes from. */
export interface Catalogue {
  readonly plugins: Manifest;
  readonly order: Order;
  readonly compatibility?: Compatibility;
  /** What the audit looks for, besides what plugins bring. */
  readonly audit?: () => Promise<{ readonly rules: readonly AuditRule[] }>;
  /** Describes what a configuration serves. */
  readonly describe?: () => Promise<{ readonly describeApi: DescribeApi }>;
  /** Plugins that are attached to every service, without a namespace in its configuration. */
  readonly always?: readonly Namespace[];
  /** Plugins that bring commands: no other is loaded to know the commands there are. Default: any may. */
  readonly commands?: readonly Namespace[];
  /** Makes a plugin of a module that was written for another gateway's extension points. */
  readonly adapt?: () => Promise<{ readonly adapt: AdaptModule; readonly isolation?: Isolation }>;
  /** Small commented configurations to begin with, by the extension of their format. */
  readonly starters?: () => Promise<{ readonly starters: Readonly<Record<string, string>> }>;
  /** Modules of the forms that `adapt` knows, to begin with. */
  readonly skeletons?: () => Promise<{ readonly skeletons: Skeletons }>;
  /** The plugin whose protocol serves backends that no other protocol claims. */
  readonly defaultProtocol: Namespace;
  /** The component that configures the application log, where there is one. */
  readonly logging?: Namespace;
}

/**
 * Describes what a configuration serves, in OpenAPI.
 * @param options.audience only endpoints for this audience; default: all. @param options.version default: 3.0.
 */
export type DescribeApi = (
  config: ServiceConfig,
  options?: { readonly audience?: string | undefined; readonly version?: '3.0' | '3.1' | undefined },
) => { readonly document: DataObject };

/**
 * @param module what the module exports. @param file its path, for messages.
 * @returns undefined for a module of no such form. @throws ConfigError for one that has the form and is wrong.
 */
export type AdaptModule = (module: Readonly<Record<string, unknown>>, file: string) => Plugin | undefined;

/** Names in configurations that were made for older releases, or for more than this one can do. */
export interface Compatibility {
  /** Namespaces of the compatible product: one that no plugin brings is refused as not supported yet. */
  readonly namespaces: readonly Namespace[];
  /** Old names of namespaces, without `github.com/` or `github_com/`, and the present ones. */
  readonly oldNamespaces: { readonly [name: string]: Namespace };
  /** Components of older releases, and what took their place. */
  readonly successors: { readonly [name: Namespace]: Namespace };
  /** Old names of components, without `github.com/` or `github_com/`, that nothing took the place of, and what to do. */
  readonly retired?: { readonly [name: string]: string };
  /** Components, families of them (with a slash at the end) and handlers whose loss weakens protection. */
  readonly protecting?: readonly string[];
  /** What to write for what is missing, in the words of this release's components. */
  readonly remedies?: {
    /** Of equal keys of several answers. */
    readonly joined: string;
    /** Of `{resp0_field}`. */
    readonly earlier: { readonly field: string; readonly hint: string };
    /** Of `{JWT.name}`: the component. */
    readonly claims: Namespace;
  };
}

/** The phases of a request in which wraps have an order. */
export type Phase = 'middleware' | 'request' | 'endpoint' | 'proxy' | 'backend' | 'transport';

/**
 * For each phase the namespaces that stand in it, outermost first. `service: NAME` is the place of what a component at the root
 * attaches to each endpoint or backend, where that is not the place of NAME itself.
 */
export type Order = Readonly<Record<Phase, readonly Namespace[]>>;
