import type { Attack, AttackTarget, AuditedComponent } from '#contract';
import { addHeader, headerOf } from '../requests.ts';

export const corsReflection: Attack = {
  name: 'cors-reflection',
  severity: 'HIGH',
  title: 'Web pages of other sites can read responses of users who are logged in',
  description:
    'Sends requests and preflights with foreign origins: another site, null, and names that begin or end like an allowed one. A finding is such an origin in Access-Control-Allow-Origin together with Access-Control-Allow-Credentials, or one that only resembles an allowed origin.',
  applies: (endpoint) => corsOf(endpoint) !== undefined,
  async run({ baseline, send, ...target }) {
    const { pointer, settings } = corsOf(target)!;
    const origins = Array.isArray(settings['allow_origins']) ? settings['allow_origins'].map(String) : [];
    const isForAll = origins.length === 0 || origins.includes('*');
    for (const origin of foreign(origins)) {
      const preflight = addHeader(
        { ...baseline, method: 'OPTIONS', body: undefined },
        'Access-Control-Request-Method',
        'GET',
      );
      for (const request of [addHeader(baseline, 'Origin', origin), addHeader(preflight, 'Origin', origin)]) {
        const response = await send(request);
        const isCredentials = headerOf(response, 'access-control-allow-credentials') === 'true';
        if (headerOf(response, 'access-control-allow-origin') !== origin || (isForAll && !isCredentials)) continue;
        return [
          {
            shown: `The response allows the origin ${origin}${isCredentials ? ' with credentials' : ''}.`,
            remedy:
              'List complete origins in allow_origins of security/cors, and wildcards for whole labels of a domain only.',
            pointer: `${pointer}/allow_origins`,
            severity: isCredentials ? 'HIGH' : 'MEDIUM',
            requests: [request],
          },
        ];
      }
    }
    return [];
  },
};

function corsOf({ components }: Pick<AttackTarget, 'components'>): AuditedComponent | undefined {
  const all = components.filter(({ namespace }) => namespace === 'security/cors');
  return all.find(({ level }) => level === 'endpoint') ?? all[0];
}

/** Origins that are not allowed, though they resemble the allowed ones. A wildcard permits any text in its place. */
function foreign(allowed: readonly string[]): Set<string> {
  const similar = allowed
    .filter((origin) => origin.includes('://') && !/\*$/.test(origin))
    .flatMap((origin) => {
      const [scheme, host = ''] = origin.split('://');
      const [, tail = host] = host.split('*');
      const whole = host.replace('*', 'www');
      return [`${scheme}://attacker${tail.replace(/^\./, '')}`, `${scheme}://${whole}.attacker.invalid`];
    });
  return new Set(['https://attacker.invalid', 'null', ...similar]);
}
