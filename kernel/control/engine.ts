import type { Catalogue, Events, ListenAddress, LogSinks, Role, Services } from '#contract';
import { maskStored } from '../config/index.ts';
import { Containment } from '../containment/containment.ts';
import { InternalErrors } from '../containment/internal-errors.ts';
import { DeniedAddresses } from '../contract/internal.ts';
import { type ApplicationLog, createLog, createSinks, joinLogging } from '../logging/index.ts';
import { outliveClientStreams } from '../net/outlive-streams.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { Registry } from '../registry/registry.ts';
import type { Ask } from '../runtime/build/config-build.ts';
import { Mirrors } from '../runtime/kept/mirrors.ts';
import { RefCountedCache } from '../runtime/kept/ref-counted-cache.ts';
import { version } from '../version.ts';
import { DescriptorWatch } from './descriptor-watch.ts';
import { Generations } from './generations.ts';
import { Observers } from './observation/observers.ts';

/** The parts of a process that builds configurations. */
export interface Engine {
  readonly log: ApplicationLog;
  readonly registry: Registry;
  readonly generations: Generations;
  readonly mirrors: Mirrors;
  readonly observers: Observers;
  readonly containment: Containment;
  readonly internalErrors: InternalErrors;
  /** Addresses that no connection of this process may reach. */
  readonly denied: DeniedAddresses;
  /** Stops observing requests, and watching descriptors, writes pending log lines, and releases standard output unless `sinks` were given. */
  close(): void;
}

export interface EngineOptions {
  /** Write DEBUG lines if no component sets the log level. Default: INFO and above. */
  readonly debug?: boolean | undefined;
  /**
   * Write the application and access log if no component of the configuration sets them. Default: false for
   * `createGateway` without `sinks`, true otherwise.
   */
  readonly log?: boolean | undefined;
  /** Destinations of the logs. Default: the process's standard output and error. */
  readonly sinks?: LogSinks | undefined;
  /** Replaces services of the kernel, such as the clock. */
  readonly services?: Partial<Services> | undefined;
  /** Addresses that no connection may reach, from the start. Default: none. */
  readonly denied?: readonly ListenAddress[] | undefined;
  /** Receives the events of components. */
  readonly events: Events;
  /** Role of the process. Default: the process both decides on changes and serves. */
  readonly role?: Role;
  /** Sends requests to the process that owns the shared values; only for processes that do not own them. */
  readonly ask?: Ask | undefined;
  /** File descriptor for reports of blocking plugins to the parent process; null without one. */
  readonly reports?: number | null | undefined;
}

/** Sets up the log, the registry and the generations of a process; no generation serves yet. */
export function openEngine(catalogue: Catalogue, options: EngineOptions): Engine {
  const { debug, ask, events, reports, services, role = 'alone' } = options;
  outliveClientStreams();
  const ownSinks = options.sinks ? null : createSinks();
  const sinks = options.sinks ?? ownSinks!;
  const defaultLogging = { level: debug ? 'DEBUG' : 'INFO', silent: options.log === false } as const;
  const log = createLog(joinLogging([], sinks, defaultLogging).application, maskStored);
  const denied = new DeniedAddresses();
  denied.replace(options.denied ?? []);
  const readiness = { isDraining: false };
  const registry = new Registry(catalogue, {
    clock: { now: () => performance.now() },
    log,
    sinks,
    events,
    patterns: createPatterns(),
    version,
    sandbox: null,
    ...services,
    denied,
    readiness,
  } as Services);
  const cache = new RefCountedCache();
  const mirrors = new Mirrors();
  const containment = new Containment({ log, events, reports });
  const internalErrors = new InternalErrors({ log, events, now: () => performance.now() });
  const descriptors = new DescriptorWatch({ log, now: () => performance.now() });
  const own = { log, sinks, version, defaultLogging, ask, readiness };
  const generations = new Generations({ registry, cache, mirrors, role, containment, ...own });
  const observers = new Observers(() => generations.current.runtime.compiled);
  return {
    log,
    registry,
    generations,
    mirrors,
    observers,
    denied,
    containment,
    internalErrors,
    close() {
      observers.close();
      descriptors.close();
      ownSinks?.close();
    },
  };
}
