import type { Data, DataObject } from '../values/data.ts';

interface Described {
  readonly title?: string;
  /** Description for operators, with the unit. */
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /**
   * The value is a secret: masked wherever the configuration is printed, and reported if it is stored in plain text.
   * `possible` for a value that may be one: masked, but not reported.
   */
  readonly secret?: true | 'possible';
  /**
   * Additional keywords of the published schema, for rules that the component checks itself. Patterns have the same
   * meaning in RE2 and ECMAScript.
   */
  readonly published?: PublishedRules;
  /** Deprecated: still accepted, and struck through by editors. */
  readonly deprecated?: true;
  /** The field has no effect: a warning if it is set. */
  readonly unused?: Unused;
}

/** Reason why a field has no effect. */
export interface Unused {
  /** Reason that follows "has no effect: " in a sentence. */
  readonly because: string;
  /** Values that may be set without a warning, because the fixed behavior is the same. */
  readonly unless?: readonly (string | number | boolean)[];
  /** Values without effect. Default: all. */
  readonly only?: readonly (string | number | boolean)[];
}

/** Rules in plain JSON Schema. */
export interface PublishedRules {
  readonly pattern?: string;
  readonly enum?: readonly (string | number)[];
  readonly propertyNames?: { readonly pattern: string };
  readonly allOf?: readonly object[];
}

/**
 * The JSON Schema subset of configurations, as plain data. It drives the validator, the types (`Infer`), the schema for
 * editors and the reference pages.
 *
 * - An object with `properties` is closed: unknown keys are rejected; keys starting with `@ $ _ #` are comments and are
 *   dropped. An object with only `values`, or with neither, is a map whose keys are all data. With both it is open: the
 *   fields of `properties` and a map of all other keys.
 * - `exactlyOneOf` lists groups of fields; exactly one field of each group is required.
 * - `recursive` marks a schema that contains itself; its name is the name of its definition in the published schema.
 * - An object made by `pipeSchema` contains backends that are called: `site.pipe` returns the compiled pipe.
 * - `duration` is written as `"1500ms"` (units ns, us, µs, ms, s, m, h) and read as milliseconds.
 * - `any` is any JSON value.
 */
export type Schema =
  | (Described & {
      readonly type: 'string';
      readonly enum?: readonly string[];
      readonly pattern?: string;
      readonly minLength?: number;
      readonly default?: string;
    })
  | (Described & {
      readonly type: 'integer' | 'number';
      readonly enum?: readonly number[];
      readonly minimum?: number;
      readonly exclusiveMinimum?: number;
      readonly maximum?: number;
      readonly default?: number;
    })
  | (Described & { readonly type: 'boolean'; readonly default?: boolean })
  | (Described & { readonly type: 'duration'; readonly default?: string })
  | (Described & {
      readonly type: 'array';
      readonly items: Schema;
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly uniqueItems?: true;
      readonly default?: readonly unknown[];
    })
  | (Described & {
      readonly type: 'object';
      readonly properties?: { readonly [key: string]: Schema };
      readonly required?: readonly string[];
      /** Schema of all values of a map, or next to `properties` of all other keys. */
      readonly values?: Schema;
      readonly exactlyOneOf?: readonly (readonly string[])[];
      /** Rules for an object that contains backends and their components, and that is compiled like an endpoint. */
      readonly pipe?: PipeRules;
      readonly minProperties?: number;
      readonly maxProperties?: number;
      readonly default?: { readonly [key: string]: unknown };
    })
  | (Described & { readonly type: 'any'; readonly default?: unknown })
  | (Described & {
      readonly type: 'recursive';
      readonly name: string;
      readonly schema: () => Schema;
      readonly default?: unknown;
    })
  | (Described & { readonly anyOf: readonly Schema[]; readonly default?: unknown });

/** Rules for an object that is a pipe. */
export interface PipeRules {
  /** Components allowed in the `extra_config` of the pipe. Default: all that can be placed around backends. */
  readonly components?: readonly string[];
  /** Field whose values are parameter names, which backends use as `{name}`. Default: the placeholders in the path of the pipe. */
  readonly params?: string;
  /** Whether backends receive only the query parameters that they list, because the parameters are data. */
  readonly listedQueries?: true;
  /**
   * Default configuration of the pipe's components if it has several decoded backends, for example `{ proxy: {
   * sequential: true } }`.
   */
  readonly defaults?: { readonly [component: string]: DataObject };
}

type Properties = { readonly [key: string]: Schema };

/** Type of the keys of an object that always have a value: required keys, and keys with a default. */
type SureKey<P extends Properties, R> =
  | Extract<keyof P, R extends readonly string[] ? R[number] : never>
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Flat<T> = { [K in keyof T]: T[K] };

/** Type of a value that a schema accepts, after applying defaults; durations are in milliseconds. */
export type Infer<S> = S extends { readonly anyOf: readonly (infer Choice)[] }
  ? Infer<Choice>
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'integer' | 'number' | 'duration' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Item }
            ? readonly Infer<Item>[]
            : S extends { readonly type: 'object'; readonly properties: infer P extends Properties }
              ? Flat<
                  { readonly [K in SureKey<P, S extends { readonly required: infer R } ? R : never>]: Infer<P[K]> } & {
                    readonly [K in Exclude<
                      keyof P,
                      SureKey<P, S extends { readonly required: infer R } ? R : never>
                    >]?: Infer<P[K]>;
                  }
                >
              : S extends { readonly type: 'object'; readonly values: infer V }
                ? { readonly [key: string]: Infer<V> }
                : S extends { readonly type: 'object' }
                  ? Readonly<DataObject>
                  : Data;

/** Type of the keys that are treated as comments. */
export type Comments = { readonly [comment: `${'@' | '$' | '_' | '#'}${string}`]: unknown };

/** Type of a value as it is written in a configuration: without defaults, and with durations as text. */
export type Written<S> = S extends { readonly anyOf: readonly (infer Choice)[] }
  ? Written<Choice>
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: 'string' | 'duration' }
      ? string
      : S extends { readonly type: 'integer' | 'number' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Item }
            ? readonly Written<Item>[]
            : S extends { readonly type: 'object'; readonly properties: infer P extends Properties }
              ? WrittenObject<P, S extends { readonly required: readonly (infer R)[] } ? R : never> & Comments
              : S extends { readonly type: 'object'; readonly values: infer V }
                ? { readonly [key: string]: Written<V> }
                : S extends { readonly type: 'object' }
                  ? { readonly [key: string]: unknown }
                  : unknown;

type WrittenObject<P extends Properties, R> = Flat<
  { readonly [K in Extract<keyof P, R>]: Written<P[K]> } & {
    readonly [K in Exclude<keyof P, R>]?: Written<P[K]> | undefined;
  }
>;
