import type { AuditedComponent, AuditRule, AuditSubject, EndpointConfig, Level } from '#contract';

/** Reports a missing setting. @param pointer to the object that should contain it. */
export function lacking(pointer: string, isThere: (audited: AuditSubject) => boolean): AuditRule['find'] {
  return (audited) => (isThere(audited) ? [] : [pointer]);
}

/** Reports an invalid setting. */
export function setting(pointer: string, isWrong: (audited: AuditSubject) => boolean): AuditRule['find'] {
  return (audited) => (isWrong(audited) ? [pointer] : []);
}

/** Reports components. @param levels on which they are reported; default: all. */
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

/** Reports a plugin that is listed in a `plugin/…` component. */
export function injecting(kind: string, name: string): AuditRule['find'] {
  return using([`plugin/${kind}`], undefined, (component) => names(component, name));
}

/** Reports a listed plugin, even if it is the old form of another component. */
export function writtenInjecting(kind: string, name: string): Pick<AuditRule, 'find' | 'ofDocument'> {
  const isMeant = (component: AuditedComponent) => component.namespace === `plugin/${kind}` && names(component, name);
  return { ofDocument: true, find: ({ written }) => written.filter(isMeant).map(({ pointer }) => pointer) };
}

function names({ settings }: AuditedComponent, name: string): boolean {
  return [settings['name']].flat().includes(name);
}

/** Reports endpoints. @param field the invalid field of the endpoint; default: the endpoint itself. */
export function endpointsWhere(isWrong: (endpoint: EndpointConfig) => boolean, field = ''): AuditRule['find'] {
  return ({ endpoints }) =>
    endpoints.filter(({ config }) => isWrong(config)).map(({ pointer }) => (field ? `${pointer}/${field}` : pointer));
}

/** Returns whether an endpoint serves the requests that match no other: it forwards everything, regardless of its settings. */
export function isCatchall({ endpoint }: EndpointConfig): boolean {
  return endpoint === '/__catchall';
}

/** Returns whether one of the components is used. */
export function has(namespaces: readonly string[], levels?: readonly Level[]): (audited: AuditSubject) => boolean {
  const find = using(namespaces, levels);
  return (audited) => find(audited).length > 0;
}
