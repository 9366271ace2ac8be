import { type CreateSample, type Data, isObject } from '#contract';

/** Sends the first key in plain text that has one of the endpoint's roles; nothing if all keys are hashed. */
export const sampleKey: CreateSample = (config, around = {}) => {
  const { keys, hash = 'plain' } = around;
  const roles = listOf(config['roles']);
  const accepted = listOf(keys)
    .filter(isObject)
    .find((entry) => roles.length === 0 || listOf(entry['roles']).some((role) => roles.includes(role)));
  const key = accepted?.['key'];
  if (hash !== 'plain' || typeof key !== 'string') return {};
  const { strategy = 'header', identifier } = { ...around, ...config };
  if (strategy === 'query_string') return { query: { [named(identifier, 'key')]: key } };
  const header = named(identifier, 'Authorization');
  return { headers: { [header]: header.toLowerCase() === 'authorization' ? `Bearer ${key}` : key } };
};

function listOf(value: Data | undefined): readonly Data[] {
  return Array.isArray(value) ? value : [];
}

function named(identifier: Data | undefined, usual: string): string {
  return typeof identifier === 'string' && identifier !== '' ? identifier : usual;
}
