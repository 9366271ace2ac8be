import {
  ConfigError,
  type EndpointConfig,
  type HandlerPlace,
  type Plugin,
  type PluginSource,
  type ServiceConfig,
} from '#contract';
import { containedAttachment } from '../../containment/contained-attachment.ts';
import type { BlamedPlugin, Containment } from '../../containment/containment.ts';
import type { FaultMeter, HookGuard } from '../../containment/hook-guard.ts';
import { beginHook, endHook } from '../../containment/marks.ts';
import { PlaceGuards } from '../../containment/place-guards.ts';
import { messageOf, placeIn, stackOf } from '../../containment/source-place.ts';
import { policyOf, runAs } from '../../contract/internal.ts';
import { runBounded } from '../../registry/loading/run-bounded.ts';
import type { FilePlugin } from '../../registry/registry.ts';

/** Maximum time of one call of a plugin's `attach` function, in milliseconds. */
const ATTACH_MS = 5_000;

/**
 * Number of calls of `attach` after which the content of a plugin is trusted to return. Before that, the time limit
 * requires a thread, about 0.3 ms per attachment.
 */
const PROVEN_AFTER = 50;

/** Number of calls of `attach` so far, by content of the plugin. */
const attachments = new WeakMap<PluginSource, number>();

function isProven(source: PluginSource): boolean {
  const times = attachments.get(source) ?? 0;
  attachments.set(source, times + 1);
  return times >= PROVEN_AFTER;
}

/** A place where another plugin's configuration refers to a handler. */
export interface HandlerUse {
  readonly name: string;
  readonly source: PluginSource;
  readonly pointer: string;
  /** The endpoint in which the plugin is configured; undefined at service level. */
  readonly endpoint: EndpointConfig | undefined;
}

/** The part of a build that concerns the containment of plugins from files. */
export interface Contains {
  readonly config: ServiceConfig;
  /** Uses of handlers from plugin files. */
  readonly handlerUses: HandlerUse[];
  /** Handler uses in the whole configuration. */
  readonly everyHandlerUse: readonly HandlerUse[];
  /** Sites passed to plugins from files, to detect those retained for too long. */
  readonly sites: { readonly plugin: FilePlugin; readonly ref: WeakRef<object> }[];
  /**
   * Null if no traffic is served, as in a dry run or the test of a plugin: faults are then thrown instead of contained.
   */
  readonly containment: Containment | null;
  readonly faultMeter: FaultMeter;
}

/** Returns the guards for a plugin's hooks in one endpoint, backend or the service; null for bundled plugins, which are not contained. */
export function guardsAt(
  { config, containment, faultMeter }: Contains,
  plugin: Blamed,
  endpoint?: Pick<EndpointConfig, 'method' | 'endpoint'>,
): PlaceGuards | null {
  if (!containment || !plugin.source) return null;
  const blamed = blamedFor(plugin as BlamedPlugin & Blamed);
  const policy = policyOf(blamed.name, config.plugin);
  return new PlaceGuards(containment, blamed, endpoint, policy, faultMeter, plugin.kind);
}

/** A plugin, or a handler that it provides, whose hooks are contained. */
export type Blamed = Pick<Plugin, 'name' | 'handlers'> & {
  readonly source?: PluginSource | undefined;
  readonly kind?: string;
};

/** Returns the name under which faults are reported: a plugin with handlers is reported by the name of its handler. */
function blamedFor({ name, source, handlers }: BlamedPlugin & Blamed): BlamedPlugin {
  return { name: handlers?.[0] ?? name, source };
}

/**
 * Returns the hooks of a plugin for one endpoint, backend or the service, contained if the plugin comes from a file.
 * Timers, connections and tasks that it starts have the component as the owner of their faults, unless they name
 * another. Code: PLUGIN_ATTACH.
 */
export function attachContained<A>(
  build: Contains,
  plugin: Blamed,
  pointer: string,
  endpoint: Pick<EndpointConfig, 'method' | 'endpoint'> | undefined,
  make: () => A,
): A {
  const of = endpoint ? ` at ${endpoint.method} ${endpoint.endpoint}` : '';
  return runAs('component', `"${plugin.name}"${of}`, () => attachAs(build, plugin, pointer, endpoint, make));
}

function attachAs<A>(
  build: Contains,
  plugin: Blamed,
  pointer: string,
  endpoint: Pick<EndpointConfig, 'method' | 'endpoint'> | undefined,
  make: () => A,
): A {
  const { source } = plugin;
  if (!source) return make();
  const { name } = blamedFor({ ...plugin, source });
  const guards = guardsAt(build, plugin, endpoint);
  try {
    // The watchdog monitors this call: if it does not return, it logs the source line.
    const bounded = () => (isProven(source) ? make() : runBounded(make, ATTACH_MS));
    const attached = guards ? watched(bounded, guards.of('attach')) : bounded();
    return guards && attached !== undefined ? (containedAttachment(attached as A & object, guards) as A) : attached;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const place = placeIn(new Set(source.files), stackOf(error)) ?? source.file;
    const reason = isTimeout(error) ? 'its code runs in an endless loop' : messageOf(error);
    throw new ConfigError('PLUGIN_ATTACH', pointer, `"${name}" cannot be attached: ${reason} (${place})`, {
      cause: error,
    });
  }
}

/** Records a site passed to a plugin from a file, as it may retain it for too long. */
export function noteSite<S extends object>(build: Contains, plugin: Plugin, site: S): S {
  if (plugin.source) build.sites.push({ plugin: plugin as FilePlugin, ref: new WeakRef(site) });
  return site;
}

/** Returns the hooks of a handler, contained like the plugin that provides it. Code: PLUGIN_ATTACH. */
export function attachHandler<A>(
  build: Contains,
  { source }: Blamed,
  { name, kind, pointer, endpoint }: HandlerPlace,
  attach: () => A,
): A {
  if (source) build.handlerUses.push({ name, source, pointer, endpoint });
  return attachContained(build, { name, source, kind }, pointer, endpoint, attach);
}

/** Runs a plugin's `attach` function so that the event loop watchdog can name the plugin if it blocks. */
function watched<A>(make: () => A, { number }: HookGuard): A {
  const outer = beginHook(number);
  try {
    return make();
  } finally {
    endHook(outer);
  }
}

function isTimeout(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
