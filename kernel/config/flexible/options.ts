import { existsSync } from 'node:fs';
import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { compileSchema } from '../schema/validate.ts';
import { parseDocument } from '../syntax/load.ts';
import { PositionedError } from '../syntax/position.ts';
import { type SourceFiles, settingsError } from './source-files.ts';

/** Sources of a configuration, and how it is assembled from them. */
export interface FlexibleOptions {
  /** File that sets these options; null if the environment does. */
  readonly file: string | null;
  /** Directories and files with settings. */
  readonly settings: readonly string[];
  readonly allowOverwrite: boolean;
  readonly suffixes: readonly string[];
  readonly directoryPrefix: string;
  readonly partials: readonly string[];
  readonly templates: readonly string[];
  readonly missingKey: 'invalid' | 'zero' | 'error';
  /** Name of the template variable with metadata; null for none. */
  readonly metaKey: string | null;
  /** File that the result is written to for inspection; null for none. */
  readonly out: string | null;
  readonly debug: boolean;
  /** Key of file references; null disables file inclusion. */
  readonly refKey: string | null;
  readonly keysNaming: 'strict' | 'freeform' | null;
  /** Directories are searched at any depth. */
  readonly isRecursive: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SUFFIXES = '.yaml .yml .json .toml .tml .ini .dotenv .env .properties .prop .props'.split(' ');

const EXTENDED = 'flexible_config.json';

const paths = {
  type: 'array',
  items: { type: 'string' },
  description: 'Directories or files to read.',
  default: [],
} as const;

const schema = {
  type: 'object',
  properties: {
    settings: {
      type: 'object',
      description: 'Settings files, whose content is available to templates as variables.',
      default: {},
      properties: {
        paths,
        allow_overwrite: {
          type: 'boolean',
          description: 'Lets later settings files override earlier ones.',
          default: false,
        },
        allowed_suffixes: {
          type: 'array',
          items: { type: 'string' },
          description: 'File name extensions to read.',
          default: SUFFIXES,
        },
        dir_field_prefix: {
          type: 'string',
          description: 'Prefix for the names of variables that are named after directories.',
          default: '',
        },
      },
    },
    partials: {
      type: 'object',
      description: 'Partials: text files that templates insert unchanged.',
      default: {},
      properties: { paths },
    },
    templates: {
      type: 'object',
      description: 'Template files.',
      default: {},
      properties: {
        paths,
        undefined_vars: {
          type: 'string',
          enum: ['error', 'zero', 'invalid'],
          description: 'Result of an undefined variable: an error, the zero value, or a marker text.',
          default: 'error',
        },
      },
    },
    meta_key: {
      type: 'string',
      description: 'Name of the variable that contains metadata about the files.',
      default: 'meta',
    },
    out: {
      type: 'string',
      description: 'File to write the rendered configuration to. If empty, the configuration is not written.',
      default: '',
    },
    debug: { type: 'boolean', description: 'Prints the variables that are available to templates.', default: false },
    ref_key: { type: 'string', description: 'Object key whose value names another file to include.', default: '$ref' },
    keys_naming_rules: {
      type: 'string',
      enum: ['strict', 'freeform'],
      description: 'Rules for variable names: `strict` allows alphanumeric names only. Default: freeform.',
    },
  },
} as const;

/**
 * Reads how a configuration is assembled in this working directory and environment; null if the file is used as is.
 * `flexible_config.json`, or the file in FC_CONFIG, takes precedence over FC_ENABLE.
 * @throws ConfigErrors for invalid options.
 */
export function readOptions(environment: Environment, files: SourceFiles): FlexibleOptions | null {
  const given = environment['FC_CONFIG'];
  const file = given || EXTENDED;
  if (!given && !existsSync(file)) return environment['FC_ENABLE'] ? simple(environment) : null;
  let text: string;
  try {
    text = files.text(file);
  } catch (error) {
    throw new ConfigErrors([settingsError(file, (error as Error).message, error)]);
  }
  return extended(file, text, environment);
}

function simple(environment: Environment): FlexibleOptions {
  const one = (name: string): string[] => (environment[name] ? [environment[name]] : []);
  return {
    file: null,
    settings: one('FC_SETTINGS'),
    allowOverwrite: false,
    suffixes: ['.json'],
    directoryPrefix: '',
    partials: one('FC_PARTIALS'),
    templates: one('FC_TEMPLATES'),
    missingKey: 'zero',
    metaKey: null,
    out: environment['FC_OUT'] || null,
    debug: false,
    refKey: null,
    keysNaming: null,
    isRecursive: false,
  };
}

function extended(file: string, text: string, environment: Environment): FlexibleOptions {
  const document = parseDocument(text, file);
  const { value, errors } = compileSchema(schema)(document.data, '');
  if (errors.length > 0) {
    throw new ConfigErrors(errors.map((error) => positioned(error, file, document.locate(error.pointer, 'value'))));
  }
  const options = value as Options;
  return {
    file,
    settings: options.settings.paths,
    allowOverwrite: options.settings.allow_overwrite,
    suffixes: options.settings.allowed_suffixes.map((suffix) => suffix.toLowerCase()),
    directoryPrefix: options.settings.dir_field_prefix,
    partials: options.partials.paths,
    templates: options.templates.paths,
    missingKey: options.templates.undefined_vars,
    metaKey: options.meta_key || null,
    out: options.out || environment['FC_OUT'] || null,
    debug: options.debug || environment['FC_DEBUG'] === 'true',
    refKey: options.ref_key || null,
    keysNaming: options.keys_naming_rules ?? null,
    isRecursive: true,
  };
}

interface Options {
  readonly settings: {
    readonly paths: string[];
    readonly allow_overwrite: boolean;
    readonly allowed_suffixes: string[];
    readonly dir_field_prefix: string;
  };
  readonly partials: { readonly paths: string[] };
  readonly templates: { readonly paths: string[]; readonly undefined_vars: 'error' | 'zero' | 'invalid' };
  readonly meta_key: string;
  readonly out: string;
  readonly debug: boolean;
  readonly ref_key: string;
  readonly keys_naming_rules?: 'strict' | 'freeform';
}

function positioned(error: ConfigError, file: string, position: PositionedError['position']): ConfigError {
  const { code, pointer, message, hint } = error;
  return new PositionedError(code, pointer, `${message}${pointer && ` (${pointer})`}`, { file, position, hint });
}
