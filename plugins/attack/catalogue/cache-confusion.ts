import type { Attack, AttackRequest, AttackTarget, SandboxRequest, Weakness } from '#contract';
import { isServed, withHeader } from '../requests.ts';

/** Headers that do not identify a caller, or that caches handle themselves. */
const neutral = /^(?:if-.*|range|accept.*|cache-control|pragma|content-.*|user-agent)$/i;

/** Headers that backends use as their own address. */
const address = ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Original-URL', 'X-HTTP-Method-Override'];

export const cacheConfusion: Attack = {
  name: 'cache-confusion',
  severity: 'HIGH',
  title: 'A cached response for one caller is sent to another',
  description:
    'Lets a backend return a cacheable response that contains the headers it received, first for one caller, then for another, and for a request with a forwarded header of the attacker before one without. A finding is a response with values of the earlier request.',
  isolated: true,
  applies: ({ components }) =>
    components.some(({ namespace, level }) => namespace === 'qos/http-cache' && level === 'backend'),
  async run(target) {
    target.respond(echo);
    const names = forwarded(target);
    const first = names.reduce((made, name) => withHeader(made, name, `${target.marker}-${name}`), target.baseline);
    const before = await target.send(first);
    const after = await target.send(target.other);
    const leaked = (text: string) => isServed(before) && before.body.includes(text) && after.body.includes(text);
    if (credentialsOf(target).some(leaked)) return [personal(target, [first, target.other])];
    return names
      .filter((name) => leaked(`${target.marker}-${name}`))
      .map((name) => shared(target, name, [first, target.other]));
  },
};

/** A cacheable response with all headers of the request. */
function echo({ headers }: SandboxRequest) {
  const body = Buffer.from(JSON.stringify({ received: headers.join('|') }));
  const list = ['Content-Type', 'application/json', 'Cache-Control', 'max-age=60', 'Content-Length', `${body.length}`];
  return { status: 200, headers: list, body };
}

/** Texts in a request by which backends recognize the first caller. */
function credentialsOf({ baseline, other, accepted }: AttackTarget): string[] {
  if (baseline === other || JSON.stringify(baseline) === JSON.stringify(other)) return [];
  const values = accepted.calls.flatMap(({ headers }) => headers.filter((_text, at) => at % 2 === 1));
  return values.filter((value) => value.includes('attack-alice'));
}

function forwarded({ config }: AttackTarget): string[] {
  const names = config.input_headers.flatMap((name) => (name === '*' ? address : [name]));
  return names.filter((name) => !neutral.test(name));
}

function personal({ pointer }: AttackTarget, requests: readonly AttackRequest[]): Weakness {
  return {
    shown: 'The second caller received a cached response with the identity of the first.',
    remedy:
      'Let the backend send "Cache-Control: private", or remove qos/http-cache from backends that receive identities.',
    pointer: `${pointer}/backend/0/extra_config/qos~1http-cache`,
    severity: 'CRITICAL',
    requests,
  };
}

function shared({ pointer }: AttackTarget, name: string, requests: readonly AttackRequest[]): Weakness {
  return {
    shown: `A response to a request with ${name} of the attacker was cached and sent for a request without it.`,
    remedy: `Remove ${name} from input_headers, or let the backend list it in Vary.`,
    pointer: `${pointer}/input_headers`,
    severity: 'MEDIUM',
    requests,
  };
}
