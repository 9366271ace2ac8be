import type { Attack, AttackRequest, AttackTarget, SandboxRequest, Weakness } from '#contract';
import { decodedPath, splitUrl } from '../paths.ts';
import { withPath } from '../requests.ts';

/** Values of a parameter that change the URL of a backend if they are inserted without encoding. */
const values = [
  '..%2f..%2fattack',
  '%2e%2e',
  '..%5cattack',
  '%252e%252e%252fattack',
  'x%3fattack=1',
  'x%26attack=1',
  'x%23',
  '%40attacker.invalid%2f',
  '%2f%2fattacker.invalid%2f',
  'http%3a%2f%2fattacker.invalid',
  'x%0d%0aX-Attack:%201',
  'x%20HTTP%2f1.1%0d%0aX-Attack:%201',
];

export const parameterInjection: Attack = {
  name: 'parameter-injection',
  severity: 'HIGH',
  title: 'A parameter of the client changes the URL of a backend beyond its place',
  description:
    'Inserts dot segments, separators of queries and fragments, other hosts and line breaks into every placeholder of the path, and into every query parameter that is forwarded. A finding is a request to another host or with another structure: other segments, another parameter, another header.',
  applies: ({ config }) =>
    config.backend.length > 0 && (/[{*]/.test(config.endpoint) || config.input_query_strings.length > 0),
  async run(target) {
    const [usual] = target.accepted.calls;
    if (!usual) return [];
    for (const [name, request] of injections(target)) {
      const { calls } = await target.send(request);
      for (const call of calls) {
        const shown = effect(call, target);
        if (shown) return [weakness(target, name, shown, request)];
      }
    }
    return [];
  },
};

/** Requests with the values in one parameter each. */
function injections({ config, baseline }: AttackTarget): [name: string, request: AttackRequest][] {
  const segments = config.endpoint.split('/');
  const places = segments.flatMap((segment, at) => (/^\{.*\}$|^\*$/.test(segment) ? [at] : []));
  const inPath = places.flatMap((place) =>
    values.map((value): [string, AttackRequest] => {
      const path = baseline.target.split('?')[0]!.split('/').with(place, value).join('/');
      return [segments[place]!, withPath(baseline, path)];
    }),
  );
  const queries = config.input_query_strings.map((name) => (name === '*' ? 'attack-name' : name));
  const inQuery = queries.flatMap((name) =>
    values.map((value): [string, AttackRequest] => {
      const mark = baseline.target.includes('?') ? '&' : '?';
      return [name, { ...baseline, target: `${baseline.target}${mark}${encodeURIComponent(name)}=${value}` }];
    }),
  );
  return [...inPath, ...inQuery];
}

/** Effect of a value on the request to a backend; null if the value stayed within its parameter. */
function effect(call: SandboxRequest, { config, accepted }: AttackTarget): string | null {
  const { origin, path, query } = splitUrl(call.url);
  const usual = accepted.calls.map(({ url }) => splitUrl(url));
  if (!usual.some((each) => each.origin === origin)) return `The gateway sent a request to ${origin}.`;
  if (call.headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'x-attack')) {
    return 'The backend received a header that the value contains.';
  }
  const hasDots = decodedPath(path).replaceAll('\\', '/').split('/').includes('..');
  const isLonger =
    !config.endpoint.endsWith('*') && !usual.some((each) => each.path.split('/').length === path.split('/').length);
  if (hasDots || isLonger) return `The backend received ${call.url}, whose path leaves the place of the parameter.`;
  const names = query.split('&').map((pair) => pair.split('=')[0]);
  if (names.includes('attack') || call.url.includes('#')) {
    return `The backend received ${call.url}, with a query that the value contains.`;
  }
  return null;
}

function weakness({ pointer }: AttackTarget, name: string, shown: string, request: AttackRequest): Weakness {
  return {
    shown,
    remedy: `Encode the value of ${name} where a component inserts it into the URL, or restrict it, for example with validation/cel.`,
    pointer: `${pointer}/backend/0/url_pattern`,
    severity: shown.startsWith('The gateway sent') ? 'CRITICAL' : 'HIGH',
    requests: [request],
  };
}
