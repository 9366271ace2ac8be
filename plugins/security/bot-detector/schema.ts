import type { Infer, Schema } from '#contract';

// Fields have no default, because at least one of them must be set.
const agents = (description: string, example: string) =>
  ({ type: 'array', items: { type: 'string' }, description, examples: [[example]] }) as const;

export const schema = {
  type: 'object',
  title: 'Bot detector',
  minProperties: 1,
  examples: [
    {
      allow: ['Pingdom.com_bot_version_1.1'],
      deny: ['a', 'b'],
      patterns: ['(Pingdom.com_bot_version_).*', '(?i)facebookexternalhit/'],
      cache_size: 10_000,
      empty_user_agent_is_bot: true,
    },
  ],
  properties: {
    allow: agents(
      'User agents that are always accepted: the complete text, case-sensitive.',
      'Pingdom.com_bot_version_1.1',
    ),
    deny: agents('User agents to reject: the complete text, case-sensitive.', 'curl/8.1'),
    patterns: agents(
      'Regular expressions (RE2) of user agents to reject. They match anywhere: `curl` matches `curl/8.1`.',
      '(?i)(bot|crawler)',
    ),
    cache_size: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Number of user agents whose match result is cached per worker. 0 disables the cache. Each entry takes 24 bytes, allocated at startup, and the text of the user agent, up to 1024 characters. Default: 0.',
      examples: [10_000],
    },
    empty_user_agent_is_bot: {
      type: 'boolean',
      description: 'Rejects requests without a user agent. Default: false.',
    },
  },
} as const satisfies Schema;

export type BotDetectorConfig = Infer<typeof schema>;

/** Rules of a configuration, including those that are not set. */
export type BotRules = Required<BotDetectorConfig>;

export function rulesOf(config: BotDetectorConfig): BotRules {
  return { allow: [], deny: [], patterns: [], cache_size: 0, empty_user_agent_is_bot: false, ...config };
}
