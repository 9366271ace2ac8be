import type { Attack, AttackRequest } from '#contract';
import { addHeader, headerOf, pathOf, withHeader, without, withPath } from '../requests.ts';

const HOST = 'attacker.invalid';

export const openRedirect: Attack = {
  name: 'open-redirect',
  severity: 'MEDIUM',
  title: 'A redirect of the gateway leads to a host that the client chose',
  description:
    'Requests paths that the gateway redirects, with other hosts in the path, in Host and in X-Forwarded-Host, X-Forwarded-Prefix and Forwarded. A finding is a Location with that host.',
  applies: () => true,
  async run({ baseline, send }) {
    for (const request of requests(baseline)) {
      const location = headerOf(await send(request), 'location');
      if (location === undefined || !leadsAway(location)) continue;
      return [
        {
          shown: `The gateway redirected to ${location}.`,
          remedy:
            'List the host names of the gateway in allowed_hosts of security/http, and set ssl_host (sluice audit 8.2.6).',
          pointer: '/extra_config/security~1http',
          requests: [request],
        },
      ];
    }
    return [];
  },
};

function requests(baseline: AttackRequest): AttackRequest[] {
  const path = pathOf(baseline);
  const fixed = withPath(baseline, path.endsWith('/') ? path.slice(0, -1) : `${path}/`);
  const upper = withPath(baseline, path.toUpperCase());
  const plain = withHeader(without(baseline, 'X-Forwarded-Proto'), 'Host', HOST);
  return [
    withPath(baseline, `//${HOST}${path}`),
    withPath(baseline, `//${HOST}/..${path}/`),
    withPath(baseline, `/\\${HOST}${path}/`),
    withPath(baseline, `/%5c${HOST}/%2e%2e`),
    withPath(baseline, `${path}/%0d%0aLocation:https://${HOST}`),
    plain,
    ...[fixed, upper].flatMap((redirected) => [
      withHeader(redirected, 'Host', HOST),
      addHeader(redirected, 'X-Forwarded-Host', HOST),
      addHeader(redirected, 'X-Forwarded-Prefix', `//${HOST}`),
      addHeader(redirected, 'Forwarded', `host=${HOST}`),
    ]),
  ];
}

/** Whether a browser would leave the site for this Location. Browsers treat a backslash as a slash. */
function leadsAway(location: string): boolean {
  try {
    return new URL(location.replaceAll('\\', '/'), 'http://gateway.invalid').hostname === HOST;
  } catch {
    return false;
  }
}
