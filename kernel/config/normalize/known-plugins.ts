import {
  type Compatibility,
  type Data,
  type Encoding,
  isObject,
  type Level,
  type Meaning,
  type Namespace,
  type Plugin,
} from '#contract';
import { presentName } from '../compatibility/old-names.ts';

/** Plugin declarations, available before any plugin is attached. Plugins that were not loaded are unknown. */
export interface KnownPlugins {
  plugin(namespace: Namespace): Plugin | undefined;
  encoding(name: string): Encoding | undefined;
  /** True if a loaded module provides a handler of that name. */
  hasHandler(name: string): boolean;
  readonly compatibility: Compatibility;
}

/** No known plugins and no names from other releases. */
export const nothingKnown: KnownPlugins = {
  plugin: () => undefined,
  encoding: () => undefined,
  hasHandler: () => false,
  compatibility: { namespaces: [], oldNamespaces: {}, successors: {} },
};

type Components = Readonly<Record<Namespace, Data>>;

/** Declared meaning of one component of an `extra_config`. */
export interface ComponentMeaning {
  readonly namespace: Namespace;
  readonly meaning: Meaning;
}

/** Meanings of the components of an `extra_config` that declare one. */
export function meaningsOf(extra: Components, level: Level, known: KnownPlugins): readonly ComponentMeaning[] {
  const reported: ComponentMeaning[] = [];
  for (const namespace in extra) {
    const config = extra[namespace];
    const meaning = isObject(config) ? known.plugin(namespace)?.meaning?.(config, level) : undefined;
    if (meaning) reported.push({ namespace, meaning });
  }
  return reported;
}

/** Whether all components are known to leave requests or data unchanged. */
export function leavesAlone(extra: Components, what: 'requests' | 'data', known: KnownPlugins): boolean {
  for (const namespace in extra) if (!known.plugin(namespace)?.leaves?.includes(what)) return false;
  return true;
}

/** Declaration of the router options, which belong to the kernel and not to a plugin. */
const OWN = 'router';

/** True if the author of a configuration chooses the keys in a component, so that they do not describe their values. @param name may be an old one. */
export function hasFreeKeys(name: string, known: KnownPlugins): boolean {
  return name === OWN || known.plugin(presentName(name, known.compatibility))?.freeKeys === true;
}

/** True for an encoding that passes a backend's bytes through unchanged. */
export function isRaw(name: string, known: KnownPlugins): boolean {
  return known.encoding(name)?.raw === true;
}

/** True for an encoding whose content is never decoded. */
export function isUnread(name: string, known: KnownPlugins): boolean {
  const encoding = known.encoding(name);
  return encoding?.raw === true && !encoding.messages;
}
