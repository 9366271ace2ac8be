import {
  ByteStream,
  Call,
  type CallError,
  type ClientRequest,
  meterOf,
  type PipeRequest,
  Reply,
  type Site,
  type Step,
  toCallError,
} from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { listeningToModels, outputLimit } from '../../shared/ports/model-usage.ts';
import { type Quota, type Reservation, reservations, type Verdict } from '../../shared/ports/quotas.ts';
import type { Budget, Plan } from './budget.ts';
import { isMade, type Use } from './quota-use.ts';
import type { QuotaUseConfig } from './schema.ts';

/** Responses of the quota, which differ between the service, endpoints and backends. */
export interface BudgetReplies {
  refused(error: CallError): Reply;
  /** Rejects a request whose reservation does not fit. */
  full(verdict: Verdict): Reply;
  withAllowances(reply: Reply, verdict: Verdict): Reply;
}

type Requests = ClientRequest | PipeRequest;

/** Reserves tokens for each request, and replaces the reservation with the usage that the models report. */
export function spending<R extends Requests>(
  site: Site<QuotaUseConfig>,
  quota: Quota,
  budget: Budget,
  replies: BudgetReplies,
): (use: Use, next: Step<R>, request: R, call: Call) => Promise<Reply> {
  const reserving = site.take(reservations);
  const reserved = meterOf(site)?.counter('ai.budget.reservations', {
    description: 'Number of requests with a token budget.',
  });
  const labels = (result: 'accepted' | 'rejected') => ({ quota: site.config.quota_name, result });
  const [accepted, rejected] = [labels('accepted'), labels('rejected')];
  const warn = limitedWarning(site.log, site.use('clock'));
  const settle = async (reservation: Reservation, used: number): Promise<Verdict> => {
    try {
      // The final count uses a call of its own, so that usage counts even after the client has disconnected.
      return await reservation.settle(used, new Call(site.log));
    } catch (error) {
      site.log.error(
        `[Quota] the usage of a request could not be counted, so the reserved amount counts in full: ${(error as Error).message}`,
      );
      return reservation.verdict;
    }
  };

  /** Counts usage that is reported after the reservation was replaced, such as that of an abandoned attempt. */
  const addLate = async ({ rule, caller }: Use, weight: number): Promise<void> => {
    try {
      await rule.add(caller, weight, new Call(site.log));
    } catch (error) {
      site.log.error(`[Quota] the usage of an abandoned call is not counted: ${(error as Error).message}`);
    }
  };

  return async (use, next, request, call) => {
    let plan: Plan;
    let reservation: Reservation;
    try {
      plan = budget.plan((await request.body?.bytesToParse()) ?? null);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
    try {
      reservation = await reserving!.get(use.rule)!(use.caller, plan.weight, call);
    } catch (error) {
      const reply = quota.settle(error);
      return reply ? replies.refused(error as CallError) : next(request, call);
    }
    const { verdict } = reservation;
    reserved?.add(1, verdict.retrySeconds === null ? accepted : rejected);
    if (verdict.retrySeconds !== null) return replies.full(verdict);
    let used: number | null = null;
    let isSettled = false;
    const metered = listeningToModels(call.with(outputLimit, plan.output), (usage) => {
      const weight = usage === null ? plan.weight : budget.weightOf(usage);
      if (isSettled) call.background(addLate(use, weight));
      else used = (used ?? 0) + weight;
    });
    let reply: Reply;
    try {
      reply = await next(request, metered);
    } catch (error) {
      isSettled = true;
      call.background(settle(reservation, used ?? 0));
      throw error;
    }
    if (reply.body instanceof ByteStream && isMade(reply)) {
      call.onEnd(() => {
        // The end of the stream reports its usage in the same turn as the end of the call, so the final count waits for
        // one more turn of the event loop.
        const later = async (): Promise<void> => {
          await new Promise(setImmediate);
          isSettled = true;
          if (used === null) unreported();
          else await settle(reservation, used);
        };
        call.background(later());
      });
      return replies.withAllowances(reply, verdict);
    }
    isSettled = true;
    if (used !== null) return replies.withAllowances(reply, await settle(reservation, used));
    if (isMade(reply)) {
      unreported();
      return replies.withAllowances(reply, verdict);
    }
    call.background(settle(reservation, 0));
    return reply;
  };

  function unreported(): void {
    warn(() => '[Quota] a response without token usage counts as much as was reserved');
  }
}
