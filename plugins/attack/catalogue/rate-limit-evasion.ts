import type { Attack, AttackedEndpoint, AttackRequest, AttackTarget, AuditedComponent, DataObject } from '#contract';
import { eachComponent } from '../each-component.ts';
import { isServed, withHeader } from '../requests.ts';

/** Components whose limit per client is in memory. */
const limits: ReadonlySet<string> = new Set(['qos/ratelimit/router', 'qos/ratelimit/service']);

/** Number of requests that the limit permits in the sandbox. */
const LIMIT = 3;

/** Headers by which proxies report the address of a client. */
const addressHeaders = [
  'X-Forwarded-For',
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Client-IP',
  'Client-IP',
];

export const rateLimitEvasion: Attack = {
  name: 'rate-limit-evasion',
  severity: 'MEDIUM',
  title: 'A client exceeds its rate limit by changing its address or key',
  description:
    'Lowers limits per client to 3 requests per hour, uses them up, and repeats the request with other addresses in X-Forwarded-For and similar headers, and with other values and other letter case of the header that identifies clients. A finding is a limit that a client exceeds by two requests.',
  isolated: true,
  stage: lower,
  applies: (endpoint) => limitOf(endpoint) !== undefined,
  async run(target) {
    const limit = limitOf(target)!;
    if (!(await exhaust(target))) return [];
    for (const change of changes(limit)) {
      const requests = [1, 2].map((number) => change(target.baseline, number));
      const [first, second] = [await target.send(requests[0]!), await target.send(requests[1]!)];
      if (!isServed(first) || !isServed(second)) continue;
      return [
        {
          shown: `After ${LIMIT} of ${LIMIT} permitted requests, the same client made two more.`,
          remedy:
            limit.settings['strategy'] === 'header'
              ? `Identify clients by a header that auth/validator or auth/api-keys sets, or add max_rate.`
              : 'List only your own proxies in trusted_proxies, and omit the key of the strategy "ip".',
          pointer: limit.pointer,
          requests,
        },
      ];
    }
    return [];
  },
};

function limitOf({ components }: Pick<AttackedEndpoint, 'components'>): AuditedComponent | undefined {
  return components.find(
    ({ namespace, level, settings: { client_max_rate: rate, strategy } }) =>
      limits.has(namespace) && level !== 'backend' && Number(rate) > 0 && strategy !== 'param',
  );
}

function lower(document: DataObject): void {
  eachComponent(document, limits, (settings) => {
    if (Number(settings['client_max_rate']) > 0) {
      Object.assign(settings, { client_max_rate: LIMIT, client_capacity: LIMIT, every: '1h' });
    }
  });
}

/** Sends requests until the limit rejects one. @returns false if the requests are not limited. */
async function exhaust({ baseline, send }: AttackTarget): Promise<boolean> {
  for (let sent = 0; sent < LIMIT; sent++) if (!isServed(await send(baseline))) return false;
  return !isServed(await send(baseline));
}

type Change = (request: AttackRequest, number: number) => AttackRequest;

function changes({ settings: { strategy, key } }: AuditedComponent): Change[] {
  const own = typeof key === 'string' && key !== '' ? [key] : [];
  const byAddress = [...addressHeaders, ...own].map(
    (name): Change =>
      (request, number) =>
        withHeader(request, name, `198.51.100.${number}`),
  );
  const forwarded: Change = (request, number) => withHeader(request, 'Forwarded', `for=198.51.100.${number}`);
  const byKey = strategy === 'header' ? own.flatMap(keyChanges) : [];
  return [...byAddress, forwarded, ...byKey];
}

function keyChanges(name: string): Change[] {
  const written = ({ headers }: AttackRequest) =>
    headers.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1] ?? 'a';
  return [
    (request, number) => withHeader(request, name, `attack-${number}`),
    (request, number) =>
      withHeader(request, name, number === 1 ? written(request).toUpperCase() : `${written(request)},`),
  ];
}
