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
import { presentName } from './compatibility/old-names.ts';

/** What plugins say of themselves before any is attached. One that was not loaded is not known. */
export interface KnownPlugins {
  plugin(namespace: Namespace): Plugin | undefined;
  encoding(name: string): Encoding | undefined;
  /** True when a loaded module brings a handler of that name. */
  hasHandler(name: string): boolean;
  readonly compatibility: Compatibility;
}

/** Where no plugin is known, nor any name of other releases. */
export const nothingKnown: KnownPlugins = {
  plugin: () => undefined,
  encoding: () => undefined,
  hasHandler: () => false,
  compatibility: { namespaces: [], oldNamespaces: {}, successors: {} },
};

type Components = Readonly<Record<Namespace, Data>>;

/** What one component of an `extra_config` means. */
export interface ComponentMeaning {
  readonly namespace: Namespace;
  readonly meaning: Meaning;
}

/** What the components of an `extra_config` mean, as far as they say. */
export function meaningsOf(extra: Components, level: Level, known: KnownPlugins): readonly ComponentMeaning[] {
  const reported: ComponentMeaning[] = [];
  for (const namespace in extra) {
    const config = extra[namespace];
    const meaning = isObject(config) ? known.plugin(namespace)?.meaning?.(config, level) : undefined;
    if (meaning) reported.push({ namespace, meaning });
  }
  return reported;
}

/** True when every component is known to change nothing of that. */
export function leavesAlone(extra: Components, what: 'requests' | 'data', known: KnownPlugins): boolean {
  for (const namespace in extra) if (!known.plugin(namespace)?.leaves?.includes(what)) return false;
  return true;
}

/** The options of the router are the kernel's own. */
const OWN = 'router';

/** True when the keys in a component are data: they say nothing about what they hold. @param name also an old one. */
export function hasFreeKeys(name: string, known: KnownPlugins): boolean {
  return name === OWN || known.plugin(presentName(name, known.compatibility))?.freeKeys === true;
}

/** True for an encoding in which a backend's bytes pass on as they are. */
export function isRaw(name: string, known: KnownPlugins): boolean {
  return known.encoding(name)?.raw === true;
}

/** True for an encoding of which nothing is ever decoded. */
export function isUnread(name: string, known: KnownPlugins): boolean {
  const encoding = known.encoding(name);
  return encoding?.raw === true && !encoding.messages;
}
