import {
  CallError,
  type ConfigError,
  type ConfigErrorOptions,
  type Data,
  type Infer,
  type Pattern,
  type PipeRequest,
  type Reply,
  type Schema,
} from '#contract';

/** Changes a request to a backend. @throws CallError if the change is not possible, which fails the call. */
export type ChangeRequest = (request: PipeRequest) => void;

/** Changes a backend's response to a request. @throws CallError if the change is not possible, which fails the call. */
export type ChangeReply = (reply: Reply, request: PipeRequest) => void;

/** The changes that a compiled modifier makes; null for requests or responses that it does not change. */
export interface Modifier {
  readonly request: ChangeRequest | null;
  readonly response: ChangeReply | null;
}

/** Context for compiling a modifier. Pointers are relative to the modifier's own configuration. */
export interface Place {
  /** Creates an error to throw. */
  fault(at: string, message: string, options?: ConfigErrorOptions): ConfigError;
  warn(at: string, message: string, options?: ConfigErrorOptions): void;
  pattern(source: string, at: string): Pattern;
  /** Compiles a nested modifier. */
  inner(written: Data, at: string): Modifier;
  /** Called by a modifier that sets this header on requests. */
  sets(name: string): void;
  /** Called by a modifier whose request header may be a copy of another one, and may therefore identify the client. */
  identifies(name: string): void;
}

/** One `package.Type` of the language. */
export interface Kind {
  readonly schema: Schema;
  readonly compile: (config: never, place: Place) => Modifier;
}

const sides = ['request', 'response'] as const;
type Side = (typeof sides)[number];

/** Schema of the `scope` that every modifier has. @param allowed sides that the modifier can change. */
export function scopeOf<const S extends readonly Side[]>(...allowed: S) {
  return {
    type: 'array',
    items: { type: 'string', enum: allowed },
    uniqueItems: true,
    description: `Messages that the modifier is applied to: ${allowed.join(', ')}. Default: all that the modifier supports.`,
    default: [],
  } as const;
}

/** Schema of the scope of modifiers for both sides. */
export const scope = scopeOf('request', 'response');

/** Schema of the nested modifier of a filter. */
export function innerModifier(description: string) {
  return { type: 'recursive', name: 'martianModifier', schema: () => wholeSchema!, description } as const;
}

let wholeSchema: Schema | undefined;

/** Sets the schema that is allowed wherever a modifier is. */
export function declareModifiers<S extends Schema>(schema: S): S {
  wholeSchema = schema;
  return schema;
}

/** Declares a kind; its modifiers only act within their scope. */
export function kind<const S extends Schema>(schema: S, compile: (config: Infer<S>, place: Place) => Modifier): Kind {
  return {
    schema,
    compile: (config, place) => inScope((config as { readonly scope: readonly Side[] }).scope, compile(config, place)),
  };
}

function inScope(scope: readonly Side[], { request, response }: Modifier): Modifier {
  if (scope.length === 0) return { request, response };
  return {
    request: scope.includes('request') ? request : null,
    response: scope.includes('response') ? response : null,
  };
}

/** Returns whether a modifier acts on a side. */
export function actsOn(scope: readonly Side[], side: Side): boolean {
  return scope.length === 0 || scope.includes(side);
}

/** Creates the error of a call when a configured change is not possible. Code: `MARTIAN_FAILED`. */
export function failure(message: string): CallError {
  return new CallError('MARTIAN_FAILED', `modifier/martian: ${message}`);
}
