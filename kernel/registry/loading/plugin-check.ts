import { ConfigError, isObject, type Plugin } from '#contract';
import { compileSchema } from '../../config/index.ts';

/** Names of all members of a plugin. Any other member is an error, because it would be ignored. */
const MEMBERS: Readonly<Record<keyof Plugin, true>> = {
  name: true,
  contract: true,
  source: true,
  handlers: true,
  keeps: true,
  description: true,
  places: true,
  independent: true,
  answersAlone: true,
  hostless: true,
  guards: true,
  requires: true,
  expects: true,
  expectsBelow: true,
  oldFields: true,
  oldHandlers: true,
  convert: true,
  inVersionFour: true,
  becomes: true,
  sample: true,
  schemes: true,
  secretSchemes: true,
  opens: true,
  freeKeys: true,
  leaves: true,
  audit: true,
  commands: true,
  meaning: true,
  always: true,
  encodings: true,
  discoveries: true,
  configSources: true,
  http: true,
  offers: true,
  takes: true,
  outside: true,
  inside: true,
};

/**
 * Pattern of plugin names such as `acme/header-injector`. It excludes names like `__proto__`, which cannot be used as
 * table keys.
 */
const NAME = /^(?!(?:__proto__|constructor|prototype)$)[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/;

/**
 * Explains why an export is not a valid plugin; null if it is.
 * A contract version other than this gateway's is rejected: the meaning of such a plugin's members is unknown.
 */
export function wrongWith(exported: unknown): string | null {
  if (typeof exported !== 'object' || exported === null)
    return 'it exports no plugin: write `export const plugin = definePlugin({ ... })`';
  const plugin = exported as Partial<Record<keyof Plugin, unknown>>;
  const { name, contract, places = [] } = plugin;
  if (typeof name !== 'string' || !NAME.test(name))
    return 'its "name" must be a namespace, as in "acme/header-injector"';
  if (contract === undefined) return `plugin "${name}" does not declare its contract version: add \`contract: 1\``;
  if (contract !== 1)
    return `plugin "${name}" is written for version ${String(contract)} of the contract, but this gateway has version 1`;
  const unknown = Object.keys(plugin).find((member) => !Object.hasOwn(MEMBERS, member));
  if (unknown === 'isolate') return notIsolated(name);
  if (unknown !== undefined) return `plugin "${name}" has an unknown member: "${unknown}"`;
  if (typeof plugin.description !== 'string') return `plugin "${name}" requires a "description" of one sentence`;
  if (!Array.isArray(places)) return `"places" of plugin "${name}" must be an array`;
  if (!isSchemes(plugin.secretSchemes ?? []))
    return `"secretSchemes" of plugin "${name}" must be a list of names such as "acme"`;
  for (const [index, place] of places.entries()) {
    const wrong = wrongWithPlace(place);
    if (wrong !== null) return `places[${index}] of plugin "${name}" ${wrong}`;
  }
  return null;
}

/** True for names that references to secrets can begin with. */
function isSchemes(value: unknown): boolean {
  return Array.isArray(value) && value.every((scheme) => typeof scheme === 'string' && /^[a-z][a-z\d-]*$/.test(scheme));
}

function notIsolated(name: string): string {
  return `plugin "${name}" cannot be isolated. Only modules of handlers support "isolate", because the functions, streams and ports that a plugin attaches cannot leave the thread of the gateway`;
}

function wrongWithPlace(place: unknown): string | null {
  const { at, schema, attach } = (isObject(place) ? place : {}) as Record<string, unknown>;
  const isLevel = ['service', 'endpoint', 'backend', 'agent'].includes(at as string);
  if (!isLevel || typeof attach !== 'function') return 'must be created by atService, atEndpoint, atBackend or atAgent';
  try {
    compileSchema(schema as never)({}, '');
    return null;
  } catch (error) {
    return `has a schema that cannot be used: ${error instanceof ConfigError ? error.message : String(error)}`;
  }
}
