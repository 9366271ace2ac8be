import { readFileSync, statSync } from 'node:fs';
import {
  type AuditedComponent,
  type AuditedFiles,
  type AuditedSection,
  type AuditSubject,
  type Data,
  type DataObject,
  type EndpointConfig,
  isObject,
  type Level,
  type ServiceConfig,
} from '#contract';
import {
  joinPointer,
  type KnownPlugins,
  markedLiterals,
  openNeighbors,
  presentName,
  secretLiterals,
} from '../../config/index.ts';

/**
 * Components and parts of a configuration, in order of declaration.
 * @param isWritten true for a pointer to a value that the document contains: others are inherited, or copies, and are not
 *   reported as secrets. Default: true for all.
 */
export function summarize(
  config: ServiceConfig,
  document: unknown,
  files: AuditedFiles,
  known: KnownPlugins,
  isWritten: (pointer: string) => boolean = () => true,
): AuditSubject {
  const root = config as unknown as DataObject;
  const endpoints = partsOf<EndpointConfig>(config.endpoints, '/endpoints');
  const agents = partsOf<DataObject>(root['async_agent'], '/async_agent');
  const holders = holdersIn(config, endpoints, agents);
  const components = holders.flatMap(([level, section]) => componentsOf(level, section));
  const backendCount = holders.filter(([level]) => level === 'backend').length;
  return {
    config,
    root,
    endpoints,
    agents,
    backendCount,
    components,
    written: writtenComponents(document, known),
    files,
    secrets: () => literalSecrets(config, components, known).filter(isWritten),
    openNeighbors: () => openNeighbors(config, known).map(({ pointer }) => `${pointer}/endpoint`),
  };
}

function writtenComponents(document: unknown, known: KnownPlugins): AuditedComponent[] {
  if (!isObject(document)) return [];
  const [endpoints, agents] = [document['endpoints'], document['async_agent']];
  const holders = holdersIn(document, partsOf(endpoints, '/endpoints'), partsOf(agents, '/async_agent'));
  return holders
    .flatMap(([level, section]) => componentsOf(level, section))
    .map((component) => ({ ...component, namespace: presentName(component.namespace, known.compatibility) }));
}

/** Yields all objects of a configuration that can contain components. */
function holdersIn(
  config: unknown,
  endpoints: readonly AuditedSection<unknown>[],
  agents: readonly AuditedSection<unknown>[],
): [Level, AuditedSection<unknown>][] {
  const holders: [Level, AuditedSection<unknown>][] = [['service', { config, pointer: '' }]];
  for (const [level, sections] of [
    ['endpoint', endpoints],
    ['agent', agents],
  ] as const) {
    for (const section of sections as readonly AuditedSection<{ readonly backend?: unknown } | null>[]) {
      holders.push([level, section]);
      for (const backend of partsOf(section.config?.backend, `${section.pointer}/backend`))
        holders.push(['backend', backend]);
    }
  }
  return holders;
}
function partsOf<T>(list: unknown, pointer: string): AuditedSection<T>[] {
  if (!Array.isArray(list)) return [];
  return list.map((config, index) => ({ config, pointer: joinPointer(pointer, index) }));
}

function componentsOf(level: Level, { config, pointer }: AuditedSection<unknown>): AuditedComponent[] {
  const extra = (config as { readonly extra_config?: Data } | null)?.extra_config;
  if (!isObject(extra)) return [];
  return Object.entries(extra).map(([namespace, settings]) => ({
    namespace,
    level,
    pointer: joinPointer(pointer, 'extra_config', namespace),
    settings: isObject(settings) ? settings : {},
  }));
}

/** Files of the local machine. */
export const localFiles: AuditedFiles = {
  text: (path) => attempt(() => readFileSync(path, 'utf8')),
  isOpen: (path) => ((attempt(() => statSync(path))?.mode ?? 0) & 0o002) !== 0,
};

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Literal secrets in the configuration, detected by their names, their values and the schemas. */
function literalSecrets(config: ServiceConfig, components: readonly AuditedComponent[], known: KnownPlugins): string[] {
  const marked = components.flatMap(({ namespace, level, settings, pointer }) =>
    (known.plugin(namespace)?.places ?? [])
      .filter(({ at }) => at === level)
      .flatMap(({ schema }) => markedLiterals(schema, settings, pointer)),
  );
  const named = secretLiterals(config, known).map(({ pointer }) =>
    pointer.replace(/^\/router(?=\/)/, '/extra_config/router'),
  );
  return [...named, ...marked.map(({ pointer }) => pointer)];
}
