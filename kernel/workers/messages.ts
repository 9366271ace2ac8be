import { getHeapStatistics } from 'node:v8';
import type { LogLevel } from '#contract';
import type { InternalErrorCounts } from '../containment/internal-errors.ts';
import type { FaultDelta } from '../containment/plugin-record.ts';
import type { GenerationInfo } from '../control/generations.ts';
import type { EndpointDelta } from '../pipeline/traffic/endpoint-traffic.ts';
import type { Question } from '../runtime/build/config-build.ts';
import type { MirrorChange } from '../runtime/kept/mirrors.ts';
import type { FileContent } from '../runtime/prints/read-files.ts';

/** A configuration as sent to a worker: its content, without the source. */
export interface PrepareOrder {
  readonly revision: number;
  /** Name of the document: its extension determines the format of the text. */
  readonly file: string;
  readonly text: string;
  /** Contents of every other file, and of the folders of plugins, by absolute path. */
  readonly files: readonly (readonly [string, FileContent])[];
  /** Values of the references to secrets, by their ids; sent in memory only. */
  readonly secrets: readonly (readonly [string, string])[];
}

/** The difference between the texts of two configurations. */
export interface TextChange {
  /** Revision of the base text. */
  readonly of: number;
  /** Start of the replaced range. */
  readonly start: number;
  /** End of the replaced range. */
  readonly end: number;
  /** New text of the range. */
  readonly text: string;
}

/**
 * An order for a worker that serves another configuration. It contains only the changes, because the worker already has
 * the other text.
 */
export interface ChangeOrder extends Omit<PrepareOrder, 'text'> {
  readonly change: TextChange;
}

/** Error code of a worker that lacks the base text of the changes. */
export const TEXT_UNKNOWN = 'TEXT_UNKNOWN';

/** Response of a worker to a commit. */
export interface Committed {
  /** The revision that it serves now: differs from the committed one if the worker had not prepared the committed one. */
  readonly revision: number;
  /** Addresses that the worker opened in place of others. */
  readonly rebound: readonly string[];
  /** Listening port; null before the worker listens. */
  readonly port: number | null;
}

/** Startup settings of a worker. */
export interface WorkerSettings {
  readonly port: number | null;
  readonly debug: boolean;
  /** Whether to write the application and access log if no component of the configuration sets them. */
  readonly log: boolean;
  /** A folder with plugins, in addition to the configuration's; null for none. */
  readonly plugins: string | null;
  /** Descriptor for reporting the plugin that blocks the worker's event loop; null for none. */
  readonly reports?: number | null;
}

/** Orders to a worker without a response. */
export interface Orders {
  /** Whether connections are closed after their responses. */
  readonly closing: boolean;
  /** Lowest level that the worker logs, until its next configuration. */
  readonly level: LogLevel;
  /** Fraction of the safe requests to sample; null ends sampling. */
  readonly sample: number | null;
  /** Endpoint that is no longer observed. */
  readonly unobserve: string;
}

/** A request to the process that owns the shared values. */
export interface SharedQuestion {
  /** Revision of the requesting configuration, which may differ from the serving one. */
  readonly revision: number;
  readonly id: string;
  readonly question: Question;
}

/** A change of a value that every process has a copy of. */
export interface MirrorMessage {
  readonly id: string;
  readonly change: MirrorChange;
}

/** An event of a component in a worker. */
export interface WorkerEvent {
  readonly type: 'breaker.changed' | 'plugin.suspended' | 'internal.error';
  readonly data: object;
}

/** The status that a worker sends every second. */
export interface Heartbeat extends ResourceUse {
  readonly revision: number;
  /** Number of requests since the worker started. */
  readonly requests: number;
  readonly calls: number;
  readonly streams: number;
  /** Number of open connections of clients. */
  readonly connections: number;
  /** Active streams by endpoint. */
  readonly streamsByEndpoint: ReadonlyMap<string, number>;
  readonly held: readonly GenerationInfo[];
  /** Requests aborted because their configuration had been replaced for too long, since it started. */
  readonly aborted: number;
  /** Connections closed for a missing or malformed PROXY protocol header, since it started. */
  readonly headerFaults: number;
  /** Configurations that were released but stay in memory. */
  readonly leaked: number;
  /** Number of log lines lost. */
  readonly lostLines: number;
  /** Delay of the worker's timers, in milliseconds. */
  readonly loopLagMs: number;
  /** Faults of plugins from files since the last heartbeat. */
  readonly faults: readonly FaultDelta[];
  /** Internal errors since the last heartbeat. */
  readonly internalErrors: InternalErrorCounts;
  /** Traffic since the last heartbeat, by endpoint. */
  readonly traffic: readonly (readonly [endpoint: string, delta: EndpointDelta])[];
}

/** Resources that a process uses. */
export interface ResourceUse {
  /** Resident set size, in bytes. */
  readonly rssBytes: number;
  /** Size of JavaScript objects, including those not yet collected, in bytes. */
  readonly heapUsedBytes: number;
  /** Processor time since the process started, of all its threads, in milliseconds. */
  readonly cpuMs: number;
}

/** Resources that this process uses now. */
export function resourceUse(): ResourceUse {
  const { user, system } = process.cpuUsage();
  return {
    rssBytes: process.memoryUsage.rss(),
    heapUsedBytes: getHeapStatistics().used_heap_size,
    cpuMs: Math.round((user + system) / 1000),
  };
}
