import { ConfigError, findNear } from '#contract';
import { type Factory, type Kind, kindNames } from './handlers.ts';

/** An element of a module's export, as written. */
type Written = Readonly<Record<string, unknown>>;

/** A parsed element of a module's export. */
export interface ModuleElement {
  readonly name: string;
  /** Whether the module must run in a thread of its own. */
  readonly isolate: boolean;
  readonly factories: Readonly<Partial<Record<Kind, Factory>>>;
  /** The schema as written; undefined for none. */
  readonly configSchema: unknown;
  readonly dispose: (() => void | Promise<void>) | undefined;
}

export const kinds = Object.keys(kindNames) as Kind[];
const fields = ['name', 'apiVersion', 'configSchema', 'isolate', 'dispose', ...kinds];

/** Exports under which ported modules provide one kind of handlers. */
const registerers: Readonly<Record<string, readonly Kind[]>> = {
  MiddlewareRegisterer: ['middleware'],
  ModifierRegisterer: ['requestModifier', 'responseModifier'],
  ClientRegisterer: ['httpClient'],
  HandlerRegisterer: ['httpServer'],
};

/**
 * Parses the elements that a module exports: objects or lists of objects, as `plugin` or under the names of ported
 * modules.
 * @throws ConfigError PLUGIN_MODULE
 */
export function readElements(module: Written, file: string): ModuleElement[] {
  const elements = writtenIn(module, file).map((each) => readElement(each, file));
  const other = elements.find(({ isolate }) => !isolate);
  if (other && elements.some(({ isolate }) => isolate)) {
    const hint = 'set "isolate": true in all of them, or move it to a separate file';
    throw wrongModule(file, `plugin "${other.name}" is not isolated, but another one of the same file is`, hint);
  }
  return elements;
}

/** Returns each exported element once. */
function writtenIn(module: Written, file: string): Written[] {
  const results = new Set<Written>(asList(module['plugin']).filter(hasForm));
  for (const [name, expected] of Object.entries(registerers)) {
    for (const written of asList(module[name])) {
      if (!expected.some((kind) => kind in written)) {
        throw wrongModule(file, `${name} provides no ${expected.join(' and no ')}`);
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
function readElement(written: Written, file: string): ModuleElement {
  const { name, apiVersion, configSchema, dispose, isolate = false } = written;
  if (typeof name !== 'string' || name === '') {
    throw wrongModule(
      file,
      '"name" is missing',
      'set "name" in the module to the name that configurations use for the plugin',
    );
  }
  const refuse = (reason: string, hint?: string) => wrongModule(file, `plugin "${name}": ${reason}`, hint);
  if (apiVersion !== 1) throw refuse(`"apiVersion" is ${shown(apiVersion)}`, '"apiVersion": 1');
  for (const field of Object.keys(written)) {
    if (fields.includes(field)) continue;
    const near = findNear(field, fields);
    throw refuse(`unknown field '${field}'`, near ? `did you mean '${near.name}'?` : `one of ${fields.join(', ')}`);
  }
  if (typeof isolate !== 'boolean') throw refuse('"isolate" must be true or false');
  const brought = kinds.filter((kind) => written[kind] !== undefined);
  if (brought.length === 0) throw refuse('provides nothing', `one of ${kinds.join(', ')}`);
  for (const field of [...brought, ...(dispose === undefined ? [] : ['dispose'])]) {
    if (typeof written[field] !== 'function') throw refuse(`"${field}" is not a function`);
  }
  if (isolate && brought.includes('httpServer')) {
    const reason =
      '"httpServer" cannot be isolated: its Node.js messages and streams cannot leave the thread of the gateway';
    throw refuse(reason, 'move "httpServer" to a separate file without "isolate"');
  }
  const factories = Object.fromEntries(brought.map((kind) => [kind, (written[kind] as Factory).bind(written)]));
  return { name, isolate, factories, configSchema, dispose: (dispose as ModuleElement['dispose'])?.bind(written) };
}

/** Creates the error for an invalid module. Code: PLUGIN_MODULE. */
export function wrongModule(file: string, reason: string, hint?: string): ConfigError {
  return new ConfigError('PLUGIN_MODULE', '', `${file}: ${reason}`, { hint });
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value);
}
