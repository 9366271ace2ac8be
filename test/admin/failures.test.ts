import { equal } from 'node:assert/strict';
import { createFailureCounter } from '../../admin/guards/failures.ts';

describe('the counter of failed logins', () => {
  const counterAt = () => {
    const clock = { now: 0 };
    return { clock, counter: createFailureCounter(() => clock.now) };
  };
  const failTen = (counter: ReturnType<typeof createFailureCounter>, address: string) => {
    for (let failure = 0; failure < 10; failure++) counter.add(address);
  };

  it('allows nine failures of an address', () => {
    const { counter } = counterAt();
    for (let failure = 0; failure < 9; failure++) counter.add('a');
    equal(counter.waitSeconds('a'), 0);
  });

  it('locks the address out for the rest of the minute after the tenth', () => {
    const { clock, counter } = counterAt();
    counter.add('a');
    clock.now = 15_000;
    failTen(counter, 'a');
    equal(counter.waitSeconds('a'), 45);
  });

  it('drops failures after a minute', () => {
    const { clock, counter } = counterAt();
    failTen(counter, 'a');
    clock.now = 60_000;
    equal(counter.waitSeconds('a'), 0);
  });

  it('counts each address separately', () => {
    const { counter } = counterAt();
    failTen(counter, 'a');
    equal(counter.waitSeconds('b'), 0);
  });

  it('remembers at most ten thousand addresses', () => {
    const { counter } = counterAt();
    failTen(counter, 'first');
    failTen(counter, 'second');
    for (let address = 0; address < 9_999; address++) counter.add(String(address));
    equal(counter.waitSeconds('first'), 0);
    equal(counter.waitSeconds('second'), 60);
  });
});
