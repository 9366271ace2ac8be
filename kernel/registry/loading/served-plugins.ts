import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type Plugin } from '#contract';
import type { LoadPlugins } from './plugin-loader.ts';

/**
 * Hands out the plugins from files that serve, and neither reads nor evaluates anything: for whoever may look at
 * configurations, but must not have code run.
 *
 * Code: PLUGIN_NOT_SERVED.
 * @param served the plugins, and the root field `plugin` that brought them.
 */
export function servedPlugins(served: {
  readonly settings: unknown;
  readonly plugins: readonly Plugin[];
}): LoadPlugins {
  return {
    async load(settings, folder) {
      const isServed = isDeepStrictEqual(settings ?? null, served.settings ?? null);
      const plugins = isServed || folder !== undefined ? served.plugins : [];
      if (isServed || settings === undefined) return { plugins, errors: [], warnings: [] };
      const message = 'not the plugins of the configuration that serves: no others are loaded for a check';
      const hint = 'use a token with the scope "write", or check the file with sluice check where it is deployed';
      return { plugins, errors: [new ConfigError('PLUGIN_NOT_SERVED', '/plugin', message, { hint })], warnings: [] };
    },
  };
}
