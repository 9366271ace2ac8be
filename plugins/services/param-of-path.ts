import { type EndpointSite, findNear, paramKey } from '#contract';

/** What of a limit says how clients are told apart. */
interface Telling {
  readonly strategy?: string;
  readonly key: string;
}

/** Whether clients are told apart by a path variable that a path does not have. */
export function lacksParam(path: string, { strategy, key }: Telling): boolean {
  if (strategy?.toLowerCase() !== 'param' || key === '') return false;
  return !path.includes(`{${key}}`) && !(path.endsWith('/*') && paramKey(key) === 'Wildcard');
}

/**
 * A path variable the endpoint does not have would refuse every request.
 * @param pointer of the limit below the site's own configuration.
 * @throws ConfigError of this code.
 */
export function refuseUnknownParam(
  site: EndpointSite<unknown>,
  limit: Telling,
  pointer = '',
  code = 'RATELIMIT_KEY',
): void {
  const path = site.endpoint.endpoint;
  if (!lacksParam(path, limit)) return;
  const near = findNear(
    limit.key,
    Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!),
  );
  throw site.fault(code, `${pointer}/key`, `the endpoint has no placeholder {${limit.key}}`, {
    hint: near && `did you mean "${near.name}"?`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
