import { CallError, type Counter, HandlerError, toCallError } from '#contract';
import type { PluginPolicy } from '../contract/internal.ts';
import { numberOf } from './marks.ts';
import { PluginFault, PluginSuspended } from './plugin-fault.ts';
import type { PluginRecord } from './plugin-record.ts';

/** Errors thrown by a step inside a hook, which are not faults of the hook itself. */
const ofOthers = new WeakSet<object>();

/** Marks an error as thrown by the step inside a hook. */
export function noteOfOthers(error: unknown): void {
  if (typeof error === 'object' && error !== null) ofOthers.add(error);
}

/** Origin of a fault. */
export interface FaultSite {
  readonly record: PluginRecord;
  readonly hook: string;
  /** Endpoint, as in `GET /users`, or `the service`. */
  readonly endpoint: string;
}

/** Counts and reports a fault. @param suspendAfter number of consecutive faults after which the plugin is suspended; 0 for never. */
export type CountFault = (site: FaultSite, error: unknown, suspendAfter: number) => void;

/** Counter of the faults of all plugins; null unless metrics are exported. */
export interface FaultMeter {
  faults: Counter | null;
}

/** Guard of one hook that a plugin has attached to an endpoint, a backend or the service: classifies its errors. */
export class HookGuard implements FaultSite {
  readonly record: PluginRecord;
  readonly hook: string;
  readonly endpoint: string;
  readonly skips: boolean;
  /** Number that identifies the hook in the memory that the event loop watchdog reads. */
  readonly number: number;
  readonly #count: CountFault;
  readonly #suspendAfter: number;
  readonly #meter: FaultMeter;

  constructor(count: CountFault, site: FaultSite, policy: PluginPolicy, meter: FaultMeter) {
    const { record, hook, endpoint } = site;
    this.record = record;
    this.hook = hook;
    this.endpoint = endpoint;
    this.skips = policy.skips;
    this.number = numberOf({ plugin: record.name, hash: record.hash, hook, endpoint });
    this.#count = count;
    this.#suspendAfter = policy.suspendAfter;
    this.#meter = meter;
  }

  /** Converts an error of the hook into the call's error; errors that are not meant for the caller count as faults. */
  judge(error: unknown): CallError {
    if (isExpected(error)) return toCallError(error);
    return isOfHandler(error) ? this.fault(error.cause ?? error, error) : this.fault(error);
  }

  /** Counts a fault of the hook. @param shown error to show to the client. */
  fault(error: unknown, shown?: CallError): PluginFault {
    this.#count(this, error, this.#suspendAfter);
    this.#meter.faults?.add(1, { plugin: this.record.name, hook: this.hook });
    return new PluginFault(error, shown);
  }

  /** Resets the count of consecutive faults after the hook has succeeded. */
  passed(): void {
    if (this.record.inRow !== 0) this.record.inRow = 0;
  }

  /** Counts a fault for a return value of the wrong type. */
  wrongType(value: unknown, wanted: string): PluginFault {
    return this.fault(new TypeError(`returned ${nameOf(value)} instead of ${wanted}`));
  }

  get suspended(): PluginSuspended {
    return new PluginSuspended(this.record.name);
  }
}

/** True for an error of the call or of the wrapped step. Never throws, whatever `error` is. */
function isExpected(error: unknown): boolean {
  try {
    const isOfOthers = typeof error === 'object' && error !== null && ofOthers.has(error);
    if (isOfOthers) return true;
    return (error instanceof CallError && !(error instanceof HandlerError)) || isAbort(error);
  } catch {
    return false;
  }
}

/** Never throws, whatever `error` is. */
function isOfHandler(error: unknown): error is HandlerError {
  try {
    return error instanceof HandlerError;
  } catch {
    return false;
  }
}

/** True for an AbortError that the cancellation of the call caused. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError' && error.cause instanceof CallError;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : `a ${typeof value}`;
}
