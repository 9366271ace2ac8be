import type Koa from 'koa';
import type { AdminScope, AdminSettings } from '#contract';
import type { Operations } from '#kernel';
import type { OpenApi } from './openapi/document.ts';
import type { Operating } from './operating/operating.ts';
import type { ProblemSlug } from './problem.ts';
import type { JsonSchema, ResponseSchema } from './schemas.ts';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required?: true;
}

/** One operation of the admin API: it is served, guarded and described from this alone. */
export interface Operation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** As the router reads it, `/v1/revisions/:number`. */
  readonly path: string;
  /** What the token must be allowed to do; null where no token is needed. */
  readonly scope: AdminScope | null;
  /** Needs no token on loopback. */
  readonly openOnLoopback?: true;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** Media types of the body; none where a body is not read. */
  readonly accepts?: readonly string[];
  /** Schema of the body where it is not a configuration. */
  readonly body?: JsonSchema;
  /** Where it differs by media type. */
  readonly bodies?: { readonly [mediaType: string]: JsonSchema };
  /** The operation also works without one. */
  readonly bodyIsOptional?: true;
  /** By status; problems are not among them. */
  readonly responses: { readonly [status: number]: ResponseSchema };
  /** Problems of its own, besides those that follow from the rest of it. */
  readonly problems?: readonly ProblemSlug[];
  /** It changes what serves: takes its turn, heeds `If-Match` and `Idempotency-Key`, and leaves a line in the audit log. */
  readonly changes?: true;
  /** Answers by setting `ctx.status` and `ctx.body`. @throws Problem. */
  readonly handle: (ctx: Koa.Context, admin: Admin) => void | Promise<void>;
}

/** What the operations of the admin API work with. */
export interface Admin {
  readonly gateway: Operations;
  /** As the serving configuration sets it. */
  readonly settings: AdminSettings;
  /** Describes the admin API itself. @param origin where it is served, as in `http://127.0.0.1:9180`. */
  describe(origin: string): OpenApi;
  /** What is watched and held for as long as the admin port is open. */
  readonly operating: Operating;
  /** Ends the process in order. */
  stop(): void;
}
