import { deepEqual, equal, throws } from 'node:assert/strict';
import { parseCsv, printCsv } from '../../../../plugins/engines/documents/csv.ts';

describe('the CSV parser', () => {
  it('returns a list of objects with the keys of the first line', () => {
    deepEqual(parseCsv('id,name\n1,Ada\n2,Grace\n'), [
      { id: '1', name: 'Ada' },
      { id: '2', name: 'Grace' },
    ]);
  });

  it('supports line ends, commas and quotes in quoted fields', () => {
    deepEqual(parseCsv('a,b\r\n"x, ""y""","1\r\n2"\r\n'), [{ a: 'x, "y"', b: '1\r\n2' }]);
  });

  it('skips empty lines and a byte order mark, and keeps empty fields', () => {
    deepEqual(parseCsv('\ufeffa,b\n\n,\n""\n'.replace('""\n', '"",\n')), [
      { a: '', b: '' },
      { a: '', b: '' },
    ]);
    deepEqual(parseCsv(''), []);
    deepEqual(parseCsv('a\n""\n'), [{ a: '' }]);
  });

  it('reports the line of an error', () => {
    throws(() => parseCsv('a,b\n1,2,3\n'), /line 2: 3 fields, but the first line has 2/);
    throws(() => parseCsv('a,a\n'), /line 1: duplicate column "a"/);
    throws(() => parseCsv('a\n"x\ny"\n"z'), /line 4: a quote is misplaced or not closed/);
    throws(() => parseCsv('a\nx"y\n'), /line 2: a quote/);
    throws(() => parseCsv(`${','.repeat(1001)}\n`), /more than 1000 fields/);
  });

  it('treats keys such as __proto__ as plain keys', () => {
    equal(JSON.stringify(parseCsv('__proto__,constructor\n1,2')), '[{"__proto__":"1","constructor":"2"}]');
  });

  it('reads long and unterminated fields in linear time', () => {
    const long = 'x""'.repeat(300_000);
    equal(parseCsv(`a\n"${long}"`)[0]!.a!.toString().length, 600_000);
    throws(() => parseCsv(`a\n"${long}`), /a quote/);
  });

  it('writes all keys in the order of first appearance', () => {
    equal(
      printCsv([
        { a: 1, b: null },
        { b: 'x,y', c: true },
      ]),
      'a,b,c\n1,,\n,"x,y",true\n',
    );
    equal(printCsv([['a', '"'], []]), 'a,""""\n\n');
    equal(printCsv([{ a: '' }]), 'a\n""\n');
    equal(printCsv([]), '');
  });

  it('rejects data that is not a table', () => {
    throws(() => printCsv({ a: 1 }), /a table must be a list of rows/);
    throws(() => printCsv([{ a: 1 }, [1]]), /either all objects or all lists/);
    throws(() => printCsv([{ a: [1] }]), /a row must be an object or a list/);
  });
});
