import {
  ConfigError,
  type EndpointConfig,
  type HandlerPlace,
  type Plugin,
  type PluginSource,
  type ServiceConfig,
} from '#contract';
import { containedAttachment } from '../containment/contained-attachment.ts';
import type { BlamedPlugin, Containment } from '../containment/containment.ts';
import type { FaultMeter, HookGuard } from '../containment/hook-guard.ts';
import { beginHook, endHook } from '../containment/marks.ts';
import { PlaceGuards } from '../containment/place-guards.ts';
import { messageOf, placeIn, stackOf } from '../containment/source-place.ts';
import { policyOf } from '../contract/internal.ts';
import { runBounded } from '../registry/loading/run-bounded.ts';
import type { FilePlugin } from '../registry/registry.ts';

/** Longest time for a plugin to attach at one place, in milliseconds. */
const ATTACH_MS = 5_000;

/** A bound costs a thread, some 0.3 ms: a content that came back so often is attached without one. */
const PROVEN_AFTER = 50;

/** How often each content was attached. */
const attachments = new WeakMap<PluginSource, number>();

function isProven(source: PluginSource): boolean {
  const times = attachments.get(source) ?? 0;
  attachments.set(source, times + 1);
  return times >= PROVEN_AFTER;
}

/** A place where the configuration of another plugin names a handler. */
export interface HandlerUse {
  readonly name: string;
  readonly source: PluginSource;
  readonly pointer: string;
  /** Undefined for the service. */
  readonly endpoint: EndpointConfig | undefined;
}

/** What a build says of the containment of plugins from files. */
export interface Contains {
  readonly config: ServiceConfig;
  /** Handlers of plugins from files that stand somewhere. */
  readonly handlerUses: HandlerUse[];
  /** Those of the whole configuration. */
  readonly everyHandlerUse: readonly HandlerUse[];
  /** What plugins from files were handed; they may hold it for longer than they should. */
  readonly sites: { readonly plugin: FilePlugin; readonly ref: WeakRef<object> }[];
  /** Null where nothing serves, in a dry run and in a test of one plugin: failures are then seen as they are. */
  readonly containment: Containment | null;
  readonly faultMeter: FaultMeter;
}

/** The guards of a plugin's hooks at one place; null for plugins of the release, which are not contained. */
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

/** Whose hooks are contained: a plugin, or a handler that it brings. */
export type Blamed = Pick<Plugin, 'name' | 'handlers'> & {
  readonly source?: PluginSource | undefined;
  readonly kind?: string;
};

/** By which name faults are reported: one that brings handlers is known by theirs. */
function blamedFor({ name, source, handlers }: BlamedPlugin & Blamed): BlamedPlugin {
  return { name: handlers?.[0] ?? name, source };
}

/**
 * What a plugin attaches at a place, contained where it came from a file.
 * Code: PLUGIN_ATTACH.
 */
export function attachContained<A>(
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
    // From now on it is watched: where it does not come back, the watchdog tells the line.
    const bounded = () => (isProven(source) ? make() : runBounded(make, ATTACH_MS));
    const attached = guards ? watched(bounded, guards.of('attach')) : bounded();
    return guards && attached !== undefined ? (containedAttachment(attached as A & object, guards) as A) : attached;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const place = placeIn(new Set(source.files), stackOf(error)) ?? source.file;
    const reason = isTimeout(error) ? 'it did not return: it runs in an endless loop' : messageOf(error);
    throw new ConfigError('PLUGIN_ATTACH', pointer, `"${name}" cannot be attached: ${reason} (${place})`, {
      cause: error,
    });
  }
}

/** A plugin from a file may hold its site for longer than it should. */
export function noteSite<S extends object>(build: Contains, plugin: Plugin, site: S): S {
  if (plugin.source) build.sites.push({ plugin: plugin as FilePlugin, ref: new WeakRef(site) });
  return site;
}

/** What a handler attaches in the name of the plugin that brings it. Code: PLUGIN_ATTACH. */
export function attachHandler<A>(
  build: Contains,
  { source }: Blamed,
  { name, kind, pointer, endpoint }: HandlerPlace,
  attach: () => A,
): A {
  if (source) build.handlerUses.push({ name, source, pointer, endpoint });
  return attachContained(build, { name, source, kind }, pointer, endpoint, attach);
}

/** Whoever watches the event loop sees that it is attached. */
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
