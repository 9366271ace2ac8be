import type { Operations } from './gateway/operations.ts';

/** What the command line and the environment say about the admin port. */
export interface StartAdminOptions {
  /** Address, or `off`; left to the configuration when undefined. One that was given must be had, or nothing starts. */
  readonly listen?: string | undefined;
  /** One token with every scope. */
  readonly token?: string | undefined;
  /** File with tokens; stronger than `token`. */
  readonly tokenFile?: string | undefined;
  /** Directory in which the gateway's own token is stored across starts. */
  readonly stateDirectory: string;
  /** Ends the process in order. */
  stop(): void;
}

/** The admin port of a gateway. */
export interface RunningAdmin {
  /** Null where it is off. */
  readonly address: string | null;
  close(): Promise<void>;
}

/** Opens the admin port of a gateway that listens. @throws GatewayError when it must be had and cannot. */
export type StartAdmin = (gateway: Operations, options: StartAdminOptions) => Promise<RunningAdmin>;
