import { LRUCache } from 'lru-cache';
import { type DataObject, type Pattern, PatternLimit, type Site } from '#contract';
import { type BotDetectorConfig, type BotRules, rulesOf } from './schema.ts';

/** Detects a bot by its user agent; empty when the header is missing. */
export type IsBot = (agent: string) => boolean;

/** Maximum length of a user agent whose result is cached. */
const MAX_REMEMBERED_LENGTH = 1024;

/**
 * Compiles the rules. Allowed agents are accepted regardless of the other rules; after that, denied agents and those
 * that match a pattern are bots. Results of patterns are kept across reloads that do not change the rules.
 * @param place of the detector, for its cache. Warnings: BOT_OFF, BOT_UNUSED.
 * @throws ConfigError PATTERN_INVALID.
 */
export function createDetector(site: Site<BotDetectorConfig>, place: DataObject): IsBot {
  const rules = rulesOf(site.config);
  const { allow, deny, cache_size: size, empty_user_agent_is_bot: isEmptyBot } = rules;
  const patterns = rules.patterns.map((source, index) => site.pattern(source, `/patterns/${index}`));
  warnOfUnused(site, rules);
  const allowed = new Set(allow);
  const denied = new Set(deny);
  const matches = patterns.length > 0 && size > 0 ? remembering(site, patterns, size, place) : matcher(patterns);
  return (agent) => {
    if (agent === '') return isEmptyBot;
    if (allowed.has(agent)) return false;
    return denied.has(agent) || matches(agent);
  };
}

/** A user agent that is too long for pattern matching is not from a browser. */
function matcher(patterns: readonly Pattern[]): IsBot {
  return (agent) => {
    try {
      return patterns.some((pattern) => pattern.test(agent));
    } catch (error) {
      if (error instanceof PatternLimit) return true;
      throw error;
    }
  };
}

function remembering(site: Site<unknown>, patterns: readonly Pattern[], max: number, place: DataObject): IsBot {
  const sources = patterns.map(({ source }) => source);
  const known = site.keep({ ...place, sources, max }, () => new LRUCache<string, boolean>({ max }));
  const matches = matcher(patterns);
  return (agent) => {
    if (agent.length > MAX_REMEMBERED_LENGTH) return matches(agent);
    const remembered = known.get(agent);
    if (remembered !== undefined) return remembered;
    const isBot = matches(agent);
    known.set(agent, isBot);
    return isBot;
  };
}

/** Warns of rules that never reject a request. */
function warnOfUnused(site: Site<unknown>, rules: BotRules): void {
  const { allow, deny, patterns, cache_size: size, empty_user_agent_is_bot: isEmptyBot } = rules;
  if (deny.length + patterns.length === 0 && !isEmptyBot) {
    site.warn('BOT_OFF', '', 'no request is rejected: deny and patterns are both missing', {
      hint: 'list user agents to reject in patterns, for example "(?i)bot"',
    });
    return;
  }
  if (size > 0 && patterns.length === 0) {
    site.warn('BOT_UNUSED', '/cache_size', 'cache_size has no effect without patterns');
  }
  for (const [index, agent] of deny.entries()) {
    if (allow.includes(agent))
      site.warn('BOT_UNUSED', `/deny/${index}`, `"${agent}" is also listed in allow, which takes precedence`);
  }
  for (const field of ['allow', 'deny'] as const) {
    const index = rules[field].indexOf('');
    if (index < 0) continue;
    site.warn('BOT_UNUSED', `/${field}/${index}`, 'an empty user agent is only subject to empty_user_agent_is_bot');
  }
}
