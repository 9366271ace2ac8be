import type Koa from 'koa';
import type { AdminScope, AdminSettings } from '#contract';
import type { Operations } from '#kernel';
import type { OpenApi } from './openapi/document.ts';
import type { Operating } from './operating/operating.ts';
import type { ProblemSlug } from './problem.ts';
import type { JsonSchema, ResponseSchema } from './schemas.ts';
import type { Sessions } from './tokens/sessions.ts';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required?: true;
}

/** One operation of the admin API: the definition from which it is served, guarded and described. */
export interface Operation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path in router syntax, `/v1/revisions/:number`. */
  readonly path: string;
  /** Scope that the token needs; null when no token is required. */
  readonly scope: AdminScope | null;
  /** Set for an operation that requires no token while the admin port listens on a loopback address. */
  readonly openOnLoopback?: true;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** Media types of the body that the operation accepts. */
  readonly accepts?: readonly string[];
  /** Schema of the body, unless it is a configuration. */
  readonly body?: JsonSchema;
  /** Body schemas by media type, where they differ. */
  readonly bodies?: { readonly [mediaType: string]: JsonSchema };
  /** Makes the body optional. */
  readonly bodyIsOptional?: true;
  /** Responses by status, without problems. */
  readonly responses: { readonly [status: number]: ResponseSchema };
  /** Problems that the operation may respond with, in addition to those implied by the other members. */
  readonly problems?: readonly ProblemSlug[];
  /**
   * Set for an operation that changes the serving configuration: it waits for earlier changes, respects `If-Match` and
   * `Idempotency-Key`, and writes to the audit log.
   */
  readonly changes?: true;
  /** Responds by setting `ctx.status` and `ctx.body`. @throws Problem. */
  readonly handle: (ctx: Koa.Context, admin: Admin) => void | Promise<void>;
}

/** Dependencies of the admin API's operations. */
export interface Admin {
  readonly gateway: Operations;
  /** Settings of the serving configuration. */
  readonly settings: AdminSettings;
  /** Describes the admin API itself. @param origin base URL, as in `http://127.0.0.1:9180`. */
  describe(origin: string): OpenApi;
  /** Runtime state kept while the admin port is open. */
  readonly operating: Operating;
  /** Sessions of the dashboard. */
  readonly sessions: Sessions;
  /** Stops the process gracefully. */
  stop(): void;
}
