import { Call, defineSlot, type EndpointSite, type MessageHook, type Reply, type Slot } from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { listeningToUsage, reportsUsage } from '../../shared/ports/usage.ts';
import type { Use } from './quota-use.ts';
import type { QuotaUseConfig } from './schema.ts';
import { numberAt } from './weight.ts';

/** Usage of one stream. */
interface Metered {
  add(weight: number): void;
}

/** Counts the usage of stream messages as they pass. */
export interface Metering {
  readonly hook: { readonly message: MessageHook };
  /**
   * Starts counting one call.
   * @returns the call to continue with, and a function that reports whether a reply is a stream counted by its messages. A
   *   stream without countable messages counts as 1.
   */
  begin(use: Use, call: Call): { readonly call: Call; readonly opened: (reply: Reply) => boolean };
}

/** Creates the metering of one endpoint or backend; null if the stream has no messages, or their weight is not read. */
export function meteringOf(site: EndpointSite<QuotaUseConfig>): Metering | null {
  const { weight_key: key, weight_strategy: where } = site.config;
  if (key === undefined || where !== 'body') return null;
  if (!site.encoding(site.endpoint.output_encoding)?.messages && !site.take(reportsUsage)) return null;
  const path = key.split('.');
  const warn = limitedWarning(site.log, site.use('clock'));
  const slot: Slot<Metered> = defineSlot(`quota of a stream ${site.pointer}`);
  return {
    hook: {
      message(data, _request, call) {
        const weight = numberAt(data, path);
        if (weight !== null) call.get(slot)?.add(weight);
        return data;
      },
    },
    begin({ rule, caller }, call) {
      let isCounted = false;
      // Only one request to Redis runs at a time, regardless of how many messages pass during it.
      let waiting = 0;
      let isAdding = false;
      const add = async (): Promise<void> => {
        isAdding = true;
        while (waiting > 0) {
          const weight = waiting;
          waiting = 0;
          try {
            // The request uses a call of its own, so that usage counts even after the client has disconnected.
            await rule.add(caller, weight, new Call(site.log));
          } catch (error) {
            site.log.error(`[Quota] messages are not counted: ${(error as Error).message}`);
          }
        }
        isAdding = false;
      };
      const count = (weight: number): void => {
        isCounted = true;
        waiting += weight;
        if (!isAdding && waiting > 0) call.background(add());
      };
      const metered = listeningToUsage(call.with(slot, { add: count }), (added) => {
        const weight = numberAt({ usage: added }, path);
        if (weight !== null) count(weight);
      });
      const opened = (reply: Reply): boolean => {
        if (reply.failed || reply.status !== 200 || reply.body === null) return false;
        call.onEnd(() => {
          if (isCounted) return;
          warn(() => `[Quota] no message of the stream has a weight at "${key}": it counts as 1`);
          count(1);
        });
        return true;
      };
      return { call: metered, opened };
    },
  };
}
