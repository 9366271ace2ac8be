import { CallError, type Counter, HandlerError, toCallError } from '#contract';
import type { PluginPolicy } from '../contract/internal.ts';
import { numberOf } from './marks.ts';
import { PluginFault, PluginSuspended } from './plugin-fault.ts';
import type { PluginRecord } from './plugin-record.ts';

/** What was thrown inside a hook by what it wraps, and so is no fault of the hook. */
const ofOthers = new WeakSet<object>();

/** Something that a hook wraps has thrown this. */
export function noteOfOthers(error: unknown): void {
  if (typeof error === 'object' && error !== null) ofOthers.add(error);
}

/** Where a fault came up. */
export interface FaultSite {
  readonly record: PluginRecord;
  readonly hook: string;
  /** As in `GET /users`, or `the service`. */
  readonly endpoint: string;
}

/** Counts a fault, and tells of it; after so many in a row the plugin is suspended, after 0 never. */
export type CountFault = (site: FaultSite, error: unknown, suspendAfter: number) => void;

/** Counts the faults of every plugin, where somebody exports measurements. */
export interface FaultMeter {
  faults: Counter | null;
}

/** One hook of a plugin at one place: judges what it throws. */
export class HookGuard implements FaultSite {
  readonly record: PluginRecord;
  readonly hook: string;
  readonly endpoint: string;
  readonly skips: boolean;
  /** For `marks`. */
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

  /** What the hook threw, as the error of the call: what is not meant for the caller is counted as a fault. */
  judge(error: unknown): CallError {
    if (isExpected(error)) return toCallError(error);
    return isOfHandler(error) ? this.fault(error.cause ?? error, error) : this.fault(error);
  }

  /** Counts a fault of the hook. @param shown what the client is told. */
  fault(error: unknown, shown?: CallError): PluginFault {
    this.#count(this, error, this.#suspendAfter);
    this.#meter.faults?.add(1, { plugin: this.record.name, hook: this.hook });
    return new PluginFault(error, shown);
  }

  /** The hook did what it should: the faults before it are not in a row with those to come. */
  passed(): void {
    if (this.record.inRow !== 0) this.record.inRow = 0;
  }

  /** What the hook returned is not what it should. */
  wrongType(value: unknown, wanted: string): PluginFault {
    return this.fault(new TypeError(`returned ${nameOf(value)} where ${wanted} is wanted`));
  }

  get suspended(): PluginSuspended {
    return new PluginSuspended(this.record.name);
  }
}

/** An error of the call, or of what the hook wraps. Never throws, whatever was thrown. */
function isExpected(error: unknown): boolean {
  try {
    const isOfOthers = typeof error === 'object' && error !== null && ofOthers.has(error);
    if (isOfOthers) return true;
    return (error instanceof CallError && !(error instanceof HandlerError)) || isAbort(error);
  } catch {
    return false;
  }
}

/** Never throws, whatever was thrown. */
function isOfHandler(error: unknown): error is HandlerError {
  try {
    return error instanceof HandlerError;
  } catch {
    return false;
  }
}

/** Work was given up because the call was: the reason is among the causes. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError' && error.cause instanceof CallError;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : `a ${typeof value}`;
}
