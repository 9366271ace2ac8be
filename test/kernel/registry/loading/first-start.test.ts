import { deepEqual, match } from 'node:assert/strict';
import { headerSource, PluginFolder } from '../../../support/plugin-folder.ts';
import { sluiceProcess } from '../../cli/command.ts';

describe('the first start with a plugin whose file', function () {
  this.timeout(60_000);

  const cases: [what: string, source: string, told: RegExp][] = [
    ['rejects a promise', `Promise.reject(new Error('late'));\n`, /a\.ts:2:16: error: late \(\/plugin\/folder\)/],
    [
      'throws in a timer',
      `setTimeout(() => { throw new Error('late'); });\nawait new Promise((go) => setTimeout(go, 1000));\n`,
      /a\.ts:2:26: error: late \(\/plugin\/folder\)/,
    ],
    ['calls process.exit', 'process.exit(0);\n', /a\.ts:2:9: error: the plugin ended the process while it was loading/],
  ];
  for (const [what, source, message] of cases) {
    it(`${what} ends with an error at that line`, async () => {
      const folder = new PluginFolder();
      try {
        folder.write('a.ts', `// first\n${source}${headerSource('x')}`);
        const file = folder.write('gateway.json', `{"version":3,"plugin":{"folder":"${folder.path}"},"endpoints":[]}`);
        const { code, out, err } = await sluiceProcess({}, 'run', '-c', file);
        match(out + err, message);
        deepEqual([code, (out + err).includes('node:internal')], [1, false]);
      } finally {
        folder.remove();
      }
    });
  }
});
