import type { EndpointConfig, ServiceConfig } from './config.ts';
import type { DataObject } from './data.ts';
import type { Level, Namespace } from './plugin.ts';

/** A component where it stands. What it is configured with is not yet validated. */
export interface AuditedComponent {
  readonly namespace: Namespace;
  readonly level: Level;
  /** By present names. */
  readonly pointer: string;
  readonly settings: Readonly<DataObject>;
}

/** A part of the configuration and its pointer, by present names. */
export interface AuditedPart<T> {
  readonly config: T;
  readonly pointer: string;
}

/** What the audit asks of files that the configuration names. */
export interface AuditedFiles {
  /** The text of a file; undefined when it cannot be read. */
  text(path: string): string | undefined;
  /** True when accounts other than the owner and the group may write there. */
  isOpen(path: string): boolean;
}

/** What rules look at. */
export interface AuditSubject {
  readonly config: ServiceConfig;
  /** Root fields by name, those that this release does not serve included. */
  readonly root: Readonly<DataObject>;
  readonly endpoints: readonly AuditedPart<EndpointConfig>[];
  readonly agents: readonly AuditedPart<DataObject>[];
  /** Of endpoints and agents together. */
  readonly backendCount: number;
  readonly components: readonly AuditedComponent[];
  readonly files: AuditedFiles;
  /** Pointers of secrets that stand in the configuration as they are. */
  secrets(): readonly string[];
}

/** From the gravest to the mildest. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const;

export type Severity = (typeof severities)[number];

/** One thing the audit looks for: in `Plugin.audit`, beside those that the gateway has. */
export interface AuditRule {
  /** Chapter, section, number, or for a plugin of another make its namespace and a word; never given to another rule. */
  readonly id: string;
  readonly severity: Severity;
  /** What to do about it, in one sentence. */
  readonly message: string;
  /** Components the message speaks for: the rule is silent where the gateway has none of them. */
  readonly recommends?: readonly Namespace[];
  /** Rules that say more about the same place: where one of them is told, this one is not. */
  readonly yieldsTo?: readonly string[];
  /** What the configuration alone cannot decide is told, and does not fail the audit. */
  readonly isNote?: true;
  /** Pointers, by present names, of everything the rule objects to; the rule fires when there is any. */
  readonly find: (audited: AuditSubject) => readonly string[];
}

/** Objects to what is not there. @param pointer of what should hold it. */
export function lacking(pointer: string, isThere: (audited: AuditSubject) => boolean): AuditRule['find'] {
  return (audited) => (isThere(audited) ? [] : [pointer]);
}

/** Objects to one setting. */
export function setting(pointer: string, isWrong: (audited: AuditSubject) => boolean): AuditRule['find'] {
  return (audited) => (isWrong(audited) ? [pointer] : []);
}

/** Objects to components. @param levels where they count; default: everywhere. */
export function using(
  namespaces: readonly string[],
  levels?: readonly Level[],
  isWrong: (component: AuditedComponent) => boolean = () => true,
): AuditRule['find'] {
  return ({ components }) =>
    components
      .filter(({ namespace, level }) => namespaces.includes(namespace) && (!levels || levels.includes(level)))
      .filter(isWrong)
      .map(({ pointer }) => pointer);
}

/** Objects to a plugin that is named in a `plugin/…` component. */
export function injecting(kind: string, name: string): AuditRule['find'] {
  return using([`plugin/${kind}`], undefined, ({ settings }) => [settings['name']].flat().includes(name));
}

/** Objects to endpoints. @param field of the endpoint that is wrong; default: the endpoint itself. */
export function endpointsWhere(isWrong: (endpoint: EndpointConfig) => boolean, field = ''): AuditRule['find'] {
  return ({ endpoints }) =>
    endpoints.filter(({ config }) => isWrong(config)).map(({ pointer }) => (field ? `${pointer}/${field}` : pointer));
}

/** True for the endpoint that takes what no other does: it passes everything on, whatever is written. */
export function isCatchall({ endpoint }: EndpointConfig): boolean {
  return endpoint === '/__catchall';
}

/** True when one of the components is used. */
export function has(namespaces: readonly string[], levels?: readonly Level[]): (audited: AuditSubject) => boolean {
  const find = using(namespaces, levels);
  return (audited) => find(audited).length > 0;
}
