import { deepEqual } from 'node:assert/strict';
import { portTimeouts } from '../../../kernel/server/port/timeouts.ts';
import { normalize } from '../../support/known.ts';

const timeouts = (fields: object) => portTimeouts(normalize({ version: 3, ...fields }).config);

describe('the timeouts of a port', () => {
  it('are 10 seconds for headers and 2 minutes between requests by default', () => {
    deepEqual(timeouts({}), { requestMs: 0, headMs: 10_000, idleMs: 120_000 });
  });
  it('can be disabled', () => {
    const fields = { read_header_timeout: '0s', idle_timeout: '0s' };
    deepEqual(timeouts(fields), { requestMs: 0, headMs: 0, idleMs: 0 });
  });
  it('equal read_timeout if they are 0', () => {
    const fields = { read_timeout: '30s', read_header_timeout: '0s', idle_timeout: '0s' };
    deepEqual(timeouts(fields), { requestMs: 30_000, headMs: 30_000, idleMs: 30_000 });
  });
  it('equal read_timeout between requests by default', () => {
    deepEqual(timeouts({ read_timeout: '30s' }), { requestMs: 30_000, headMs: 10_000, idleMs: 30_000 });
  });
  it('are never longer for headers than for the whole request', () => {
    deepEqual(timeouts({ read_timeout: '5s' }), { requestMs: 5000, headMs: 5000, idleMs: 5000 });
  });
  it('are the configured timeouts if all are configured', () => {
    const fields = { read_timeout: '5s', read_header_timeout: '1s', idle_timeout: '75s' };
    deepEqual(timeouts(fields), { requestMs: 5000, headMs: 1000, idleMs: 75_000 });
  });
});
