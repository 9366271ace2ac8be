import type { ConfigError } from '#contract';
import { parsePointer } from '../../values/pointer.ts';
import { presentName } from '../compatibility/old-names.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';

/** Core fields with a protective purpose: TLS and limits. */
const FIELDS = /^(?:(?:client_)?tls$|(?:max|read|write|idle)_)/;
/** Words in the names of unknown components that suggest a protective purpose. */
const SUSPECTED = /auth|jwt|jose|token|secur|cors|limit|quota|valid|polic|protect|firewall|acl/i;

/** True for an error at a setting whose loss may weaken protection. Such settings are never commented out. */
export function mayProtect(
  { code, pointer, hint = '' }: ConfigError,
  { compatibility }: Pick<KnownPlugins, 'compatibility'>,
): boolean {
  const names = parsePointer(pointer).map((step) => presentName(step, compatibility));
  if (code === 'NAMESPACE_UNKNOWN' && SUSPECTED.test(names.at(-1)!)) return true;
  const { protecting = [] } = compatibility;
  const isProtecting = (name: string) =>
    FIELDS.test(name) || protecting.some((each) => (each.endsWith('/') ? name.startsWith(each) : name === each));
  // A misspelled name has the intended name in its hint, so the hint is searched as well.
  return [...names, ...(hint.match(/[\w./-]+/g) ?? [])].some(isProtecting);
}
