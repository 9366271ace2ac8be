import type { Site } from '#contract';
import type { SecurityConfig } from './schema.ts';

/**
 * Compiles a test for the host of a request; null when every host is allowed. Warning: SECURITY_HOST_FORM for an entry
 * that no request can match.
 * @throws ConfigError PATTERN_INVALID for an unusable expression.
 */
export function hostTest(site: Site<SecurityConfig>): ((host: string) => boolean) | null {
  const { allowed_hosts: hosts, allowed_hosts_are_regex: areRegex, is_development: development } = site.config;
  const patterns = areRegex ? hosts.map((host, index) => site.pattern(host, `/allowed_hosts/${index}`)) : [];
  if (hosts.length === 0 || development) return null;
  if (!areRegex) warnOfForms(site, hosts);
  if (areRegex) return (host) => host.length <= LONGEST_HOST && patterns.some((pattern) => pattern.testWhole(host));
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  return (host) => allowed.has(host) || allowed.has(host.toLowerCase());
}

/** Maximum length of a host with its port; longer ones are not tested against patterns. */
const LONGEST_HOST = 512;

function warnOfForms(site: Site<SecurityConfig>, hosts: readonly string[]): void {
  hosts.forEach((host, index) => {
    const [mark] = /:\/\/|[/*\\\s]/.exec(host) ?? [];
    if (mark === undefined) return;
    const isPattern = mark === '*' || mark === '\\';
    site.warn('SECURITY_HOST_FORM', `/allowed_hosts/${index}`, `no request has the host "${host}"`, {
      hint: isPattern ? '"allowed_hosts_are_regex": true' : 'a host name only, with its port if it has one',
    });
  });
}
