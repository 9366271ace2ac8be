import type { Functions } from '../function.ts';
import { builtins } from './builtins.ts';
import { cryptoFunctions } from './crypto.ts';
import { dateFunctions } from './dates.ts';
import { defaultFunctions } from './defaults.ts';
import { dictFunctions } from './dicts.ts';
import { encodingFunctions } from './encoding.ts';
import { listFunctions } from './lists.ts';
import { numberFunctions } from './numbers.ts';
import { pathFunctions } from './paths.ts';
import { refusedFunctions } from './refused.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import { stringFunctions } from './strings.ts';
import { urlFunctions } from './urls.ts';
import { wordFunctions } from './words.ts';

/** The functions of the language and of Sprig, except those of Sprig that read the environment or the network. */
export const standardFunctions: Functions = {
  ...builtins,
  ...stringFunctions,
  ...wordFunctions,
  ...numberFunctions,
  ...listFunctions,
  ...dictFunctions,
  ...defaultFunctions,
  ...dateFunctions,
  ...encodingFunctions,
  ...regexFunctions,
  ...cryptoFunctions,
  ...semverFunctions,
  ...urlFunctions,
  ...pathFunctions,
  ...refusedFunctions,
};
