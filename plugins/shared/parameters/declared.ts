import { type EndpointSite, findNear, paramKey } from '#contract';

/** The part of a limit that defines how clients are distinguished. */
interface Identification {
  readonly strategy?: string;
  readonly key: string;
}

/** Whether clients are distinguished by a path variable that the path does not contain. */
export function lacksParam(path: string, { strategy, key }: Identification): boolean {
  if (strategy?.toLowerCase() !== 'param' || key === '') return false;
  return !path.includes(`{${key}}`) && !(path.endsWith('/*') && paramKey(key) === 'Wildcard');
}

/**
 * Rejects a path variable that the endpoint does not have: it would make every request fail.
 * @param pointer of the limit below the site's own configuration.
 * @throws ConfigError with the given code.
 */
export function refuseUnknownParam(
  site: EndpointSite<unknown>,
  limit: Identification,
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
