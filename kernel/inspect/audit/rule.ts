import type { EndpointConfig, Namespace } from '#contract';
import type { Component, Level, Summary } from './summary.ts';

/** From the gravest to the mildest. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const;

export type Severity = (typeof severities)[number];

/** One thing the audit looks for. */
export interface Rule {
  /** Chapter, section, number; never given to another rule. */
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
  readonly find: (summary: Summary) => readonly string[];
}

/** Objects to what is not there. @param pointer of what should hold it. */
export function lacking(pointer: string, isThere: (summary: Summary) => boolean): Rule['find'] {
  return (summary) => (isThere(summary) ? [] : [pointer]);
}

/** Objects to one setting. */
export function setting(pointer: string, isWrong: (summary: Summary) => boolean): Rule['find'] {
  return (summary) => (isWrong(summary) ? [pointer] : []);
}

/** Objects to components. @param levels where they count; default: everywhere. */
export function using(
  namespaces: readonly string[],
  levels?: readonly Level[],
  isWrong: (component: Component) => boolean = () => true,
): Rule['find'] {
  return ({ components }) =>
    components
      .filter(({ namespace, level }) => namespaces.includes(namespace) && (!levels || levels.includes(level)))
      .filter(isWrong)
      .map(({ pointer }) => pointer);
}

/** Objects to a plugin that is named in a `plugin/…` component. */
export function injecting(kind: string, name: string): Rule['find'] {
  return using([`plugin/${kind}`], undefined, ({ settings }) => [settings['name']].flat().includes(name));
}

/** Objects to endpoints. @param field of the endpoint that is wrong; default: the endpoint itself. */
export function endpointsWhere(isWrong: (endpoint: EndpointConfig) => boolean, field = ''): Rule['find'] {
  return ({ endpoints }) =>
    endpoints.filter(({ config }) => isWrong(config)).map(({ pointer }) => (field ? `${pointer}/${field}` : pointer));
}

/** True for the endpoint that takes what no other does: it passes everything on, whatever is written. */
export function isCatchall({ endpoint }: EndpointConfig): boolean {
  return endpoint === '/__catchall';
}

/** True when one of the components is used. */
export function has(namespaces: readonly string[], levels?: readonly Level[]): (summary: Summary) => boolean {
  const find = using(namespaces, levels);
  return (summary) => find(summary).length > 0;
}
