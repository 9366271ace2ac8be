import { copyData, type Data, type DataObject, isObject, type Site, type Template } from '#contract';
import { bytesOfBase64 } from '../../shared/values/base64.ts';
import { type Fields, reachable } from './fields.ts';

/** Template settings: a file, or inline base64. */
export interface TemplateConfig {
  readonly path?: string | undefined;
  readonly template?: string | undefined;
  readonly debug: boolean;
  /** Custom values defined by the operator. Default: none. */
  readonly variables?: unknown;
}

/** Renders a template with a context. @throws CallError if rendering fails or exceeds its limits. */
export interface Renderer<Context> {
  render(context: Context): string;
  /** The template source. */
  readonly text: string;
  /** Whether the template can reach a field whose name starts with the prefix. */
  reads(prefix: string): boolean;
}

/**
 * Compiles the template of a generator, from its file or its base64.
 *
 * @throws ConfigError TEMPLATE_BASE64, TEMPLATE_INVALID, FILE_UNREADABLE.
 */
export function compileRenderer<Context>(site: Site<TemplateConfig>, fields: Fields<Context>): Renderer<Context> {
  const { path, template: encoded } = site.config;
  const text = path === undefined ? textOf(site, encoded!) : Buffer.from(site.read(path)).toString();
  const template = path === undefined ? site.template(text, '/template') : site.template(text, '/path', path);
  return rendererOf(site, { ...site.config, text, template }, fields);
}

/** A template file, named by a component's own setting. */
export interface TemplateFile {
  readonly path: string;
  /** Pointer of the setting that names the file, relative to the configuration. */
  readonly pointer: string;
  readonly debug: boolean;
  readonly variables: unknown;
}

/** Compiles the template in a file. @throws ConfigError TEMPLATE_INVALID, FILE_UNREADABLE. */
export function compileFile<Context>(
  site: Site<unknown>,
  file: TemplateFile,
  fields: Fields<Context>,
): Renderer<Context> {
  const text = Buffer.from(site.read(file.path)).toString();
  const template = site.template(text, file.pointer, file.path);
  return rendererOf(site, { ...file, text, template }, fields);
}

interface Compiled extends Pick<TemplateConfig, 'debug' | 'variables'> {
  readonly text: string;
  readonly template: Template;
}

function rendererOf<Context>(
  site: Site<unknown>,
  { text, template, debug, variables: written }: Compiled,
  fields: Fields<Context>,
): Renderer<Context> {
  const reached = debug ? Object.entries(fields) : reachable(text, fields);
  const variables = frozenVariables(written);
  return {
    text,
    reads: (prefix) => reached.some(([name]) => name.startsWith(prefix)),
    render(context) {
      const data: Record<string, unknown> = { variables };
      for (const [name, make] of reached) data[name] = make(context);
      if (!debug) return template.render(data);
      site.log.debug(() => `template input:\n${JSON.stringify(data, printable)}`);
      const output = template.render(data);
      site.log.debug(() => `template output:\n${output}`);
      return output;
    },
  };
}

/** The configured values, frozen so that one rendering cannot change them for the next. */
function frozenVariables(variables: unknown = {}): Data {
  return freeze(copyData(variables as DataObject));
}

function freeze(value: Data): Data {
  if (Array.isArray(value)) value.forEach(freeze);
  else if (isObject(value)) Object.values(value).forEach(freeze);
  Object.freeze(value);
  return value;
}

/** Converts integers of a template to numbers that can be printed. */
function printable(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function textOf(site: Site<TemplateConfig>, encoded: string): string {
  const bytes = bytesOfBase64(encoded.replace(/[\r\n]/g, ''));
  if (bytes) return bytes.toString();
  throw site.fault('TEMPLATE_BASE64', '/template', 'the template is not valid base64', {
    hint: 'the output of `base64`, with its padding; a file is named by path',
  });
}
