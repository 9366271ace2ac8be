import {
  type AdaptModule,
  ConfigError,
  definePlugin,
  findNear,
  isObject,
  offer,
  type Plugin,
  type Site,
} from '#contract';
import { type Handlers, handlers, type Kind, kindNames } from './lib/handlers.ts';
import { compileSettings } from './lib/settings.ts';

/** One element of what a module exports, as it is written. */
type Written = Readonly<Record<string, unknown>>;

/** A module's element, read. */
interface Entry extends Handlers {
  readonly dispose: (() => void | Promise<void>) | undefined;
}

const kinds = Object.keys(kindNames) as Kind[];
const fields = ['name', 'apiVersion', 'configSchema', 'isolate', 'dispose', ...kinds];

/** Exports under which ported modules bring one kind of handlers. */
const registerers: Readonly<Record<string, readonly Kind[]>> = {
  MiddlewareRegisterer: ['middleware'],
  ModifierRegisterer: ['requestModifier', 'responseModifier'],
  ClientRegisterer: ['httpClient'],
  HandlerRegisterer: ['httpServer'],
};

/**
 * Makes a plugin of a module that exports `plugin`, or one of `registerers`, as an object or a list of objects of the form
 * `{ name, apiVersion: 1, configSchema?, middleware?, requestModifier?, responseModifier?, httpClient?, httpServer?, dispose? }`.
 * It offers what they bring to every configuration.
 *
 * Code: PLUGIN_MODULE; of a configuration PLUGIN_DUPLICATE.
 */
export const adapt: AdaptModule = (module, file) => {
  const written = writtenIn(module, file);
  if (written.length === 0) return undefined;
  return pluginOf(
    written.map((each) => read(each, file)),
    file,
  );
};

/** Everything of the form that a module exports, each once. */
function writtenIn(module: Written, file: string): Written[] {
  const results = new Set<Written>(asList(module['plugin']).filter(hasForm));
  for (const [name, expected] of Object.entries(registerers)) {
    for (const written of asList(module[name])) {
      if (!expected.some((kind) => kind in written)) {
        throw wrong(file, `${name} brings no ${expected.join(' and no ')}`);
      }
      results.add(written);
    }
  }
  return [...results];
}

function asList(given: unknown): Written[] {
  return [given].flat().filter((each): each is Written => typeof each === 'object' && each !== null);
}

function hasForm(written: Written): boolean {
  return 'apiVersion' in written || kinds.some((kind) => kind in written);
}

/** @throws ConfigError PLUGIN_MODULE */
function read(written: Written, file: string): Entry {
  const { name, apiVersion, configSchema, dispose, isolate } = written;
  if (typeof name !== 'string' || name === '')
    throw wrong(file, '"name" is missing', 'the name that configurations use');
  const refuse = (reason: string, hint?: string) => wrong(file, `plugin "${name}": ${reason}`, hint);
  if (apiVersion !== 1) throw refuse(`"apiVersion" is ${shown(apiVersion)}`, '"apiVersion": 1');
  for (const field of Object.keys(written)) {
    if (fields.includes(field)) continue;
    const near = findNear(field, fields);
    throw refuse(`unknown field '${field}'`, near ? `did you mean '${near.name}'?` : `one of ${fields.join(', ')}`);
  }
  if (isolate !== undefined && isolate !== false) {
    throw refuse('"isolate" is not supported yet: it would run in the process of the gateway', 'leave it out');
  }
  const brought = kinds.filter((kind) => written[kind] !== undefined);
  if (brought.length === 0) throw refuse('brings nothing', `one of ${kinds.join(', ')}`);
  for (const field of [...brought, ...(dispose === undefined ? [] : ['dispose'])]) {
    if (typeof written[field] !== 'function') throw refuse(`"${field}" is no function`);
  }
  const factories = Object.fromEntries(brought.map((kind) => [kind, (written[kind] as () => unknown).bind(written)]));
  return {
    ...factories,
    name,
    file,
    checkSettings: configSchema === undefined ? undefined : compileSchema(configSchema, refuse),
    dispose: (dispose as Entry['dispose'])?.bind(written),
  };
}

function compileSchema(schema: unknown, refuse: (reason: string) => ConfigError): Handlers['checkSettings'] {
  if (!isObject(schema)) throw refuse('"configSchema" is no JSON Schema');
  try {
    return compileSettings(schema);
  } catch (error) {
    throw refuse(`"configSchema" is no JSON Schema: ${(error as Error).message}`);
  }
}

function wrong(file: string, reason: string, hint?: string): ConfigError {
  return new ConfigError('PLUGIN_MODULE', '', `${file}: ${reason}`, { hint });
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value);
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
    description: `Brings ${entries.map(({ name }) => `"${name}"`).join(', ')}.`,
    handlers: [...new Set(entries.map(({ name }) => name))],
    offers: [handlers],
    takes: [handlers],
    always(site) {
      const { contain } = site;
      const own = entries.map((entry) => ({ ...entry, contain }));
      refuseDuplicates(site, [...site.takeAll(handlers), ...own]);
      uses += 1;
      site.defer(release);
      // The last one of all tells how many there are.
      site.warm(async () => {
        const all = site.takeAll(handlers);
        if (all.at(-1) === own.at(-1)) logTotals(site, all);
      });
      return { offers: own.map((entry) => offer(handlers, entry)) };
    },
  });
}

/** @throws ConfigError PLUGIN_DUPLICATE for two of one kind by one name. */
function refuseDuplicates(site: Site<undefined>, all: readonly Handlers[]): void {
  for (const kind of kinds) {
    const seen = new Map<string, string>();
    for (const { name, file } of all.filter((entry) => entry[kind])) {
      const other = seen.get(name);
      if (other !== undefined) {
        throw site.fault(
          'PLUGIN_DUPLICATE',
          '',
          `two files bring a ${kindNames[kind]} "${name}": ${other} and ${file}`,
          {
            hint: 'another name in one of them',
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
