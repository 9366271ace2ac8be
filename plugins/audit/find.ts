import type { AuditedComponent, AuditRule, AuditSubject, EndpointConfig, Level } from '#contract';

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
  return using([`plugin/${kind}`], undefined, (component) => names(component, name));
}

/** The same, also where it is an old form of something else. */
export function writtenInjecting(kind: string, name: string): Pick<AuditRule, 'find' | 'ofDocument'> {
  const isMeant = (component: AuditedComponent) => component.namespace === `plugin/${kind}` && names(component, name);
  return { ofDocument: true, find: ({ written }) => written.filter(isMeant).map(({ pointer }) => pointer) };
}

function names({ settings }: AuditedComponent, name: string): boolean {
  return [settings['name']].flat().includes(name);
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
