import { fileURLToPath } from 'node:url';
import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  atBackend,
  atEndpoint,
  atService,
  type Plugin,
  type Step,
} from '#contract';
import type { GatewayOptions, Operations } from '#kernel';
import { rememberingSinks } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const nothing = { type: 'object', properties: {} } as const;

/** A hook for any part of the pipeline. */
export type AnyWrap = <R>(next: Step<R>) => Step<R>;

/** Hooks of a plugin from a file. */
export interface Hooks {
  readonly service?: AtService;
  readonly endpoint?: AtEndpoint;
  readonly backend?: AtBackend;
}

/** A plugin as if it came from the file of a test. @param file URL of the test. */
export function filePlugin(file: string, hooks: Hooks, more: Partial<Plugin> = {}): Plugin {
  const path = fileURLToPath(file);
  return {
    name: 'acme/test',
    description: 'Does what a test needs.',
    source: { file: path, hash: 'one', files: [path] },
    places: [
      atService(nothing, () => hooks.service ?? {}),
      atEndpoint(nothing, () => hooks.endpoint ?? {}),
      atBackend(nothing, () => hooks.backend ?? {}),
    ],
    ...more,
  };
}

/** A gateway with that plugin, and the lines of its log. */
export interface Contained {
  readonly gateway: Operations;
  readonly lines: readonly string[];
}

export interface ContainedOptions {
  readonly policy?: object;
  readonly backends?: number;
  readonly endpoint?: object;
  readonly more?: object;
  readonly gateway?: GatewayOptions;
}

/** The configuration of `startContained`: `/a` has the plugin at every place that it has hooks for, `/b` has none. */
export function containedConfig(host: string, hooks: Hooks, options: ContainedOptions = {}): object {
  const here = { extra_config: { 'acme/test': {} } };
  const backend = { url_pattern: '/' };
  const others = Array.from({ length: (options.backends ?? 1) - 1 }, (_, at) => ({ ...backend, group: `other${at}` }));
  return {
    version: 3,
    host: [host],
    plugin: options.policy ?? {},
    endpoints: [
      {
        endpoint: '/a',
        backend: [{ ...backend, ...(hooks.backend && here) }, ...others],
        ...(hooks.endpoint && here),
        ...options.endpoint,
      },
      { endpoint: '/b', backend: [backend] },
    ],
    ...(hooks.service && here),
    ...options.more,
  };
}

export async function startContained(
  file: string,
  host: string,
  hooks: Hooks,
  options: ContainedOptions = {},
): Promise<Contained> {
  const sinks = rememberingSinks();
  const plugins = [filePlugin(file, hooks)];
  const gateway = await startWith(plugins, containedConfig(host, hooks, options), { sinks, ...options.gateway });
  return { gateway, lines: sinks.lines };
}
