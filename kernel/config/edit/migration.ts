import { type ConfigError, type Data, type DataObject, isObject } from '#contract';
import { joinPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { modernize } from '../compatibility/to-version-three.ts';
import type { KnownPlugins } from '../known-plugins.ts';
import { cloneData } from '../plain-data.ts';
import type { Origin } from '../report.ts';
import { createReport } from '../report.ts';
import type { Change } from './edit-document.ts';
import { commentKey } from './edit-document.ts';
import { mayProtect } from './protection.ts';

/** What has to change in a document for it to be of version 3 and use present names and forms only. */
export interface Migration {
  readonly changes: readonly Change[];
  /** Old names beside present ones, when either may be intended or may protect; or an invalid version. */
  readonly problems: readonly ConfigError[];
}

/** Plans the migration of a document, which may be of version 2, or of version 3 with old names. */
export function planMigration(data: DataObject, known: KnownPlugins): Migration {
  const document = cloneData(data);
  const isOld = document['version'] === 2;
  // Old fields are renamed in version 2 only; in version 3 they would be refused.
  if (document['version'] === 3) document['version'] = 2;
  const report = createReport();
  const origin = modernize(document, known, report);
  // An old namespace beside the present one has no effect, nor has an old field in version 3.
  const isIdle = ({ code }: ConfigError) => code === 'CONFIG_CONFLICT' && !isOld;
  const conflicts = [...report.errors.filter(isIdle), ...report.warnings];
  const [idle, kept] = [false, true].map((isKept) => conflicts.filter((each) => mayProtect(each, known) === isKept));
  return {
    changes: [
      ...(isOld ? [{ pointer: '/version', value: 3 }] : []),
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

/** What brings the root fields of the transport into their present places: see `settleTransport`. */
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

/** The single certificate beside `keys` becomes one of them. */
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

/** Another name and another value for one key. */
function replaced(pointer: string, key: string, value: Data): Change[] {
  return [
    { pointer, value },
    { pointer, key },
  ];
}

/** Sets the fields of an object, whether they are there or not. */
function given(object: DataObject, pointer: string, fields: DataObject): Change[] {
  return Object.entries(fields).map(([name, value]) =>
    Object.hasOwn(object, name) ? { pointer: joinPointer(pointer, name), value } : { pointer, add: name, value },
  );
}

/** What was moved elsewhere stays as a comment. */
function retired(holder: DataObject, pointer: string, name: string): Change {
  return { pointer: joinPointer(pointer, name), key: commentKey(holder, name) };
}
