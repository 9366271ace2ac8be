import type { Operations } from './gateway/operations.ts';

/** Admin port settings from the command line and the environment. */
export interface StartAdminOptions {
  /**
   * Address, or `off`; undefined uses the address of the configuration. If an address given here cannot be opened, the
   * gateway does not start.
   */
  readonly listen?: string | undefined;
  /** A single token with every scope. */
  readonly token?: string | undefined;
  /** File with tokens; takes precedence over `token`. */
  readonly tokenFile?: string | undefined;
  /** Directory in which the generated token is stored, so that it stays the same across starts. */
  readonly stateDirectory: string;
  /** Folder with the files of the dashboard. Default: the one of this installation. */
  readonly dashboard?: string | undefined;
  /** Shuts the process down gracefully. */
  stop(): void;
}

/** The admin port of a gateway. */
export interface RunningAdmin {
  /** Address of the admin port; null when the port is off. */
  readonly address: string | null;
  close(): Promise<void>;
}

/** Opens the admin port of a gateway that listens. @throws GatewayError when a required port cannot be opened. */
export type StartAdmin = (gateway: Operations, options: StartAdminOptions) => Promise<RunningAdmin>;
