import { deepEqual } from 'node:assert/strict';
import type { BackendConfig, EndpointConfig } from '#contract';
import { Shape } from '../../../../kernel/cases/contracts/shape.ts';
import { missingFields } from '../../../../kernel/cases/contracts/static-fields.ts';

describe('the contract fields that the settings of backends exclude from the response', () => {
  const contract = new Shape();
  contract.add({ id: 1, name: 'Ada', address: { city: 'London', zip: 'N1' }, tags: [{ label: 'a' }] });

  const missing = (backends: readonly Partial<BackendConfig>[], components: object = {}) => {
    const backend = backends.map((each) => ({ extra_config: {}, ...each }));
    return missingFields(contract, { backend, extra_config: components } as unknown as EndpointConfig);
  };

  it('are those that "allow" omits or "deny" removes, at any depth', () => {
    deepEqual(missing([{}]), []);
    deepEqual(missing([{ allow: ['id', 'name', 'address.city', 'tags'] }]), ['address.zip']);
    deepEqual(missing([{ deny: ['name', 'address.city', 'other'] }]), ['name', 'address.city']);
  });

  it('are those that "mapping" renames, unless another key is renamed to them', () => {
    deepEqual(missing([{ mapping: { name: 'title' } }]), ['name']);
    deepEqual(missing([{ allow: ['id', 'title', 'address', 'tags'], mapping: { title: 'name' } }]), []);
  });

  it('are those outside of "group", unless another backend returns them', () => {
    deepEqual(missing([{ group: 'address' }]), ['id', 'name', 'tags']);
    deepEqual(missing([{ group: 'address' }, { allow: ['id', 'name'] }]), ['tags']);
    deepEqual(missing([{ group: 'address', deny: ['zip'] }, { deny: ['address'] }]), ['address.zip']);
  });

  it('are unknown for endpoints with components', () => {
    deepEqual(missing([{ allow: ['id'] }], { proxy: { static: { data: { name: 'x' } } } }), []);
    deepEqual(missing([{ allow: ['id'], extra_config: { proxy: {} } }]), []);
  });
});
