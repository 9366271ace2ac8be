import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type Plugin } from '#contract';
import type { LoadPlugins } from './plugin-loader.ts';

/**
 * Returns the active plugins from files without reading or evaluating any: for tokens that can check configurations but
 * must not run code.
 * Code: PLUGIN_NOT_SERVED.
 * @param served the plugins, and the root field `plugin` that loaded them.
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
      const message =
        'the configuration names other plugins than the active ones, which a check with this token does not load';
      const hint = 'use a token with the scope "write", or check the file with sluice check where it is deployed';
      return { plugins, errors: [new ConfigError('PLUGIN_NOT_SERVED', '/plugin', message, { hint })], warnings: [] };
    },
  };
}
