import {
  type BackendConfig,
  type Data,
  type DataObject,
  type EndpointConfig,
  getKey,
  isObject,
  setKey,
} from '#contract';
import { compileShape } from '../../pipeline/backend/shape.ts';
import { step } from '../checks/differences.ts';
import type { Shape } from './shape.ts';

/**
 * Fields of a contract that `allow`, `deny`, `mapping` and `group` of the backends cannot return, whatever the backends
 * respond. None for an endpoint with components, which can add fields.
 */
export function missingFields({ fields }: Shape, { backend: backends, extra_config: own }: EndpointConfig): string[] {
  const isPlain = [own, ...backends.map(({ extra_config }) => extra_config)].every(
    (components) => Object.keys(components).length === 0,
  );
  if (!fields || !isPlain || backends.some(({ is_collection: isCollection }) => isCollection)) return [];
  const results: string[] = [];
  const outputs = backends.map((backend) => shaped(backend, { fields }));
  listMissing({ fields }, outputs, '', results);
  return results;
}

type WithFields = Pick<Shape, 'fields'>;

/** The fields of the contract that remain after the response shaping of a backend. */
function shaped(backend: BackendConfig, contract: WithFields): Data {
  const { group, mapping = {} } = backend;
  const inner = group ? contract.fields!.known.get(group)?.shape : contract;
  const data = inner?.fields ? sampleOf(inner) : {};
  if (!isObject(data)) return {};
  for (const [from, to] of Object.entries(mapping)) {
    const value = getKey(data, to.split('.', 1)[0]!);
    if (value !== undefined) setKey(data, from, value);
  }
  const { target: _, ...settings } = backend;
  const shape = compileShape(settings as BackendConfig, undefined);
  return shape ? shape(data) : data;
}

/** Creates a value that has every field of a contract. */
function sampleOf({ fields }: WithFields): Data {
  if (!fields || fields.others) return true;
  const data: DataObject = {};
  for (const [key, { shape }] of fields.known) setKey(data, key, sampleOf(shape));
  return data;
}

function listMissing({ fields }: WithFields, outputs: readonly Data[], at: string, results: string[]): void {
  for (const [key, { shape }] of fields?.others ? [] : (fields?.known ?? [])) {
    const path = step(at, key);
    const values = outputs.flatMap((output) => (isObject(output) ? [getKey(output, key)] : [])).filter(isPresent);
    if (values.length === 0) results.push(path);
    else if (values.every(isObject)) listMissing(shape, values, path, results);
  }
}

function isPresent(value: Data | undefined): value is Data {
  return value !== undefined;
}
