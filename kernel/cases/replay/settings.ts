import { type ConfigChange, describeChange, diffConfigs, stepsOf } from '../../config/index.ts';
import type { Operations } from '../../gateway/operations.ts';
import { positionsIn } from '../../inspect/index.ts';
import { endpointId } from '../../runtime/prints/endpoint-prints.ts';
import type { Cause } from './compare.ts';

/** A changed setting that can be the reason of a difference. */
export interface ChangedSetting {
  /** JSON pointer in the new document, or in the old one for a removed setting. */
  readonly pointer: string;
  readonly op: ConfigChange['op'];
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The change with its values, as text for people. */
  readonly text: string;
}

/** Maximum number of settings listed for a difference. */
const MAX_SETTINGS = 5;

/** Settings of an endpoint, by their paths in it. */
const shape = /^backend\/\d+\/(?:allow|deny|mapping|group|target|is_collection)(?:\/|$)/;
const time = /^(?:timeout|backend\/\d+\/(?:timeout|concurrent_calls))$/;
const lifetime = /^cache_ttl$/;
const output = /^output_encoding$/;

const headers = /^extra_config\/security\/(?:http|cors)(?:\/|$)/;

const ofBody = [time, lifetime, headers];
const ofCalls = [shape, time, lifetime, output, headers];

/** Settings that cannot be the reason of a difference, by its cause. */
const unrelated: Readonly<Record<Cause, readonly RegExp[]>> = {
  status: [shape, lifetime],
  visible: ofBody,
  missing: ofBody,
  field: ofBody,
  order: ofBody,
  body: ofBody,
  header: [shape, time],
  'more-calls': ofCalls,
  'fewer-calls': ofCalls,
  time: [lifetime],
  call: ofCalls,
};

/** Settings of the service that do not affect responses: the port, its limits, logs, telemetry and the admin API. */
const ofListener =
  /^(?:name|port|listen_ip|socket_mode|tls|max_\w+|\w+_timeout|extra_config\/(?:telemetry|admin)\/.*)(?:\/|$)/;

/**
 * Compares the configurations of two gateways by meaning.
 * @returns a function that selects the changed settings that can be the reason of a difference at an endpoint.
 */
export async function settingsBehind(
  old: Operations,
  next: Operations,
): Promise<(endpoint: string, cause: Cause) => readonly ChangedSetting[]> {
  const [from, to] = [await sideOf(old), await sideOf(next)];
  const sides = { from, to };
  const { components } = next;
  const { changes } = diffConfigs(from.examined.config, to.examined.config, {
    isSecret: components.isSecret,
    known: components.known,
    componentSchema: (namespace, level) => components.schemaAt(namespace, level),
    places(pointer, side) {
      const { examined, find } = sides[side];
      const written = examined.origin(pointer);
      return { ...find(written), pointer: written };
    },
  });
  return (endpoint, cause) => select(changes, endpoint, cause).slice(0, MAX_SETTINGS).map(toSetting);
}

async function sideOf(gateway: Operations) {
  const { snapshot } = gateway.serving;
  const { document } = snapshot;
  const examined = await gateway.examine(snapshot, 'closed');
  return { examined, find: document ? positionsIn(document) : () => ({}) };
}

/**
 * Selects the changes of the endpoint, then those of the service. Returns the changes of the endpoint even if all of
 * them are unrelated.
 */
function select(changes: readonly ConfigChange[], endpoint: string, cause: Cause): readonly ConfigChange[] {
  const own = changes.filter(({ route }) => route && endpointId(route) === endpoint);
  const isRelated = (change: ConfigChange): boolean => {
    const path = stepsOf(change).join('/');
    return !unrelated[cause].some((pattern) => pattern.test(path));
  };
  const ofService = changes.filter((change) => !change.route && !ofListener.test(stepsOf(change).join('/')));
  const related = [...own.filter(isRelated), ...ofService.filter(isRelated)];
  return related.length > 0 ? related : own;
}

function toSetting(change: ConfigChange): ChangedSetting {
  const { pointer, op, file, line, column } = change;
  const text =
    stepsOf(change).length === 0 ? `the endpoint was ${op === 'add' ? 'added' : 'removed'}` : describeChange(change);
  return {
    pointer,
    op,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line, column: column! }),
    text,
  };
}
