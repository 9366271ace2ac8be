import type { Attack, AttackRequest, AttackResponse, AttackTarget, SandboxResponse } from '#contract';
import { withPath } from '../requests.ts';

/** Paths of the gateway's built-in endpoints. */
const ownPaths = ['/__health', '/__debug/attack', '/__echo/attack', '/__stats', '/attack-unknown'];

/** Failures of backends for which gateways may write details into their responses. */
const states: readonly Partial<SandboxResponse>[] = [
  { status: 500, body: Buffer.from('{"error":"attack"}') },
  { failure: 'refused' },
  { body: Buffer.from('not what the encoding expects') },
];

export const secretDisclosure: Attack = {
  name: 'secret-disclosure',
  severity: 'HIGH',
  title: 'A response contains a secret of the configuration',
  description:
    "Requests the endpoint, with invalid bodies and while its backends fail, and the gateway's own paths. A finding is a value in a response that the configuration contains as a secret.",
  applies: () => true,
  async run(target) {
    const { baseline, respond } = target;
    const requests = [
      baseline,
      { ...baseline, method: 'PUT', body: '{' },
      ...ownPaths.map((path) => withPath(baseline, path)),
    ];
    for (const request of requests) {
      const finding = await look(target, request);
      if (finding) return [finding];
    }
    for (const state of states) {
      respond(() => state);
      const finding = await look(target, baseline);
      if (finding) return [finding];
    }
    return [];
  },
};

async function look({ secrets, send }: AttackTarget, request: AttackRequest) {
  if (secrets.length === 0) return null;
  const response = await send(request);
  const secret = secrets.find((value) => textOf(response).includes(value) && !JSON.stringify(request).includes(value));
  if (secret === undefined) return null;
  return {
    shown: `The response contains a secret of the configuration that begins with "${secret.slice(0, 2)}".`,
    remedy: 'Remove the value from the response, and replace the secret, as it may be known.',
    requests: [request],
  };
}

function textOf({ headers, body }: AttackResponse): string {
  return `${headers.map(([, value]) => value).join('\n')}\n${body}`;
}
