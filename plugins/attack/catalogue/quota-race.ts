import type { Attack, AttackedEndpoint, AuditedComponent, DataObject } from '#contract';
import { eachComponent } from '../each-component.ts';
import { isServed } from '../requests.ts';

/** Components that limit a number of requests. */
const limiting: ReadonlySet<string> = new Set(['governance/quota', 'qos/ratelimit/router']);

/** Number of requests that limits permit in the sandbox, and number of parallel requests. */
const [LIMIT, PARALLEL] = [4, 12];

export const quotaRace: Attack = {
  name: 'quota-race',
  severity: 'HIGH',
  title: 'Parallel requests together exceed a quota',
  description:
    'Lowers quotas and rate limits in memory to 4, and sends 12 requests at the same time. A finding is an endpoint that serves more of them, or whose backend receives more calls, than the limit permits.',
  isolated: true,
  stage: lower,
  applies: (endpoint) => limitOf(endpoint) !== undefined,
  async run({ baseline, accepted, send, ...target }) {
    const responses = await Promise.all(Array.from({ length: PARALLEL }, () => send(baseline)));
    const served = responses.filter(isServed).length;
    const calls = responses.flatMap((response) => response.calls).length;
    const permitted = LIMIT * Math.max(1, accepted.calls.length);
    // A limit that rejects none of these requests does not apply to the baseline, for example because of the tier of
    // its caller.
    if (responses.every(isServed) || (served <= LIMIT && calls <= permitted)) return [];
    return [
      {
        shown: `Of ${PARALLEL} parallel requests, ${served} were served with ${calls} calls of backends; the limit permits ${LIMIT}.`,
        remedy: 'Remove the component that repeats calls or counts them late, such as weight_key without token_budget.',
        pointer: limitOf(target)!.pointer,
        requests: [baseline],
      },
    ];
  },
};

/** Limits with counters in memory; Redis cannot be reached from the sandbox. */
function limitOf({ components }: Pick<AttackedEndpoint, 'components'>): AuditedComponent | undefined {
  const quotas = components.find(({ namespace }) => namespace === 'governance/processors')?.settings['quotas'];
  const isInRedis = Array.isArray(quotas) && quotas.some((quota) => Object.hasOwn(quota as object, 'connection_name'));
  return components.find(({ namespace, level }) => {
    return limiting.has(namespace) && level === 'endpoint' && !(namespace === 'governance/quota' && isInRedis);
  });
}

function lower(document: DataObject): void {
  eachComponent(document, new Set(['qos/ratelimit/router']), (settings) => {
    for (const [rate, capacity] of [
      ['max_rate', 'capacity'],
      ['client_max_rate', 'client_capacity'],
    ] as const) {
      if (Number(settings[rate]) > 0) Object.assign(settings, { [rate]: LIMIT, [capacity]: LIMIT, every: '1h' });
    }
  });
  eachComponent(document, new Set(['governance/processors']), ({ quotas }) => lowerAmounts(quotas));
}

function lowerAmounts(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'amount') (value as DataObject)[key] = LIMIT;
    else lowerAmounts(member);
  }
}
