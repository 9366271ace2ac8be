import { type Data, type DataObject, type Fix, isObject } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import { createOrigin, type Origin, type Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { showValue } from '../schema/problem.ts';
import { OLD_FIELDS, renamedNamespace } from './old-names.ts';

/** Hint for a version newer than the supported ones, whose fields may differ. */
const NEWER = 'set "version": 4 and run sluice check again: it lists the fields that version 4 does not support';

/**
 * Converts a document of version 2 to version 3, and gives a document of any version current namespace names, without
 * comment keys among the namespaces. Modifies the document.
 *
 * Codes: CONFIG_VERSION; CONFIG_CONFLICT if an old and a current name of the same thing appear together, which for
 * namespaces is a warning: the current one wins; a warning CONFIG_OLD_NAME for an old namespace, or an old handler
 * name, in a version 3 document; SCHEMA_UNKNOWN_KEY for an old field of a component there.
 */
export function modernize(document: DataObject, known: KnownPlugins, report: Report): Origin {
  const origin = createOrigin();
  const { version } = document;
  const isOld = version === 2;
  if (!isCurrent(version) && !isOld) {
    const shown = version === undefined ? 'none' : showValue(version);
    const isMissing = version === undefined;
    const isText = version === '4' || version === '3' || version === '2';
    const newer = Number.isInteger(version) && (version as number) > 4 ? NEWER : undefined;
    report.error('CONFIG_VERSION', isMissing ? '' : '/version', `unsupported version: ${shown} (want: 3 or 4)`, {
      hint: isMissing ? '"version": 3' : isText ? version : newer,
      fix: isText ? { value: Number(version) } : undefined,
    });
  }
  document['version'] = version === 4 ? 4 : 3;
  const renew = (holder: Data | undefined, pointer: string): void => {
    if (!isObject(holder)) return;
    if (isOld) renameKeys(holder, pointer, (key) => getOwn(OLD_FIELDS, key), origin, report.error);
    if (isObject(holder['extra_config']))
      renewComponents(holder['extra_config'], pointer, isOld, origin, known, report);
  };
  renew(document, '');
  for (const list of ['endpoints', 'async_agent']) {
    forEachItem(document[list], `/${list}`, (item, pointer) => {
      renew(item, pointer);
      if (isObject(item)) forEachItem(item['backend'], `${pointer}/backend`, renew);
    });
  }
  return origin;
}

/** Whether a version of the format needs no conversion. */
export function isCurrent(version: Data | undefined): version is 3 | 4 {
  return version === 3 || version === 4;
}

/**
 * Reports components that KrakenD rejects in version 4 of the format, because it has removed them.
 * Code: a warning, CONFIG_REMOVED.
 */
export function reportRemoved(document: DataObject, origin: Origin, known: KnownPlugins, report: Report): void {
  const { version, extra_config: components } = document;
  if (version !== 4 || !isObject(components)) return;
  for (const [namespace, hint] of Object.entries(known.compatibility.removed ?? {})) {
    if (!Object.hasOwn(components, namespace)) continue;
    const message = `'${namespace}' works here, but version 4 of the format no longer has it: KrakenD 3.0 rejects it`;
    const where = origin.pointer(joinPointer('/extra_config', namespace));
    report.warn('CONFIG_REMOVED', where, message, { hint });
  }
}

/**
 * Warns of a configuration version that is converted to the current one.
 *
 * Code: a warning, CONFIG_OLD_VERSION.
 */
export function reportOldVersion({ version }: DataObject, report: Report): void {
  if (version !== 2) return;
  const hint = 'sluice migrate --write brings the file to version 3';
  report.warn('CONFIG_OLD_VERSION', '/version', 'version 2 is outdated: the file is read as version 3', { hint });
}

function renewComponents(
  components: DataObject,
  holder: string,
  isOld: boolean,
  origin: Origin,
  known: KnownPlugins,
  report: Report,
): void {
  const pointer = `${holder}/extra_config`;
  for (const key of Object.keys(components)) if (/^[@$_#]/.test(key)) delete components[key];
  const reportOld = (key: string, name: string) =>
    report.warn('CONFIG_OLD_NAME', joinPointer(origin.pointer(pointer), key), oldName(key, name), {
      hint: name,
      fix: { key: name },
    });
  const renamed = (key: string) => renamedNamespace(key, known.compatibility);
  renameKeys(components, pointer, renamed, origin, report.warn, isOld ? undefined : reportOld);
  for (const namespace of Object.keys(components)) {
    const component = components[namespace];
    const { oldFields, oldHandlers } = known.plugin(namespace) ?? {};
    if (!isObject(component)) continue;
    const inner = joinPointer(pointer, namespace);
    if (oldFields) {
      const refuse = (key: string, name: string) =>
        report.error('SCHEMA_UNKNOWN_KEY', joinPointer(origin.pointer(inner), key), oldName(key, name), {
          hint: name,
          fix: { key: name },
        });
      renameKeys(component, inner, (key) => getOwn(oldFields, key), origin, report.error, isOld ? undefined : refuse);
    }
    if (oldHandlers) {
      const renamedHandler = (name: string) => (known.hasHandler(name) ? undefined : getOwn(oldHandlers, name));
      renewHandlers(component, inner, renamedHandler, origin, report, isOld);
    }
  }
}

function oldName(name: string, present: string): string {
  return `'${name}' is an old name of '${present}': sluice migrate renames it`;
}

/** Renames handlers that a component lists in `name` to their current names, along with the settings next to the list. */
function renewHandlers(
  component: DataObject,
  pointer: string,
  renamed: (name: string) => string | undefined,
  origin: Origin,
  report: Report,
  isOld: boolean,
): void {
  const { name: names } = component;
  const warn = (where: string, name: string, present: string, fix: Fix) =>
    report.warn('CONFIG_OLD_NAME', where, oldName(name, present), { hint: present, fix });
  const renew = (name: Data, at: string): Data => {
    const present = typeof name === 'string' ? renamed(name) : undefined;
    if (present === undefined) return name;
    if (!isOld) warn(origin.pointer(at), name as string, present, { value: present });
    origin.replaced(at, present);
    return present;
  };
  const at = joinPointer(pointer, 'name');
  if (Array.isArray(names)) component['name'] = names.map((name, index) => renew(name, joinPointer(at, index)));
  else if (names !== undefined) component['name'] = renew(names, at);
  const warnOfKey = (key: string, present: string) =>
    warn(joinPointer(origin.pointer(pointer), key), key, present, { key: present });
  renameKeys(component, pointer, renamed, origin, report.error, isOld ? undefined : warnOfKey);
}

/** Renames keys. Values are kept; the order of keys is not. */
function renameKeys(
  object: DataObject,
  pointer: string,
  renamed: (key: string) => string | undefined,
  origin: Origin,
  complain: Report['error'],
  report?: (key: string, name: string) => void,
): void {
  for (const key of Object.keys(object)) {
    const name = renamed(key);
    if (name === undefined) continue;
    const value = object[key]!;
    delete object[key];
    if (Object.hasOwn(object, name)) {
      const where = joinPointer(origin.pointer(pointer), key);
      complain('CONFIG_CONFLICT', where, `'${key}' is an old name of '${name}', which is also set`, {
        related: [origin.pointer(joinPointer(pointer, name))],
      });
      continue;
    }
    report?.(key, name);
    object[name] = value;
    origin.renamed(pointer, name, key);
  }
}

function forEachItem(list: Data | undefined, pointer: string, visit: (item: Data, pointer: string) => void): void {
  if (!Array.isArray(list)) return;
  for (const [index, item] of list.entries()) visit(item, `${pointer}/${index}`);
}

function getOwn(names: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(names, key) ? names[key] : undefined;
}

/**
 * Converts the transport fields at the root to their current form: removes objects that are `null` and moves settings
 * from old places and names to current ones. Modifies the document.
 *
 * Code: a warning, CONFIG_OLD_FIELD.
 */
export function settleTransport(document: DataObject, origin: Origin, report: Report): void {
  for (const field of ['tls', 'client_tls']) if (document[field] === null) delete document[field];
  const old = (pointer: string, message: string, hint: string) =>
    report.warn('CONFIG_OLD_FIELD', origin.pointer(pointer), message, { hint });

  if (document['allow_insecure_connections'] === true) {
    const given = document['client_tls'] ?? {};
    if (isObject(given)) document['client_tls'] = { ...given, allow_insecure_connections: true };
    old(
      '/allow_insecure_connections',
      "certificates of backends are not checked: 'allow_insecure_connections' is an old field, which sluice migrate moves",
      '"client_tls": {"allow_insecure_connections": true}',
    );
  }
  const components = document['extra_config'];
  const router = isObject(components) ? components['router'] : undefined;
  if (isObject(router) && router['use_h2c'] === true) {
    document['use_h2c'] = true;
    old('/extra_config/router/use_h2c', "'use_h2c' belongs at the root: sluice migrate moves it", '"use_h2c": true');
  }
  const tls = document['tls'];
  if (isObject(tls) && (tls['public_key'] !== undefined || tls['private_key'] !== undefined)) {
    const pointer = tls['public_key'] === undefined ? '/tls/private_key' : '/tls/public_key';
    old(
      pointer,
      'a certificate next to keys is the old form: sluice migrate moves it into keys',
      '"keys": [{"public_key": "…", "private_key": "…"}]',
    );
  }
}
