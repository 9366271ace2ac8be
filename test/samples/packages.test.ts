import { readdirSync, readFileSync } from 'node:fs';
import { transform } from 'sucrase';
import { followGuide } from './guide.ts';

const SOURCE = 'samples/packages/sluice-team';

/** Compiled files of the package. The tests of the published package compile it with the compiler and its own settings. */
function built(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(`${SOURCE}/src`).map((name) => {
      const text = readFileSync(`${SOURCE}/src/${name}`, 'utf8');
      const { code } = transform(text, { transforms: ['typescript'], disableESTransforms: true });
      return [`${SOURCE}/dist/${name.replace('.ts', '.js')}`, code];
    }),
  );
}

describe('the sample "packages"', function () {
  this.timeout(180_000);

  it('has a guide that packs, installs, checks and serves the package, and prints the output that it shows', () =>
    followGuide('packages', {
      files: built(),
      env: { npm_config_ignore_scripts: 'true', npm_config_offline: 'true', npm_config_audit: 'false' },
    }));
});
