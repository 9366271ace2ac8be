import type { Attack, AttackRequest, SandboxRequest, Weakness } from '#contract';
import { identityHeaders, ownHeaders } from '../identity-headers.ts';
import { addHeader, received } from '../requests.ts';

/** Headers for one connection, which must not reach backends. */
const ofConnection: readonly (readonly [string, string])[] = [
  ['Proxy-Authorization', 'Basic YTpi'],
  ['Proxy-Connection', 'keep-alive'],
  ['Keep-Alive', 'timeout=60'],
  ['TE', 'trailers'],
  ['Trailer', 'X-Attack'],
];

export const hopByHopAbuse: Attack = {
  name: 'hop-by-hop-abuse',
  severity: 'HIGH',
  title: 'A client can remove headers that the gateway sets, or pass headers of its connection on',
  description:
    'Names headers that components set in the Connection header, so that a proxy may remove them, and sends headers that belong to one connection, such as Proxy-Authorization, TE and Upgrade. A finding is a header of the first kind that is missing at the backend, or a header of the second kind that reaches it.',
  applies: () => true,
  async run({ baseline, accepted, endpoints: _all, send, ...endpoint }) {
    const weaknesses: Weakness[] = [];
    const [before] = accepted.calls;
    const set = before
      ? [...identityHeaders(endpoint), ...ownHeaders(endpoint.service)].filter(
          ({ name }) => received(before, name).length > 0,
        )
      : [];
    if (set.length > 0) {
      const listed = set.map(({ name }) => name);
      const request = addHeader(baseline, 'Connection', ['close', ...listed].join(', '));
      const [call] = (await send(request)).calls;
      const lost = call && listed.find((name) => received(call, name).length === 0);
      if (lost) weaknesses.push(removed(lost, request));
    }
    const request = ofConnection.reduce((made, [name, value]) => addHeader(made, name, value), baseline);
    const upgrade = addHeader(addHeader(baseline, 'Connection', 'Upgrade, HTTP2-Settings'), 'Upgrade', 'h2c');
    for (const each of [request, addHeader(upgrade, 'HTTP2-Settings', 'AAMAAABkAAQAoAAAAAIAAAAA')]) {
      const { calls } = await send(each);
      const name = calls.map((call) => passedOn(call, each)).find((passed) => passed !== undefined);
      if (name !== undefined) weaknesses.push(passed(name, each));
    }
    return weaknesses;
  },
};

/** Returns the name of a header that a backend received although it belongs to the client's connection. */
function passedOn(call: SandboxRequest, { headers }: AttackRequest): string | undefined {
  const names = [...ofConnection.map(([name]) => name), 'Upgrade', 'HTTP2-Settings'];
  return headers.find(([name, value]) => names.includes(name) && received(call, name).includes(value))?.[0];
}

function removed(name: string, request: AttackRequest): Weakness {
  return {
    shown: `The backend did not receive ${name}, because the client listed it in Connection.`,
    remedy: `Use the components of the gateway to set ${name}, after headers of the connection are removed.`,
    requests: [request],
  };
}

function passed(name: string, request: AttackRequest): Weakness {
  return {
    shown: `The backend received ${name} from the client, which is valid for the client's connection only.`,
    remedy: `Remove the component that passes ${name} on.`,
    severity: 'MEDIUM',
    requests: [request],
  };
}
