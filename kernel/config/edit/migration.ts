import { type ConfigError, type Data, type DataObject, isObject } from '#contract';
import { joinPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { isCurrent, modernize } from '../compatibility/to-version-three.ts';
import type { Origin } from '../issues/report.ts';
import { createReport } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { cloneData } from '../normalize/plain-data.ts';
import type { Change } from './edit-document.ts';
import { commentKey } from './edit-document.ts';
import { mayProtect } from './protection.ts';

/** Changes that bring a document to the wanted version with current names and forms only. */
export interface Migration {
  readonly changes: readonly Change[];
  /**
   * Problems that prevent a migration: an invalid version, or an old name next to the current one, if the author may
   * have intended either or if either may be protective.
   */
  readonly problems: readonly ConfigError[];
}

/**
 * Plans the migration of a version 2 document, or of a later one with old names.
 * @param target version of the result; by default that of the document, and 3 for version 2.
 */
export function planMigration(data: DataObject, known: KnownPlugins, target?: 3 | 4): Migration {
  const document = cloneData(data);
  const isOld = document['version'] === 2;
  const version = target ?? (isOld ? 3 : undefined);
  // Old fields are renamed in version 2 only; later versions would reject them.
  if (isCurrent(document['version'])) document['version'] = 2;
  const report = createReport();
  const origin = modernize(document, known, report);
  // An old namespace next to the current one has no effect; neither does an old field in version 3.
  const isIdle = ({ code }: ConfigError) => code === 'CONFIG_CONFLICT' && !isOld;
  const conflicts = [...report.errors.filter(isIdle), ...report.warnings];
  const [idle, kept] = [false, true].map((isKept) => conflicts.filter((each) => mayProtect(each, known) === isKept));
  return {
    changes: [
      ...(version !== undefined && version !== data['version'] ? [{ pointer: '/version', value: version }] : []),
      ...origin.renames(),
      ...origin.replacements(),
      ...transportChanges(document, origin),
      ...idle!.map(({ pointer }) => silenced(data, pointer)),
    ],
    problems: [...report.errors.filter((error) => !isIdle(error)), ...kept!],
  };
}

function silenced(data: DataObject, pointer: string): Change {
  const steps = parsePointer(pointer);
  const holder = valueAt(data, steps.slice(0, -1)) as DataObject;
  return { pointer, key: commentKey(holder, steps.at(-1)!) };
}

/** Changes that move the transport fields at the root to the places where the current version expects them. */
function transportChanges(document: DataObject, origin: Origin): Change[] {
  const changes: Change[][] = [];
  if (document['allow_insecure_connections'] === true) {
    const { client_tls: tls } = document;
    const moved = { allow_insecure_connections: true };
    if (tls === undefined) changes.push(replaced('/allow_insecure_connections', 'client_tls', moved));
    else if (isObject(tls)) {
      changes.push(given(tls, '/client_tls', moved), [retired(document, '', 'allow_insecure_connections')]);
    }
  }
  const components = document['extra_config'];
  const router = isObject(components) ? components['router'] : undefined;
  if (isObject(router) && router['use_h2c'] === true) {
    const at = origin.pointer('/extra_config/router');
    changes.push(given(document, '', { use_h2c: true }), [retired(router, at, 'use_h2c')]);
  }
  return [...changes.flat(), ...pairChanges(document['tls'])];
}

/** Changes that move the single certificate, `public_key` and `private_key`, into the list `keys`. */
function pairChanges(tls: Data | undefined): Change[] {
  if (!isObject(tls)) return [];
  const names = ['public_key', 'private_key'].filter((name) => tls[name] !== undefined);
  const [first, ...others] = names;
  if (first === undefined) return [];
  const pair = Object.fromEntries(names.map((name) => [name, tls[name]!]));
  if (Array.isArray(tls['keys'])) {
    const keys = { pointer: '/tls/keys', value: [...tls['keys'], pair] };
    return [keys, ...names.map((name) => retired(tls, '/tls', name))];
  }
  return [...replaced(`/tls/${first}`, 'keys', [pair]), ...others.map((name) => retired(tls, '/tls', name))];
}

/** Changes that rename a key and replace its value. */
function replaced(pointer: string, key: string, value: Data): Change[] {
  return [
    { pointer, value },
    { pointer, key },
  ];
}

/** Changes that set fields of an object, whether or not they exist already. */
function given(object: DataObject, pointer: string, fields: DataObject): Change[] {
  return Object.entries(fields).map(([name, value]) =>
    Object.hasOwn(object, name) ? { pointer: joinPointer(pointer, name), value } : { pointer, add: name, value },
  );
}

/** Changes that turn a setting into a comment after it was moved to another place. */
function retired(holder: DataObject, pointer: string, name: string): Change {
  return { pointer: joinPointer(pointer, name), key: commentKey(holder, name) };
}
