import { hash } from 'node:crypto';
import type { Site } from '#contract';
import { CachedTools } from './cached-tools.ts';
import { type CallerState, Callers } from './callers.ts';
import { Conversation } from './conversation.ts';
import type { UpstreamConfig } from './schema.ts';

/** State of an upstream server for callers with the same forwarded headers. */
export interface State extends CallerState {
  /** The forwarded headers, as a flat list. */
  readonly forwarded: readonly string[];
  readonly conversation: Conversation;
  readonly list: CachedTools;
}

/** Sessions and tool lists of an upstream server, which outlive reloads that leave the server unchanged. */
export interface SharedState {
  readonly states: Callers<State>;
  /** Number of configurations that use the state. */
  holders: number;
}

/** @param headers headers of every request, as a flat list. */
export function sharedState(site: Site<unknown>, config: UpstreamConfig, headers: readonly string[]): SharedState {
  const { url, prefix, name, tools, list_ttl, max_tools, max_list_bytes, forward_headers } = config;
  const parts = [url, prefix, name, tools, list_ttl, max_tools, max_list_bytes, forward_headers, headers];
  const clock = site.use('clock');
  return site.keep(['upstream', hash('sha256', JSON.stringify(parts))], () => {
    const states: Callers<State> = new Callers(forward_headers, (forwarded) => {
      const list = new CachedTools(clock, list_ttl, () => states.trim());
      const conversation = new Conversation(() => list.expire());
      return {
        forwarded,
        conversation,
        list,
        get bytes() {
          return list.bytes;
        },
      };
    });
    return { states, holders: 0 };
  });
}
