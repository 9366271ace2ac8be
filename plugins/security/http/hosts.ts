import type { Site } from '#contract';
import type { SecurityConfig } from './schema.ts';

/** Constructs of the configuration's expression language that mean something else here. */
const foreign = /\\[ACEPQpz]|\\x\{|\[\[:/;

/**
 * A test for the host of a request; null when every host is allowed.
 * @throws ConfigError SECURITY_HOST_PATTERN for an expression that cannot be used.
 */
export function hostTest(site: Site<SecurityConfig>): ((host: string) => boolean) | null {
  const { allowed_hosts: hosts, allowed_hosts_are_regex: areRegex, is_development: development } = site.config;
  const patterns = areRegex ? hosts.map((host, index) => patternOf(site, host, index)) : [];
  if (hosts.length === 0 || development) return null;
  if (areRegex) return (host) => patterns.some((pattern) => pattern.test(host));
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  return (host) => allowed.has(host) || allowed.has(host.toLowerCase());
}

/** Compiles an expression that has to match the whole host. Flags at its start, as in `(?i)`, are understood. */
function patternOf(site: Site<SecurityConfig>, text: string, index: number): RegExp {
  const pointer = `/allowed_hosts/${index}`;
  const unknown = foreign.exec(text);
  if (unknown) {
    throw site.fault('SECURITY_HOST_PATTERN', pointer, `"${unknown[0]}" is not supported in a regular expression`);
  }
  const [, flags = '', rest = text] = /^\(\?([ims]+)\)(.*)$/s.exec(text) ?? [];
  const body = rest.replaceAll('(?P<', '(?<');
  try {
    // Compiled alone first: an unbalanced ")" must not close the group put around it.
    new RegExp(body, flags);
    return new RegExp(`^(?:${body})$`, flags);
  } catch (cause) {
    throw site.fault('SECURITY_HOST_PATTERN', pointer, (cause as Error).message, { cause });
  }
}
