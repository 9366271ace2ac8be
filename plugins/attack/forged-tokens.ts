import type { AttackRequest, AttackTarget, AuditedComponent } from '#contract';
import { isServed, withHeader } from './requests.ts';
import { type Forgery, mintToken } from './stage/tokens.ts';

/** A token that must be rejected, and its description after "a token". */
export interface ForgedToken extends Forgery {
  readonly why: string;
}

/** The validator of an endpoint. */
export function validatorOf({ components }: Pick<AttackTarget, 'components'>): AuditedComponent | undefined {
  return components.find(({ namespace, level }) => namespace === 'auth/validator' && level === 'endpoint');
}

/**
 * Sends the baseline with forged tokens. @param address in the tokens that the gateway must not connect to.
 * @returns the first token that is accepted, or whose address the gateway called.
 */
export async function firstAccepted(
  target: AttackTarget,
  forgeries: readonly ForgedToken[],
  address?: string,
): Promise<{ readonly forgery: ForgedToken; readonly request: AttackRequest } | null> {
  // If no valid token is accepted, another component decides about requests, and a rejection says nothing about the
  // validator.
  if (!isServed(target.accepted)) return null;
  const { settings } = validatorOf(target)!;
  const name = String(settings['auth_header_name'] ?? 'Authorization');
  for (const forgery of forgeries) {
    const token = mintToken(settings, 'attack-mallory', forgery);
    const request = withHeader(target.baseline, name, `Bearer ${token}`);
    const response = await target.send(request);
    const isCalled = address !== undefined && response.calls.some(({ url }) => url.startsWith(address));
    if (isServed(response) || isCalled) return { forgery, request };
  }
  return null;
}
