import { deepEqual, equal, ok } from 'node:assert/strict';
import { BackendError, CallError, CancelledError, ConfigError, toCallError } from '#contract';
import { ConfigErrors, DeadlineError, GatewayError, GatewayFault } from '../../../kernel/contract/internal.ts';

describe('an error of the gateway', () => {
  it('has a code, the name of its class, and a cause if one is specified', () => {
    const cause = new Error('why');
    const error = new GatewayError('AREA_WHAT', 'what', cause);
    deepEqual([error.code, error.message, error.name, error.cause], ['AREA_WHAT', 'what', 'GatewayError', cause]);
    equal('cause' in new GatewayError('AREA_WHAT', 'what'), false);
    equal(new DeadlineError().name, 'DeadlineError');
  });

  it('in a configuration keeps its text when its pointer is moved', () => {
    const cause = new Error('why');
    const within = { start: 1, end: 2 };
    const error = new ConfigError('A_B', '/a', 'what', {
      hint: 'b',
      fix: { key: 'b' },
      within,
      related: ['/c'],
      cause,
    });
    const moved = error.at('/x');
    const { code, pointer, message, hint, fix, related } = moved;
    deepEqual([code, pointer, message, hint, fix, related], ['A_B', '/x', 'what', 'b', { key: 'b' }, ['/c']]);
    deepEqual([moved.within, moved.cause], [within, cause]);
    deepEqual(error.at('/x', ['/d']).related, ['/d']);
  });

  it('in a configuration has no hint or related places by default', () => {
    const { hint, fix, within, related } = new ConfigError('A_B', '/a', 'what');
    deepEqual([hint, fix, within, related], [undefined, undefined, undefined, []]);
  });

  it('lists all errors of a configuration, one per line', () => {
    const errors = [new ConfigError('A_B', '', 'what'), new ConfigError('C_D', '/x', 'else')];
    const all = new ConfigErrors(errors);
    deepEqual([all.code, all.message, all.errors], ['CONFIG_INVALID', '/  A_B  what\n/x  C_D  else', errors]);
  });

  it('of a call has a message for the client, empty by default', () => {
    deepEqual(new CallError('A_B', 'what').view, {});
    deepEqual(new CallError('A_B', 'what', { view: { status: 418 } }).view, { status: 418 });
  });

  it('of a backend contains the status of the backend', () => {
    equal(new BackendError('A_B', 'what', { upstreamStatus: 503 }).upstreamStatus, 503);
    equal(new BackendError('A_B', 'what').upstreamStatus, undefined);
  });

  it('has its own code for a deadline, a canceled call and an internal error', () => {
    const cause = new Error('bug');
    const fault = new GatewayFault(cause);
    deepEqual(
      [new DeadlineError(), new CancelledError(), fault].map(({ code }) => code),
      ['CALL_DEADLINE', 'CALL_CANCELLED', 'GATEWAY_FAULT'],
    );
    equal(fault.cause, cause);
    equal(new CancelledError('for a reason').message, 'for a reason');
  });

  it('is the thrown error if it is already a gateway error, otherwise an internal error that contains it', () => {
    const error = new CallError('A_B', 'what');
    equal(toCallError(error), error);
    const fault = toCallError('text');
    ok(fault instanceof GatewayFault);
    equal(fault.cause, 'text');
  });
});
