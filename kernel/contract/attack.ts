import type { DataObject } from '../values/data.ts';
import type { AuditedComponent, Severity } from './audit.ts';
import type { EndpointConfig, ServiceConfig } from './config.ts';
import type { SandboxRequest, SandboxResponse } from './sandbox.ts';

/** Names and values of headers, in the order in which they are sent. */
export type AttackHeaders = readonly (readonly [name: string, value: string])[];

/** A request of an attack. The client sends it exactly as given, even if it is malformed. */
export interface AttackRequest {
  readonly method: string;
  /** Request target as sent: path and query. */
  readonly target: string;
  /** `Host` and `Content-Length` are added unless they are listed. */
  readonly headers: AttackHeaders;
  readonly body?: string | Uint8Array | undefined;
  /** Shell command that writes the body, for a body that is not printable. */
  readonly bodyCommand?: string;
}

/** Everything that a request caused. */
export interface AttackResponse {
  /** 0 if the connection ended without a response. */
  readonly status: number;
  readonly headers: AttackHeaders;
  readonly body: string;
  /** Requests that backends received in the meantime. */
  readonly calls: readonly SandboxRequest[];
}

/** An endpoint with the components that take part in its requests: its own, those of its backends, and the service's. */
export interface AttackedEndpoint {
  /** Method and path, for example `GET /users/{id}`. */
  readonly id: string;
  /** JSON pointer, with current names. */
  readonly pointer: string;
  readonly config: EndpointConfig;
  readonly components: readonly AuditedComponent[];
}

/** An endpoint in its sandbox, and the ways to reach it. */
export interface AttackTarget extends AttackedEndpoint {
  readonly service: ServiceConfig;
  readonly endpoints: readonly AttackedEndpoint[];
  /** A request that the endpoint accepts, with the credentials of the first caller. */
  readonly baseline: AttackRequest;
  /** The endpoint's response to the baseline before the first attack. */
  readonly accepted: AttackResponse;
  /**
   * The baseline with the credentials of another caller with the same rights; equal to the baseline if that has no
   * credentials.
   */
  readonly other: AttackRequest;
  /** The baseline without credentials; null if the endpoint accepts requests without credentials. */
  readonly anonymous: AttackRequest | null;
  /** Text that occurs nowhere else, the same in every run with the same seed. */
  readonly marker: string;
  /** Values of secrets in the configuration. */
  readonly secrets: readonly string[];
  /** Sends a request, over a new connection or over one that the gateway kept open. */
  send(request: AttackRequest): Promise<AttackResponse>;
  /**
   * Writes bytes to a new connection, and then closes it, or holds it open for a time. @param holdMs time in
   * milliseconds that the connection stays open after the last byte. @param trickle text to repeat meanwhile, every 50
   * ms.
   * @returns all responses, and whether the gateway closed first.
   */
  write(bytes: string, holdMs?: number, trickle?: string): Promise<AttackExchange>;
  /** Replaces the responses of backends until the attack ends. */
  respond(respond: (request: SandboxRequest) => Partial<SandboxResponse>): void;
}

/** A connection that an attack wrote bytes to. */
export interface AttackExchange {
  readonly responses: readonly Omit<AttackResponse, 'calls'>[];
  /** Whether the gateway closed the connection before its time was over. */
  readonly isClosed: boolean;
  readonly calls: readonly SandboxRequest[];
}

/** A weakness that an attack has shown. */
export interface Weakness {
  /** Effect of the requests, in one sentence. */
  readonly shown: string;
  /** Change of the configuration, as an imperative sentence. */
  readonly remedy: string;
  /** JSON pointer of the setting to change, with current names. Default: the endpoint. */
  readonly pointer?: string | undefined;
  /** Default: the severity of the attack. */
  readonly severity?: Severity;
  /** Requests that show the weakness, in order: as sent by `send`, or the bytes of `write`. */
  readonly requests: readonly (AttackRequest | string)[];
}

/** An attack of the catalog. */
export interface Attack {
  /** Unique name in kebab-case. */
  readonly name: string;
  readonly severity: Severity;
  /** Weakness that the attack looks for, without a period. */
  readonly title: string;
  /** Requests of the attack, and the observation that counts as a finding. */
  readonly description: string;
  /** Runs once for a configuration, at the first endpoint that it applies to. Default: at each of these endpoints. */
  readonly once?: true;
  /** The attack exhausts limits or fills caches, so each run gets a gateway of its own. */
  readonly isolated?: true;
  /** Changes the configuration of the attack's own gateway. Only for isolated attacks. */
  readonly stage?: (document: DataObject) => void;
  applies(endpoint: AttackedEndpoint, service: ServiceConfig): boolean;
  run(target: AttackTarget): Promise<readonly Weakness[]>;
}

/** Everything around the gateway of a sandbox: servers of components other than backends, and callers. */
export interface AttackStage {
  /**
   * The configuration, extended with credentials for the callers, in which keys of the sandbox replace those of
   * identity providers.
   */
  readonly document: DataObject;
  /** Adds what an endpoint requires. @param caller 0 or 1, two callers with equal rights; null for no credentials. */
  identify(endpoint: AttackedEndpoint, request: AttackRequest, caller: 0 | 1 | null): AttackRequest;
  /** Responds to requests for keys, tokens and decisions. @returns undefined for requests to backends. */
  serve(request: SandboxRequest): SandboxResponse | undefined;
  /** Responds in place of a backend, in the encoding that the configuration expects. */
  backend(request: SandboxRequest): SandboxResponse;
  /** Placeholders for credentials in printed requests, by value, for example `$TOKEN`. */
  readonly shown: ReadonlyMap<string, string>;
}

/** The attacks of a release. */
export interface AttackCatalogue {
  readonly attacks: readonly Attack[];
  /** @param document the configuration, which is not modified. @param endpoints its endpoints. */
  stage(document: DataObject, endpoints: readonly AttackedEndpoint[]): AttackStage;
}
