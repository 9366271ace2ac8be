import { hash } from 'node:crypto';
import type { Call } from '#contract';
import { RedisError } from '../../clients/redis/redis-error.ts';
import type { QuotaRule, Reserve, Verdict } from '../../shared/ports/quotas.ts';
import { windowOf } from '../quota/windows.ts';
import type { Counters } from './memory.ts';
import type { Outage } from './outage.ts';
import type { RefusedCallers } from './refused-callers.ts';
import type { LimitConfig } from './schema.ts';
import { countUse } from './use-script.ts';

/** Time for which a counter is kept beyond its window, in milliseconds, because the clocks of gateways differ. */
const MARGIN_MS = 3_600_000;

/** Maximum length of a caller's name, in bytes; longer names are stored as a digest. */
const MAX_CALLER_BYTES = 64;

/** Dependencies shared by the rules of a quota. */
export interface RuleSurroundings {
  readonly quota: string;
  readonly connection: Counters;
  readonly hashes: boolean;
  readonly outage: Outage;
  readonly refused: RefusedCallers<Verdict> | null;
  /** Monotonic clock, in milliseconds. */
  readonly clock: { now(): number };
}

/** A rule, and its reservations. */
export interface CountingRule {
  readonly rule: QuotaRule;
  readonly reserve: Reserve;
}

/** Counters of a rule: one per caller and window, all in one hash slot. The windows follow this gateway's clock. */
export function countingRule(name: string, limits: readonly LimitConfig[], around: RuleSurroundings): CountingRule {
  const { quota, connection, hashes, outage, refused, clock } = around;
  const place = `${keyPart(quota)} ${keyPart(name)}`;

  const count = async (
    kind: 'take' | 'look' | 'add' | 'settle',
    weight: number,
    caller: string,
    call: Call,
    { now, remembers, reserved }: Moment = { now: Date.now(), remembers: true },
  ): Promise<Verdict> => {
    const tag = `{${place} ${callerPart(caller, hashes)}}`;
    const known = kind === 'add' || !remembers ? undefined : refused?.find(tag, now);
    if (known) return { ...known.value, retrySeconds: secondsUntil(known.until, now) };
    if (!outage.mayTry(clock.now())) throw new RedisError(connection.name, 'is not used until the next retry');
    const windows = limits.map(({ unit }) => windowOf(unit, now));
    const keys = limits.map(({ unit }, index) => `sluice:quota:${tag}:${unit}:${windows[index]!.start / 1000}`);
    const args = limits.flatMap(({ amount }, index) => [String(amount), String(windows[index]!.end - now + MARGIN_MS)]);
    const replaced = reserved === undefined ? [] : [String(reserved)];
    let response: readonly [number, ...string[]];
    try {
      response = (await connection.run(
        countUse,
        keys,
        [kind, String(weight), ...args, ...replaced],
        call,
      )) as typeof response;
    } catch (error) {
      if (error instanceof RedisError && !error.isOutage) outage.abandoned(clock.now());
      else outage.failed(clock.now());
      throw error;
    }
    outage.succeeded();
    const [allowed, ...used] = response;
    const allowances = limits.map(({ unit, amount }, index) => ({
      unit,
      amount,
      remaining: Math.max(0, amount - Number(used[index])),
    }));
    if (allowed === 1) return { retrySeconds: null, allowances };
    const least = Math.max(weight, Number.MIN_VALUE);
    let until = now;
    for (const [index, { end }] of windows.entries()) {
      if (allowances[index]!.remaining < least) until = Math.max(until, end);
    }
    const verdict = { retrySeconds: secondsUntil(until, now), allowances };
    if (remembers) refused?.add(tag, now, until, verdict);
    return verdict;
  };
  const rule: QuotaRule = {
    take: (caller, call) => count('take', 1, caller, call),
    look: (caller, call) => count('look', 0, caller, call),
    add: (caller, weight, call) => count('add', weight, caller, call),
  };
  const reserve: Reserve = async (caller, weight, call) => {
    // The actual usage of a reservation is counted in the windows in which it was made. Rejected reservations are not
    // remembered, because other requests may use less than they have reserved.
    const moment = { now: Date.now(), remembers: false };
    const verdict = await count('take', weight, caller, call, moment);
    const settled = { ...moment, reserved: weight };
    return { verdict, settle: (used, settling) => count('settle', used, caller, settling, settled) };
  };
  return { rule, reserve };
}

/** Time at which a use is counted, and whether a rejection is remembered. */
interface Moment {
  readonly now: number;
  readonly remembers: boolean;
  /** Amount that was reserved, and that the actual amount replaces. */
  readonly reserved?: number;
}

function secondsUntil(end: number, now: number): number {
  return Math.max(1, Math.ceil((end - now) / 1000));
}

function keyPart(text: string): string {
  return text.replace(/[%{} ]/g, encodeURIComponent);
}

function callerPart(caller: string, hashes: boolean): string {
  const isLong = Buffer.byteLength(caller) > MAX_CALLER_BYTES;
  return hashes || isLong ? hash('sha256', caller, 'base64url') : keyPart(caller);
}
