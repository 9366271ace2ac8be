import { type Conversion, type DataObject, isObject, joinPointer } from '#contract';
import { eachBackend } from './old-clients.ts';

const MODIFIER = 'plugin/req-resp-modifier';
const OLD = 'response-schema-validator';

/** Component that replaces `response-schema-validator`. */
export const SUCCESSOR = 'validation/response-json-schema';

/**
 * Converts KrakenD's built-in modifier `response-schema-validator` to its successor.
 * Codes: a warning CONFIG_OLD_PLUGIN; PLUGIN_SETTINGS without settings, PLUGIN_DUPLICATE if the successor is also
 * configured.
 */
export function convertModifiers(document: DataObject, report: Conversion): void {
  const endpoints = document['endpoints'];
  if (Array.isArray(endpoints)) {
    for (const [index, endpoint] of endpoints.entries()) {
      if (isObject(endpoint)) convertAt(endpoint, `/endpoints/${index}`, report);
    }
  }
  eachBackend(document, (backend, pointer) => convertAt(backend, pointer, report));
}

function convertAt(holder: DataObject, pointer: string, report: Conversion): void {
  const components = holder['extra_config'];
  const config = isObject(components) ? components[MODIFIER] : undefined;
  if (!isObject(components) || !isObject(config)) return;
  const names = config['name'];
  if (!Array.isArray(names) || !names.includes(OLD)) return;
  const parent = joinPointer(pointer, 'extra_config');
  const at = joinPointer(parent, MODIFIER, 'name', names.indexOf(OLD));
  config['name'] = names.filter((name) => name !== OLD);
  const settings = config[OLD];
  delete config[OLD];
  if (settings === undefined) {
    report.error('PLUGIN_SETTINGS', at, `the built-in modifier "${OLD}" has no settings`, {
      hint: `add "${OLD}": {"schema": {…}} to "${MODIFIER}"`,
    });
    return;
  }
  if (Object.hasOwn(components, SUCCESSOR)) {
    const related = [joinPointer(parent, SUCCESSOR)];
    report.error('PLUGIN_DUPLICATE', at, `the built-in modifier "${OLD}" cannot be combined with "${SUCCESSOR}"`, {
      related,
    });
    return;
  }
  report.warn(
    'CONFIG_OLD_PLUGIN',
    at,
    `the built-in modifier "${OLD}" is outdated: it was replaced by "${SUCCESSOR}"`,
    {
      hint: `move its settings from "${MODIFIER}" to "${SUCCESSOR}" in the same extra_config`,
    },
  );
  components[SUCCESSOR] = settings;
  report.moved(parent, SUCCESSOR, MODIFIER, OLD);
}
