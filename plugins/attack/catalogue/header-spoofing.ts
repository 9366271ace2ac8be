import type { Attack, AttackedEndpoint, AttackTarget, Weakness } from '#contract';
import { type IdentityHeader, identityHeaders, ownHeaders } from '../identity-headers.ts';
import { received, withHeader } from '../requests.ts';

export const headerSpoofing: Attack = {
  name: 'header-spoofing',
  severity: 'HIGH',
  title: 'A client can set a header that backends trust because the gateway sets it',
  description:
    'Sends every header that a component sets, such as those of propagate_claims, propagate_role and request_id, with a value of the client, also with underscores, to the endpoint itself and to endpoints with the same backend. A finding is the value of the client at the backend.',
  applies: () => true,
  async run(target) {
    const weaknesses: Weakness[] = [];
    for (const header of [...identityHeaders(target), ...ownHeaders(target.service), ...neighborHeaders(target)]) {
      const weakness = await spoof(target, header);
      if (weakness) weaknesses.push(weakness);
    }
    return weaknesses;
  },
};

async function spoof(target: AttackTarget, { name, component }: IdentityHeader): Promise<Weakness | null> {
  for (const written of new Set([name, name.replaceAll('-', '_')])) {
    const request = withHeader(target.baseline, written, target.marker);
    const { calls } = await target.send(request);
    const reached = calls.find((call) => received(call, written).some((value) => value.includes(target.marker)));
    if (!reached) continue;
    const isAll = target.config.input_headers.includes('*');
    return {
      shown: `The backend received ${written}: ${target.marker} from the client; ${component} sets ${name}.`,
      remedy: isAll
        ? 'List the headers that the backend requires in input_headers instead of "*" (sluice audit 2.2.3).'
        : `Remove ${written} from input_headers, or add ${component} to the endpoint.`,
      pointer: `${target.pointer}/input_headers`,
      requests: [request],
    };
  }
  return null;
}

/** Headers that other endpoints set for the same backends. */
function neighborHeaders(target: AttackTarget): IdentityHeader[] {
  const own = new Set(identityHeaders(target).map(({ name }) => name.toLowerCase()));
  const hosts = hostsOf(target);
  const neighbors = target.endpoints.filter((other) => [...hostsOf(other)].some((host) => hosts.has(host)));
  const headers = neighbors.flatMap(identityHeaders).filter(({ name }) => !own.has(name.toLowerCase()));
  return [...new Map(headers.map((header) => [header.name.toLowerCase(), header])).values()];
}

function hostsOf({ config }: AttackedEndpoint): Set<string> {
  return new Set(config.backend.flatMap(({ host }) => host));
}
