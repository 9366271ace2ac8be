import { getHeapStatistics } from 'node:v8';
import type { InternalErrorCounts } from '../containment/internal-errors.ts';
import type { FaultDelta } from '../containment/plugin-record.ts';
import type { GenerationInfo } from '../control/generations.ts';
import type { EndpointDelta } from '../pipeline/endpoint-traffic.ts';
import type { Asked } from '../runtime/config-build.ts';
import type { MirrorChange } from '../runtime/mirrors.ts';
import type { FileContent } from '../runtime/read-files.ts';

/** A configuration as it travels to a worker: what was read, never where from. */
export interface PrepareOrder {
  readonly revision: number;
  /** Name of the document: its ending tells how the text is written. */
  readonly file: string;
  readonly text: string;
  /** Contents of every other file, and of the folders of plugins, by absolute path. */
  readonly files: readonly (readonly [string, FileContent])[];
}

/** How the text of a configuration differs from that of another one. */
export interface TextChange {
  /** The revision of the other one. */
  readonly of: number;
  /** What stands there from here. */
  readonly start: number;
  /** To here. */
  readonly end: number;
  /** What stands in its place. */
  readonly text: string;
}

/** The same for a worker that serves another configuration: it has the text already, but for what has changed. */
export interface ChangeOrder extends Omit<PrepareOrder, 'text'> {
  readonly change: TextChange;
}

/** Code of a worker that lacks the text of which it is told the changes. */
export const TEXT_UNKNOWN = 'TEXT_UNKNOWN';

/** What a worker says when it was told to change over. */
export interface Committed {
  /** The one it serves now: another one than it was told when it had not got ready for that. */
  readonly revision: number;
  /** Addresses it opened in the place of others. */
  readonly rebound: readonly string[];
  /** Where it listens; null before it does. */
  readonly port: number | null;
}

/** What a worker is started with. */
export interface WorkerSettings {
  readonly port: number | null;
  readonly debug: boolean;
  /** As of `EngineOptions`. */
  readonly log: boolean;
  /** As of `Overrides`. */
  readonly plugins: string | null;
  /** Descriptor to which it reports what holds its event loop; null for none. */
  readonly reports?: number | null;
}

/** A question for the process that owns the shared values. */
export interface SharedQuestion {
  /** Of the configuration that asks, which need not be the one that serves. */
  readonly revision: number;
  readonly id: string;
  readonly asked: Asked;
}

/** A change of a value that every process has a copy of. */
export interface MirrorMessage {
  readonly id: string;
  readonly change: MirrorChange;
}

/** Something that a component in a worker tells. */
export interface WorkerEvent {
  readonly type: 'breaker.changed' | 'plugin.suspended' | 'internal.error';
  readonly data: object;
}

/** What a worker tells of itself every second. */
export interface Heartbeat extends MemoryUse {
  readonly revision: number;
  /** Requests since it started. */
  readonly requests: number;
  readonly calls: number;
  readonly streams: number;
  /** As of `Generations`. */
  readonly streamsByEndpoint: ReadonlyMap<string, number>;
  readonly held: readonly GenerationInfo[];
  /** Requests aborted because their configuration had been replaced for too long, since it started. */
  readonly aborted: number;
  /** Configurations that stay in memory though they were released. */
  readonly leaked: number;
  /** Lines that its logs have lost. */
  readonly lostLines: number;
  /** How late its timers are, in milliseconds. */
  readonly loopLagMs: number;
  /** Faults of plugins from files since the last heartbeat. */
  readonly faults: readonly FaultDelta[];
  /** Internal errors since the last heartbeat. */
  readonly internalErrors: InternalErrorCounts;
  /** Traffic since the last heartbeat, by endpoint. */
  readonly traffic: readonly (readonly [endpoint: string, delta: EndpointDelta])[];
}

/** Memory of a process, in bytes. */
export interface MemoryUse {
  /** All that is in the machine's memory. */
  readonly rssBytes: number;
  /** Objects of JavaScript, those not yet collected included. */
  readonly heapUsedBytes: number;
}

/** What this process uses now. */
export function memoryUse(): MemoryUse {
  return { rssBytes: process.memoryUsage.rss(), heapUsedBytes: getHeapStatistics().used_heap_size };
}
