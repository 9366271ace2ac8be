import type { InjectOptions, Response } from 'light-my-request';
import type { Catalogue, ListenAddress, LogLevel, LogSink, LogSinks, Services } from '#contract';
import { silentSinks } from '../contract/internal.ts';
import type { GatewayOptions } from '../control/gateway-options.ts';
import type { Source } from '../control/snapshot.ts';
import type { Complete } from '../gateway/inject.ts';
import type { Operations } from '../gateway/operations.ts';
import { startGateway } from '../gateway/start-gateway.ts';
import { unguarded } from '../net/guard-connections.ts';
import { freeze } from './freeze.ts';
import { refuseConnections } from './refuse-connections.ts';
import { SandboxClock } from './sandbox-clock.ts';
import { currentSession, type Session, within } from './session.ts';

/** Maximum size of a request to a server, in bytes. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** Settings of a sandbox. */
export interface SandboxOptions extends Pick<GatewayOptions, 'debug' | 'pluginFolder' | 'plugins' | 'secrets'> {
  /**
   * Sends requests that no session answers to their servers, and permits connections. `http` permits only connections
   * of these requests, and starts no work between requests. Default: false.
   */
  readonly network?: boolean | 'http';
  /** Addresses that requests never reach. Default: none. */
  readonly denied?: readonly ListenAddress[];
  /** Stops the clock, and gives sessions their frozen time and random values. Default: false. */
  readonly isFrozen?: boolean;
}

/** A gateway whose servers are mocked: the gateway itself, without the network. */
export interface OpenSandbox {
  readonly gateway: Operations;
  readonly clock: SandboxClock;
  /** Handles a request in a session. @param complete changes its messages before it is handled. */
  inject(session: Session, request: InjectOptions, complete?: Complete): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Starts a gateway in which requests to servers are answered by sessions, at the point where they would be sent. Nothing
 * else leaves the gateway: other connections are refused, and ports of plugins are not opened.
 * @param own answers requests that the gateway sends on its own, for example for keys.
 * @throws ConfigErrors with every error of the configuration.
 */
export async function openSandbox(
  catalogue: Catalogue,
  source: Source,
  own: Session,
  options: SandboxOptions = {},
): Promise<OpenSandbox> {
  const { network = false, isFrozen = false, denied = [], ...rest } = options;
  const clock = new SandboxClock(isFrozen);
  const permit = network === true ? () => {} : refuseConnections();
  const thaw = isFrozen ? freeze() : () => {};
  const end = () => {
    permit();
    thaw();
  };
  const services: Partial<Services> = {
    clock,
    sandbox: {
      network: network !== false,
      ...(network === 'http' && { dial: unguarded }),
      refused: (owner) => (currentSession() ?? own).refused({ owner, address: '' }),
      background: network !== 'http',
      bodyLimitBytes: BODY_LIMIT_BYTES,
      respond: (request) => (currentSession() ?? own).respond(request),
    },
  };
  const started = { ...rest, services, sinks: sinksOf(own), log: true, denied };
  const gateway = await within(own, () => startGateway(catalogue, source, started)).catch((error: unknown) => {
    end();
    throw error;
  });
  // Clients of other systems, such as Redis, can fail outside of every request because their connections are refused.
  // These errors are ignored.
  gateway.internalErrors.watch();
  return {
    gateway,
    clock,
    inject: (session, request, complete) => within(session, () => gateway.inject(request, complete)),
    async close() {
      try {
        await within(own, () => gateway.close());
      } finally {
        end();
      }
    },
  };
}

/** Sinks that pass each line to the session that caused it. */
function sinksOf(own: Session): LogSinks {
  const write = (line: string, level: LogLevel): void => (currentSession() ?? own).logged(line, level);
  const sink: LogSink = { terminal: false, lost: 0, write };
  // Log lines for other destinations, such as syslog, are copies of the lines for stdout and are not recorded again.
  return { stdout: sink, stderr: sink, lost: 0, open: silentSinks.open };
}
