import {
  type BackendConfig,
  type ConfigError,
  type Data,
  type EndpointConfig,
  isObject,
  type PipeConfig,
  type PipeRules,
  type Schema,
  type ServiceConfig,
} from '#contract';
import { escapePointer } from '../../values/pointer.ts';
import { createReport } from '../issues/report.ts';
import { checkPipeRules } from '../rules/index.ts';
import { innerSchemas } from '../schema/schema.ts';
import { completeEndpoint, createHostCleaner } from './inherit.ts';
import { isRaw, type KnownPlugins } from './known-plugins.ts';

/** A pipe found in the configuration of a component. */
export interface NestedPipe {
  /** Pointer relative to the component's configuration. */
  readonly pointer: string;
  /** An object whose content has not been validated yet. */
  readonly value: { readonly [key: string]: Data };
  readonly rules: PipeRules;
}

const holders = new WeakMap<Schema, boolean>();

/** True if values of a schema may contain pipes; computed once per schema. */
export function mayHoldPipes(schema: Schema): boolean {
  let holdsPipes = holders.get(schema);
  if (holdsPipes === undefined) {
    holders.set(schema, false);
    holdsPipes = ('pipe' in schema && schema.pipe !== undefined) || partsOf(schema).some(mayHoldPipes);
    holders.set(schema, holdsPipes);
  }
  return holdsPipes;
}

function partsOf(schema: Schema): readonly Schema[] {
  return 'type' in schema && schema.type === 'recursive' ? [schema.schema()] : innerSchemas(schema);
}

/** All pipes in a value, outermost first, excluding those inside the components of a pipe. */
export function pipesIn(schema: Schema, value: unknown, pointer = ''): NestedPipe[] {
  if (!mayHoldPipes(schema)) return [];
  if ('anyOf' in schema) return schema.anyOf.flatMap((branch) => pipesIn(branch, value, pointer));
  if (schema.type === 'recursive') return pipesIn(schema.schema(), value, pointer);
  if (schema.type === 'array') {
    return Array.isArray(value)
      ? value.flatMap((item, index) => pipesIn(schema.items, item, `${pointer}/${index}`))
      : [];
  }
  if (schema.type !== 'object' || !isObject(value)) return [];
  const { properties = {}, values, pipe } = schema;
  const inner = Object.entries(value).flatMap(([key, segment]) => {
    const of = Object.hasOwn(properties, key) ? properties[key] : values;
    return of ? pipesIn(of, segment, `${pointer}/${escapePointer(key)}`) : [];
  });
  return pipe ? [{ pointer, value, rules: pipe }, ...inner] : inner;
}

/** Context of a pipe. */
export interface AroundPipe {
  readonly service: ServiceConfig;
  readonly known: KnownPlugins;
  /** Timeout of the surrounding endpoint, in milliseconds; the service's without one. */
  readonly timeout: number;
  readonly rules: PipeRules;
}

/**
 * Fills in the values that a pipe inherits from its context, and runs the checks that a schema cannot express. Modifies
 * the pipe.
 * @param pointer to the pipe in the configuration.
 */
export function completePipe(
  pipe: PipeConfig,
  pointer: string,
  { service, known, timeout, rules }: AroundPipe,
): { readonly errors: readonly ConfigError[]; readonly warnings: readonly ConfigError[] } {
  const report = createReport();
  const own: { -readonly [K in keyof EndpointConfig]: EndpointConfig[K] } = pipe;
  own.method = 'GET';
  own.input_headers ??= [];
  own.input_query_strings = [];
  if (rules.listedQueries) own.backend = own.backend.map(withListedQueries);
  if (rules.params !== undefined) own.endpoint = pathWith(pipe as never, rules.params);
  const around = { ...service, timeout, cache_ttl: 0, output_encoding: 'json' };
  completeEndpoint(own, pointer, { service: around, known, clean: createHostCleaner(report) }, report);
  if (own.backend.length > 1 && !isRaw(own.output_encoding, known)) own.extra_config = withDefaults(own, rules);
  checkPipeRules(pipe, pointer, service, known, report);
  return report;
}

/**
 * A list with one empty name forwards nothing, whereas an empty list forwards everything, so a list that becomes empty
 * gets an empty name.
 */
function withListedQueries(backend: BackendConfig): BackendConfig {
  return (backend.input_query_strings ?? []).length > 0 ? backend : { ...backend, input_query_strings: [''] };
}

/** Path that declares the parameters named in a field. */
function pathWith(pipe: { readonly [field: string]: Data }, field: string): string {
  const names = Object.values((pipe[field] ?? {}) as object);
  return `/${[pipe['name'], ...names.map((name) => `{${name}}`)].join('/')}`;
}

function withDefaults(
  { extra_config: written }: EndpointConfig,
  { defaults = {} }: PipeRules,
): EndpointConfig['extra_config'] {
  const filled = Object.entries(defaults).map(([name, settings]) => {
    const own = Object.hasOwn(written, name) ? written[name] : {};
    return [name, isObject(own) ? { ...settings, ...own } : own] as const;
  });
  return { ...written, ...Object.fromEntries(filled) } as EndpointConfig['extra_config'];
}
