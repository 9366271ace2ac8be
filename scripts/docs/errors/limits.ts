import type { Codes } from './codes.ts';

/** Error codes of limits, quotas, caches, circuit breakers and Redis. */
export const limitErrors: Codes = {
  CACHE_LIMITS: ['Only one of the two limits of the cache is set.', 'Set both limits, or none.'],
  CACHE_WITHOUT_EFFECT: [
    'The responses are never cached, because they are not HTTP, are streamed, or belong to other methods than GET and HEAD.',
    'Remove `qos/http-cache`.',
  ],
  CIRCUIT_BUSY: [
    'The half-open breaker accepts only one trial request at a time.',
    'None; the breaker closes when the backend recovers.',
  ],
  CIRCUIT_OFF: [
    'The breaker is disabled, because all of its numbers are 0.',
    'Set `interval`, `timeout` and `max_errors`.',
  ],
  CIRCUIT_OPEN: [
    'The circuit breaker is open and rejects the backend calls, because the backend failed too often.',
    'Find out why the backend fails. It is tried again after `timeout`.',
  ],
  CIRCUIT_TWICE: ['A backend has both kinds of breaker.', 'Remove one of the two.'],
  QUOTA_BUDGET: [
    'The token budget is combined with `weight_key`, or counts costs without a price.',
    'Make the change that the hint proposes.',
  ],
  QUOTA_CALLER: [
    'The caller cannot be identified. The client gets 400.',
    'Send the header or path parameter that identifies the caller.',
  ],
  QUOTA_CALLERS: [
    'The cache of rejected callers is larger than its limit.',
    'Lower `N`, or accept that the earliest callers are checked in Redis again.',
  ],
  QUOTA_EXCEEDED: [
    'The caller has used up the quota. The client gets 429.',
    'Wait for the next period, or raise the limit.',
  ],
  QUOTA_KEY: [
    'The `key` of the quota, which identifies callers, is not valid.',
    'Name a header or path parameter that requests have.',
  ],
  QUOTA_LIMITS: ['A rule has two limits for one unit.', 'Remove one of them.'],
  QUOTA_NAME: ['A name is used twice.', 'Use different names.'],
  QUOTA_RULE: ['The quota has no rule of this name.', 'Correct the name.'],
  QUOTA_TIER: ['No tier matches the caller. The client gets 400.', 'Add a tier that matches all other callers.'],
  QUOTA_UNKNOWN: ['The root declares no quota of this name.', 'Declare the quota in `governance/processors`.'],
  RATELIMIT_ALL: [
    'The rate limit for all clients together is exceeded. The client gets 503.',
    'Raise `max_rate`, or reduce the request rate of the clients.',
  ],
  RATELIMIT_BACKEND: ['The rate limit of a backend is exceeded.', 'Raise `max_rate` of `qos/ratelimit/proxy`.'],
  RATELIMIT_CLIENT: [
    'The rate limit per client is exceeded. The client gets 429.',
    'Wait for `Retry-After`, or raise `client_max_rate`.',
  ],
  RATELIMIT_EVERY: ['The period is too short.', 'Write the rate for `"1s"` or longer.'],
  RATELIMIT_KEY: ['The `key` does not match the strategy.', 'Name a header or path parameter that requests have.'],
  RATELIMIT_OFF: ['A rate of 0 disables the limit.', 'Set a rate above 0, or remove the component.'],
  RATELIMIT_RATE: ['Neither rate is set.', 'Set `max_rate` or `client_max_rate`.'],
  RATELIMIT_STRATEGY: ['The strategy is unknown.', 'Use one of the strategies that the hint lists.'],
  RATELIMIT_UNUSED: ['A setting has no effect without another one.', 'Add the other setting, or remove this one.'],
  REDIS_ADDRESS: ['The address of a Redis connection is not valid.', 'Write the address as `host:6379`.'],
  REDIS_CONNECTION: ['The root declares no Redis connection of this name.', 'Declare the connection in `redis`.'],
  REDIS_DURATION: ['A duration must be above 0.', 'Write a duration such as `"1s"`.'],
  REDIS_FAILED: [
    'A Redis command failed or took too long.',
    'Check the server, `command_timeout` and the credentials.',
  ],
  REDIS_NAME: ['Two connections have the same name.', 'Use different names.'],
  REDIS_RATELIMIT_FORM: [
    'The settings of the old plugin are not valid.',
    'Correct the configuration as the message says, or use `qos/ratelimit/router/redis`.',
  ],
  REDIS_UNUSED: ['No connection is declared.', 'Declare a connection, or remove `redis`.'],
  TIER_HIDDEN: [
    'A tier is never used, because an earlier tier matches the same callers.',
    'Change the order of the tiers.',
  ],
  TIER_KEY: ['`tier_key` is not a valid header name.', 'Correct the name.'],
  TIER_LIMIT: ['A tier has both `ratelimit` and `ratelimit_redis`.', 'Remove one of them.'],
};
