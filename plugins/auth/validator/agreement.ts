import type { Call, ClientRequest, DataObject, Log, TokenCheck } from '#contract';

type Objection = string | null;

/** Runs the additional checks of a token. Returns the name of the first check that rejects it; null if all accept it. */
export type Agreement = (
  claims: Readonly<DataObject>,
  request: ClientRequest,
  call: Call,
) => Objection | Promise<Objection>;

/** Runs checks in sequence, and stays synchronous unless a check is asynchronous. A check that fails counts as a rejection. */
export function agreement(checks: readonly TokenCheck[], log: Log): Agreement {
  const agrees = (check: TokenCheck, ...args: Parameters<TokenCheck['check']>): boolean | Promise<boolean> => {
    const failed = (error: Error): boolean => {
      log.error(() => `${check.name} failed: ${error.message}`);
      return false;
    };
    try {
      const agreed = check.check(...args);
      return agreed instanceof Promise ? agreed.then((settled) => settled === true, failed) : agreed === true;
    } catch (error) {
      return failed(error as Error);
    }
  };
  const from = (first: number, ...args: Parameters<Agreement>): Objection | Promise<Objection> => {
    for (let at = first; at < checks.length; at++) {
      const check = checks[at]!;
      const agreed = agrees(check, ...args);
      if (agreed instanceof Promise) return agreed.then((settled) => (settled ? from(at + 1, ...args) : check.name));
      if (!agreed) return check.name;
    }
    return null;
  };
  return (claims, request, call) => from(0, claims, request, call);
}
