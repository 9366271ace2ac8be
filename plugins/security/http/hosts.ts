import { patternFault, type Site } from '#contract';
import type { SecurityConfig } from './schema.ts';

/** Constructs of the configuration's expression language that mean something else here. */
const foreign = /\\[ACEPQpz]|\\x\{|\[\[:/;

/**
 * A test for the host of a request; null when every host is allowed.
 * Warning: SECURITY_HOST_FORM for an entry that no request can have.
 * @throws ConfigError SECURITY_HOST_PATTERN for an expression that cannot be used.
 */
export function hostTest(site: Site<SecurityConfig>): ((host: string) => boolean) | null {
  const { allowed_hosts: hosts, allowed_hosts_are_regex: areRegex, is_development: development } = site.config;
  const patterns = areRegex ? hosts.map((host, index) => patternOf(site, host, index)) : [];
  if (hosts.length === 0 || development) return null;
  if (!areRegex) warnOfForms(site, hosts);
  if (areRegex) return (host) => patterns.some((pattern) => pattern.test(host));
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  return (host) => allowed.has(host) || allowed.has(host.toLowerCase());
}

function warnOfForms(site: Site<SecurityConfig>, hosts: readonly string[]): void {
  hosts.forEach((host, index) => {
    const [mark] = /:\/\/|[/*\\\s]/.exec(host) ?? [];
    if (mark === undefined) return;
    const isPattern = mark === '*' || mark === '\\';
    site.warn('SECURITY_HOST_FORM', `/allowed_hosts/${index}`, `no request has the host "${host}"`, {
      hint: isPattern ? '"allowed_hosts_are_regex": true' : 'a name alone, with its port where it has one',
    });
  });
}

/** Compiles an expression that has to match the whole host. Flags at its start, as in `(?i)`, are understood. */
function patternOf(site: Site<SecurityConfig>, text: string, index: number): RegExp {
  const pointer = `/allowed_hosts/${index}`;
  const unknown = foreign.exec(text);
  if (unknown) {
    const message = `"${unknown[0]}" is not supported in a regular expression`;
    const within = { start: unknown.index, end: unknown.index + unknown[0].length };
    throw site.fault('SECURITY_HOST_PATTERN', pointer, message, { within });
  }
  const [, flags = '', rest = text] = /^\(\?([ims]+)\)(.*)$/s.exec(text) ?? [];
  const body = rest.replaceAll('(?P<', '(?<');
  try {
    // Compiled alone first: an unbalanced ")" must not close the group put around it.
    new RegExp(body, flags);
    return new RegExp(`^(?:${body})$`, flags);
  } catch (cause) {
    const { message, within } = patternFault(text, cause);
    throw site.fault('SECURITY_HOST_PATTERN', pointer, message, { within, cause });
  }
}
