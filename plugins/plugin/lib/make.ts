import { ConfigError, httpSigners, type ModuleHost, meters, type Port, tracers, type Wrap } from '#contract';
import { redisConnections } from '../../clients/redis/port.ts';
import { quotas } from '../../shared/ports/quotas.ts';
import { type Factory, handlers, type Kind, kindNames } from './handlers.ts';
import { type HostSite, hostFor } from './host.ts';
import type { Named } from './place.ts';

/** Ports of components that run handlers: one port for the handlers, the others for the services that these components provide. */
export const hostPorts: readonly Port<unknown>[] = [handlers, meters, tracers, httpSigners, redisConnections, quotas];

/** A handler of one endpoint, backend or the service, available once its configuration is active. */
export interface Made<Handler> {
  readonly name: string;
  readonly handle: Handler;
}

/**
 * Attaches a handler to an endpoint, a backend or the service, on behalf of its module.
 * @param attach creates the handler and its hooks.
 */
export function contained<Attachment extends object>(
  site: HostSite,
  kind: Kind,
  { entry, pointer }: Named,
  attach: () => Attachment,
): Attachment {
  const { name, contain } = entry;
  return contain({ name, kind, pointer: site.pointer + pointer, endpoint: site.endpoint }, attach);
}

/**
 * Calls a factory, once per place. A returned promise is awaited before the configuration becomes active.
 * @param read extracts the handler from the factory's result; undefined for an invalid result.
 * @param more additional features of the host for this kind.
 * @throws ConfigError PLUGIN_FACTORY, with the plugin's file; and the errors of the host.
 */
export function make<Handler>(
  site: HostSite,
  kind: Kind,
  { entry, pointer }: Named,
  config: unknown,
  read: (given: unknown) => Handler | undefined,
  more: object = {},
): Made<Handler> {
  const { name, file } = entry;
  const refusal = (reason: string, cause?: unknown): ConfigError =>
    site.fault('PLUGIN_FACTORY', pointer, `the ${kindNames[kind]} "${name}" of ${file}: ${reason}`, { cause });
  const checked = (given: unknown): Handler => {
    const handler = read(given);
    if (handler === undefined) throw refusal(`its factory returned ${given === undefined ? 'nothing' : 'no handler'}`);
    return handler;
  };
  const failed = (error: unknown): ConfigError =>
    error instanceof ConfigError ? error : refusal(textOf(error), error);
  const host: ModuleHost = Object.freeze({ ...hostFor(site, name, pointer), ...more });
  const made: { name: string; handle: Handler | null } = { name, handle: null };
  let given: unknown;
  try {
    given = (entry[kind] as Factory)(config, host);
  } catch (error) {
    throw failed(error);
  }
  if (!(given instanceof Promise)) {
    made.handle = checked(given);
    return made as Made<Handler>;
  }
  const settled = given.then(checked, (error: unknown) => {
    throw failed(error);
  });
  // Handles a rejection of the promise, which is not awaited if the configuration is only checked: it must not end the
  // process.
  settled.catch(() => {});
  site.warm(async (signal) => {
    made.handle = await soon(settled, signal, () => refusal('its factory did not finish'));
  });
  return made as Made<Handler>;
}

/** Combines several hooks around a step into one, the first outermost. */
export function joined<R>(wraps: readonly Wrap<R>[]): Wrap<R> {
  return (next) => wraps.reduceRight((inner, wrap) => wrap(inner), next);
}

/** Returns a handler that is a function; undefined for anything else. */
export function asFunction<Handler>(given: unknown): Handler | undefined {
  return typeof given === 'function' ? (given as Handler) : undefined;
}

function soon<T>(promise: Promise<T>, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(late());
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
