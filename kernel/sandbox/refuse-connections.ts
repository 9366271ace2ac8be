import { currentFaultOwner } from '../contract/internal.ts';
import { type ConnectionGuard, guardConnections } from '../net/guard-connections.ts';
import { currentSession } from './session.ts';

/** Error for a connection that would leave a sandbox. */
export class SandboxError extends Error {
  readonly code = 'SANDBOX_REFUSED';
}

/** Refuses the connections of code that runs in a session, and names the component. */
const guard: ConnectionGuard = {
  isActive: () => currentSession() !== undefined,
  permitsLookups: () => currentSession()?.looksUp === true,
  refuse(address) {
    const owner = currentFaultOwner();
    const name = owner ? `${owner.place} of ${owner.describe()}` : 'a component';
    currentSession()?.refused({ owner: name, address });
    return new SandboxError(`the sandbox refuses connections: ${name}, to ${address}`);
  },
};

/** Refuses connections in sessions; other code of the process is not affected. @returns a function that ends this. */
export function refuseConnections(): () => void {
  return guardConnections(guard);
}
