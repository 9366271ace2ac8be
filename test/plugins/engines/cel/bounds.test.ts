import { equal, match, ok } from 'node:assert/strict';
import { cost } from '../../../support/cost.ts';
import { verdict } from './fixture.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Maximum CPU time of an evaluation on a busy machine, in milliseconds. */
const HELD_MS = 250;

describe('the evaluation limits of a CEL expression', () => {
  const { list, long, text } = { list: numbers(60), long: numbers(100_000), text: 'a'.repeat(900_000) };

  it('stop three nested loops', () => {
    const source = 'data.list.all(x, data.list.all(y, data.list.all(z, x + y + z >= 0)))';
    ok(cost(() => match(String(verdict(source, { list })), /too long|members/)) < HELD_MS);
  });

  it('stop nested loops even if another operand would decide the result', () => {
    const loops = 'data.list.all(x, data.list.all(y, data.list.all(z, x + y + z >= 0)))';
    for (const source of [`${loops} || true`, `true && !(${loops})`]) equal(typeof verdict(source, { list }), 'string');
  });

  it('stop loops and comparisons over long lists', () => {
    for (const source of [
      'data.long.all(x, x >= 0)',
      'data.long == data.long',
      '-1 in data.long',
      'size(data.long) > 1',
    ]) {
      ok(cost(() => match(String(verdict(source, { long })), /members were visited/)) < HELD_MS, source);
    }
  });

  it('allow one loop over a list of thousands of entries', () => {
    equal(verdict('data.list.map(x, x + 1).filter(x, x > 10).size() == 4990', { list: numbers(5000) }), true);
  });

  it('stop strings that grow with every iteration', () => {
    const source = 'data.list.all(x, (data.text + data.text).size() > 0)';
    match(String(verdict(source, { list, text })), /more than 1048576 characters/);
    const counted = 'data.list.all(x, data.list.all(y, data.text.size() > 0))';
    ok(cost(() => equal(typeof verdict(counted, { list, text }), 'string')) < HELD_MS);
  });

  it('stop pattern matches on long strings', () => {
    ok(cost(() => equal(typeof verdict("data.text.matches('(x+x+)+y|(.*a){20}$')", { text }), 'string')) < 400);
  });

  it('stop pattern matches with excessive backtracking on a long string', () => {
    const source = "data.list.exists(x, data.text.matches('ab'))";
    const many = numbers(5000);
    ok(cost(() => match(String(verdict(source, { list: many, text })), /too long|members/)) < HELD_MS);
  });

  it('are tighter if the call has less time left', () => {
    const source = 'data.list.all(x, data.list.all(y, x + y >= 0))';
    equal(verdict(source, { list }, 1000), true);
    equal(verdict(source, { list }, 0), 'the evaluation took too long');
  });

  it('apply to each evaluation separately', () => {
    equal(typeof verdict('data.long.all(x, x >= 0)', { long }), 'string');
    equal(verdict('data.list.all(x, x >= 0)', { list }), true);
  });
});
