import { extname } from 'node:path';
import { type AdaptModule, definePlugin, type Isolation, isObject, offer, type Plugin, type Site } from '#contract';
import type { ModuleManifest } from './isolated/guest.ts';
import { type Factory, type Handlers, handlers, kindNames } from './lib/handlers.ts';
import { kinds, readElements, wrongModule } from './lib/module-form.ts';
import { compileSettings } from './lib/settings.ts';

/** A parsed element of a module. */
interface Entry extends Handlers {
  readonly dispose?: (() => void | Promise<void>) | undefined;
}

/**
 * Converts a module that exports `plugin`, or one of the names of ported modules, to a plugin. The export is an object
 * or a list of objects of the form `{ name, apiVersion: 1, configSchema?, isolate?, middleware?, requestModifier?,
 * responseModifier?, httpClient?, httpServer?, dispose? }`. The plugin offers their handlers to every configuration.
 * Code: PLUGIN_MODULE; per configuration PLUGIN_DUPLICATE.
 */
export const adapt: AdaptModule = (module, file) => {
  const elements = readElements(module, file);
  if (elements.length === 0) return undefined;
  const isolated = elements.find(({ isolate }) => isolate);
  if (isolated) {
    // A module is checked for isolation only if its own file contains the word `isolate`.
    const hint = `write "isolate: true" in ${file} itself, not in the files that it imports`;
    throw wrongModule(file, `plugin "${isolated.name}" was imported before it declared isolation`, hint);
  }
  return pluginOf(
    elements.map(({ name, factories, configSchema, dispose }) => ({
      ...factories,
      name,
      file,
      dispose,
      checkSettings: checkOf(configSchema, name, file),
    })),
    file,
  );
};

/** Runs modules with `isolate: true` in threads of their own. */
export const isolation: Isolation = {
  guest: new URL(`./isolated/guest${extname(import.meta.url)}`, import.meta.url),
  adapt(thread, file) {
    const entries = (thread.manifest as ModuleManifest).map(
      ({ name, kinds: brought, configSchema }): Entry => ({
        ...Object.fromEntries(brought.map((kind) => [kind, notHere])),
        name,
        file,
        thread,
        checkSettings: checkOf(configSchema, name, file),
      }),
    );
    return pluginOf(entries, file);
  },
};

/** Placeholder for a factory that runs in the thread. */
const notHere: Factory = () => {
  throw new Error('the module is declared isolated');
};

function checkOf(schema: unknown, name: string, file: string): Handlers['checkSettings'] {
  if (schema === undefined) return undefined;
  const refuse = (reason: string) =>
    wrongModule(file, `plugin "${name}": "configSchema" is not a valid JSON Schema${reason}`);
  if (!isObject(schema)) throw refuse('');
  try {
    return compileSettings(schema);
  } catch (error) {
    throw refuse(`: ${(error as Error).message}`);
  }
}

function pluginOf(entries: readonly Entry[], file: string): Plugin {
  let uses = 0;
  const release = async (): Promise<void> => {
    uses -= 1;
    if (uses === 0) await Promise.all(entries.map(({ dispose }) => dispose?.()));
  };
  return definePlugin({
    name: file,
    contract: 1,
    description: `Registers ${entries.map(({ name }) => `"${name}"`).join(', ')}.`,
    handlers: [...new Set(entries.map(({ name }) => name))],
    offers: [handlers],
    takes: [handlers],
    always(site) {
      const { contain } = site;
      const own = entries.map((entry) => ({ ...entry, contain }));
      refuseDuplicates(site, [...site.takeAll(handlers), ...own]);
      uses += 1;
      site.defer(release);
      // Only the last module logs the totals.
      site.warm(async () => {
        const all = site.takeAll(handlers);
        if (all.at(-1) === own.at(-1)) logTotals(site, all);
      });
      return { offers: own.map((entry) => offer(handlers, entry)) };
    },
  });
}

/** @throws ConfigError PLUGIN_DUPLICATE for two handlers of the same kind and name. */
function refuseDuplicates(site: Site<undefined>, all: readonly Handlers[]): void {
  for (const kind of kinds) {
    const seen = new Map<string, string>();
    for (const { name, file } of all.filter((entry) => entry[kind])) {
      const other = seen.get(name);
      if (other !== undefined) {
        throw site.fault(
          'PLUGIN_DUPLICATE',
          '',
          `two files provide a ${kindNames[kind]} "${name}": ${other} and ${file}`,
          {
            hint: 'use another name in one of them',
          },
        );
      }
      seen.set(name, file);
    }
  }
}

function logTotals(site: Site<undefined>, all: readonly Handlers[]): void {
  const log = site.use('log').at('[PLUGINS]');
  for (const kind of kinds) {
    const count = all.filter((entry) => entry[kind]).length;
    log.info(`Total plugins loaded: ${count} (${kindNames[kind]})`);
  }
}
