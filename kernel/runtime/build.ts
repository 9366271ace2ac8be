import { ConfigError, ConfigErrors, GatewayError, type ServiceConfig } from '#contract';
import { normalize } from '../config/index.ts';
import { type Compiled, compile } from '../pipeline/compile.ts';
import type { Build } from '../pipeline/site.ts';
import type { Registry } from '../registry/registry.ts';
import { Keeper } from './keeper.ts';
import { Runtime } from './runtime.ts';
import { Scope } from './scope.ts';
import { readServerTls, type ServerTls } from './tls.ts';

/** What the command line adds to a configuration. */
export interface Overrides {
  /** Replaces the configured port. */
  readonly port?: number;
  /** Enables `/__debug/`. */
  readonly debug?: boolean;
}

export interface Built {
  readonly runtime: Runtime;
  readonly warnings: readonly ConfigError[];
}

/** Longest time for all warm-ups of one build, in milliseconds. */
const WARM_UP_MS = 10_000;

/**
 * Builds a runtime off to the side: nothing outside its own scope is touched, and a failure gives everything back.
 *
 * @param data the parsed document.
 * @throws ConfigErrors with every mistake found.
 */
export async function build(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  keeper: Keeper,
  id: number,
): Promise<Built> {
  const scope = new Scope();
  try {
    const { tasks, compiled, tls } = await assemble(data, overrides, registry, keeper, scope, true);
    if (tasks.errors.length > 0) throw new ConfigErrors(tasks.errors);
    await warmUp(tasks.warmups);
    return {
      runtime: new Runtime(id, tasks.config, compiled, tls, scope),
      warnings: tasks.warnings,
    };
  } catch (error) {
    await giveBack(scope, registry);
    throw error;
  }
}

/** What an examination found. */
export interface Examined {
  readonly config: ServiceConfig;
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly ConfigError[];
}

/**
 * Looks for every mistake of a configuration and keeps nothing.
 * @param attaching also let every component build itself from its configuration: keys, schemas, expressions.
 */
export async function examine(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  attaching: boolean,
): Promise<Examined> {
  const scope = new Scope();
  try {
    const { tasks } = await assemble(data, overrides, registry, new Keeper(), scope, attaching);
    return { config: tasks.config, errors: tasks.errors, warnings: tasks.warnings };
  } finally {
    await giveBack(scope, registry);
  }
}

/** From data to functions; what is wrong on the way is in `tasks.errors`, at its place in the document. */
async function assemble(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  keeper: Keeper,
  scope: Scope,
  attaching: boolean,
): Promise<{ tasks: Build; compiled: Compiled; tls: ServerTls | null }> {
  const { config, errors, warnings, origin } = normalize(data, { ...overrides, env: process.env });
  const holder = keeper.holder(scope);
  const found: ConfigError[] = [];
  const noticed: ConfigError[] = [];
  const tasks: Build = {
    config,
    attaching,
    services: registry.services,
    errors: found,
    warnings: noticed,
    warmups: [],
    keep: (owner, key, open, close) => holder.keep(owner, key, open, close),
    defer: (dispose) => scope.defer(dispose),
  };
  // The shape of a configuration must be right before anything can be made of it.
  if (errors.length > 0)
    return { tasks: { ...tasks, errors, warnings }, compiled: { routes: [], service: [] }, tls: null };
  const tls = attaching ? readServerTls(config.tls, tasks) : null;
  const compiled = await compile(tasks, registry);
  const place = (error: ConfigError) =>
    new ConfigError(error.code, origin(error.pointer), error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error.cause,
    });
  return {
    tasks: { ...tasks, errors: [...new Set(found)].map(place), warnings: [...warnings, ...noticed.map(place)] },
    compiled,
    tls,
  };
}

function giveBack(scope: Scope, registry: Registry): Promise<void> {
  return scope.dispose((failure) => registry.services.log.error(() => `giving back failed: ${failure}`));
}

async function warmUp(tasks: Build['warmups']): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_MS);
  const failures: ConfigError[] = [];
  await Promise.all(
    tasks.map((task) =>
      task(signal).catch((error: unknown) => {
        if (error instanceof ConfigError) failures.push(error);
        else
          failures.push(
            new ConfigError('WARM_UP', '', error instanceof GatewayError ? error.message : String(error), {
              cause: error,
            }),
          );
      }),
    ),
  );
  if (failures.length > 0) throw new ConfigErrors(failures);
}
