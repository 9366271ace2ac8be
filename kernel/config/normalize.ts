import { type ConfigError, type DataObject, isObject, type ServiceConfig } from '#contract';
import { cloneData, deepFreeze } from './clone.ts';
import { modernize } from './compatibility.ts';
import { applyEnvironment } from './environment.ts';
import { completeEndpoint, completeService, createHostCleaner } from './inherit.ts';
import { showValue } from './problem.ts';
import { createReport } from './report.ts';
import { checkService } from './rules/index.ts';
import { checkStructure } from './structure.ts';
import { settleTransport } from './transport.ts';

export interface NormalizeOptions {
  /** Replaces the port of the document; 0 for none. */
  readonly port?: number;
  /** Serve the debug endpoint whatever the document says. */
  readonly debug?: boolean;
  /** Environment variables that may override fields of the root. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Normalized {
  /** Deep-frozen. With errors it is not to be used: it may lack what the errors speak of. */
  readonly config: ServiceConfig;
  /** Every mistake found; pointers are those of the document. */
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  /** The pointer in the document of what stands at a pointer of `config`; they differ where old names were used. */
  readonly origin: (pointer: string) => string;
}

/**
 * Makes the configuration of a service from a parsed document: overrides, conversion of old versions, validation,
 * defaults and inherited values. `extra_config` stays plain data, for the components themselves to check; the options
 * of its `router` are validated and stand in `config.router`. The document is not changed.
 */
export function normalize(data: unknown, options: NormalizeOptions = {}): Normalized {
  const report = createReport();
  if (!isObject(data)) {
    report.error('SCHEMA_TYPE', '', `the document must be an object, found ${showValue(data)}`);
    return { config: {} as ServiceConfig, errors: report.errors, warnings: [], origin: (pointer) => pointer };
  }
  const document: DataObject = cloneData(data);
  applyEnvironment(document, options.env ?? {}, report);
  const origin = modernize(document, report);
  settleTransport(document, origin, report);
  const structure = checkStructure(document, origin, report);

  const service = document as unknown as ServiceConfig;
  const rules = createReport(origin);
  const clean = createHostCleaner(rules);
  completeService(service, options);
  document['host'] = structure.isSound('/host') ? [...clean(service.host, '/host')] : [];
  if (Array.isArray(service.endpoints)) {
    service.endpoints.forEach((endpoint, index) => {
      const pointer = `/endpoints/${index}`;
      if (structure.isSound(pointer)) completeEndpoint(endpoint, pointer, service, clean, rules);
    });
  }
  checkService(service, structure, rules);
  return {
    config: deepFreeze(service),
    errors: [...report.errors, ...rules.errors],
    warnings: [...report.warnings, ...rules.warnings],
    origin: origin.pointer,
  };
}
