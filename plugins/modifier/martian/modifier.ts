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

/** Changes a request to a backend. @throws CallError when it cannot be changed so: the call fails. */
export type ChangeRequest = (request: PipeRequest) => void;

/** Changes a backend's answer to a request. @throws CallError as above. */
export type ChangeReply = (reply: Reply, request: PipeRequest) => void;

/** What one modifier does on each side; null where it does nothing. */
export interface Modifier {
  readonly request: ChangeRequest | null;
  readonly response: ChangeReply | null;
}

/** What a modifier is compiled with. Pointers are relative to its own configuration. */
export interface Place {
  /** A mistake, to be thrown. */
  fault(at: string, message: string, options?: ConfigErrorOptions): ConfigError;
  warn(at: string, message: string, options?: ConfigErrorOptions): void;
  pattern(source: string, at: string): Pattern;
  /** Compiles the modifier that stands inside. */
  inner(written: Data, at: string): Modifier;
  /** Names a header that is set on requests. */
  sets(name: string): void;
  /** Told of a header of requests that may be another one's value: who asks may be told by it. */
  identifies(name: string): void;
}

/** One `package.Type` of the language. */
export interface Kind {
  readonly schema: Schema;
  readonly compile: (config: never, place: Place) => Modifier;
}

const sides = ['request', 'response'] as const;
type Side = (typeof sides)[number];

/** The field every modifier has. @param allowed what the modifier can change. */
export function scopeOf<const S extends readonly Side[]>(...allowed: S) {
  return {
    type: 'array',
    items: { type: 'string', enum: allowed },
    uniqueItems: true,
    description: `Messages to modify: ${allowed.join(', ')}. Default: all that the modifier supports.`,
    default: [],
  } as const;
}

/** The field of modifiers for both sides. */
export const scope = scopeOf('request', 'response');

/** The field of filters that hold another modifier. */
export function innerModifier(description: string) {
  return { type: 'recursive', name: 'martianModifier', schema: () => wholeSchema!, description } as const;
}

let wholeSchema: Schema | undefined;

/** Says what may stand wherever a modifier may. */
export function declareModifiers<S extends Schema>(schema: S): S {
  wholeSchema = schema;
  return schema;
}

/** Declares a kind; what it compiles to is kept to its scope. */
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

/** True when a modifier may act on a side. */
export function actsOn(scope: readonly Side[], side: Side): boolean {
  return scope.length === 0 || scope.includes(side);
}

/** What a call fails with that cannot be changed as configured. Code: `MARTIAN_FAILED`. */
export function failure(message: string): CallError {
  return new CallError('MARTIAN_FAILED', `modifier/martian: ${message}`);
}
