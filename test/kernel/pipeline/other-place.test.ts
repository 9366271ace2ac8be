import { deepEqual, equal } from 'node:assert/strict';
import { ConfigError, type Level, type Place, type Plugin } from '#contract';
import { ofOtherPlace } from '../../../kernel/pipeline/attach/attach.ts';

const form = (...fields: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
});
const place = (at: Level, schema: object): Place => ({ at, schema, attach: () => ({}) }) as unknown as Place;
const plugin = (...places: Place[]): Plugin => ({ name: 'x/y', description: '', places });

const here = '/extra_config/x~1y';
const unknown = (at = `${here}/door`) => new ConfigError('SCHEMA_UNKNOWN_KEY', at, 'unknown');
const shown = ({ code, pointer, message, hint }: ConfigError) => [code, pointer, message, hint];

describe('a setting at a place where it is unknown', () => {
  const backend = place('backend', form('door'));
  const endpoint = place('endpoint', form('key'));

  it('is reported with the place where it belongs', () => {
    deepEqual(shown(ofOtherPlace(unknown(), plugin(endpoint, backend), endpoint, here)), [
      'SCHEMA_UNKNOWN_KEY',
      `${here}/door`,
      `'door' of "x/y" belongs to a backend, not to an endpoint`,
      'move it to the extra_config of a backend',
    ]);
  });

  it('that belongs to another form of the component is reported as such', () => {
    const forms = place('endpoint', { anyOf: [form('key'), form('door')] });
    deepEqual(shown(ofOtherPlace(unknown(), plugin(forms), forms, here)), [
      'SCHEMA_UNKNOWN_KEY',
      `${here}/door`,
      `'door' of "x/y" cannot be combined with the other fields: it belongs to another form of the component`,
      'use the fields of one form only',
    ]);
    const others = place('endpoint', { anyOf: [form('key')] });
    equal(
      ofOtherPlace(unknown(), plugin(others, backend), others, here).hint,
      'move it to the extra_config of a backend',
    );
  });

  it('is reported as unknown if no place of the component has it', () => {
    const error = unknown();
    const places = [place('service', { type: 'string' }), place('agent', { type: 'object' })];
    equal(ofOtherPlace(error, plugin(endpoint, ...places), endpoint, here), error);
    equal(ofOtherPlace(error, { name: 'x/y', description: '' }, endpoint, here), error);
  });

  it('is only corrected at the top level of a component', () => {
    for (const error of [unknown(`${here}/a/door`), new ConfigError('SCHEMA_TYPE', `${here}/door`, 'wrong')]) {
      equal(ofOtherPlace(error, plugin(endpoint, backend), endpoint, here), error);
    }
  });
});
