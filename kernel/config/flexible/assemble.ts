import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError, type Data, type DataObject, printJson } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { fileErrorReason } from '../../values/file-error-reason.ts';
import { type Document, decodeText, formatNameOf, parseDocument, readText, withData } from '../syntax/load.ts';
import { interpolate } from './interpolation.ts';
import { type FlexibleOptions, readOptions } from './options.ts';
import { inTemplate, parseRendered, placedIn } from './places.ts';
import { includeFiles } from './references.ts';
import { type Rendered, Renderer } from './renderer.ts';
import { type OnRead, SourceFiles } from './source-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variable that enables interpolation of environment variables in configuration values. */
const INTERPOLATION = 'GATEWAY_ENV_INTERPOLATION';

/**
 * Assembles a configuration from a template, the files that it includes, and the environment: renders, includes, then
 * interpolates.
 * @param onRead called for everything that is read, except the file itself.
 * @throws ConfigErrors TEMPLATE_SETTINGS; UnreadableError with positions in the template: TEMPLATE_SYNTAX,
 *   TEMPLATE_EXECUTION, TEMPLATE_LIMIT, TEMPLATE_REFERENCE, TEMPLATE_VARIABLE, and those of `parseDocument`.
 */
export function assemble(file: string, bytes: Uint8Array, environment: Environment, onRead: OnRead): Document {
  const files = new SourceFiles(onRead);
  const options = readOptions(environment, files);
  const text = decodeText(bytes, file);
  const made = options ? renderDocument(file, text, options, environment, files) : parseDocument(text, file);
  if (environment[INTERPOLATION] !== '1') return made;
  const sources = { environment, readFile: (path: string) => files.text(path).toString() };
  const data = placedIn(made, () => interpolate(made.data as Data, sources)) as DataObject;
  return printJson(data) === printJson(made.data as Data) ? made : withData(made, data, textOf(data, file));
}

function renderDocument(
  file: string,
  template: string,
  options: FlexibleOptions,
  environment: Environment,
  files: SourceFiles,
): Document {
  files.leaveOut = options.out && resolve(options.out);
  const renderer = new Renderer(options, environment, files);
  const rendered = renderer.render(file, template);
  const document = parseMade(file, rendered, options);
  const { refKey } = options;
  const comments = [...renderer.warnings];
  const unread = new Map(renderer.unread);
  const included =
    refKey === null
      ? null
      : placedIn(document, () =>
          includeFiles(document.data as Data, refKey, file, {
            find: (path, from) => files.find(path, from),
            read(path) {
              const content = renderer.render(path, files.text(path));
              const { data, warnings } = parseRendered(content, () => readText(content.text, path));
              for (const warning of warnings) comments.push(warning);
              unread.delete(resolve(path));
              return data;
            },
          }),
        );
  if (unread.size > 0) throw new ConfigErrors([...unread.values()]);
  const data = included?.data as DataObject;
  const finished = included && included.count > 0 ? withData(document, data, textOf(data, file)) : document;
  if (options.out !== null) writeOut(options.out, finished.text);
  const rendering = {
    files: [...files.read],
    out: options.out,
    variables: options.debug ? (renderer.tree as DataObject) : null,
  };
  return { ...finished, rendering, warnings: [...finished.warnings, ...comments] };
}

/** Rendered output that cannot be parsed is written to the output file nevertheless, so that it can be inspected. */
function parseMade(file: string, rendered: Rendered, { out }: FlexibleOptions): Document {
  try {
    return inTemplate(
      parseRendered(rendered, () => parseDocument(rendered.text, file)),
      rendered,
    );
  } catch (error) {
    if (out !== null) writeOut(out, rendered.text);
    throw error;
  }
}

/** Serializes data in a format that can be parsed according to the name of the file: JSON is also valid YAML. */
function textOf(data: DataObject, file: string): string {
  if (formatNameOf(file) !== 'toml') return `${JSON.stringify(data, null, 2)}\n`;
  const { stringify } = createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml');
  return stringify(data as Record<string, never>);
}

/** Writes the file atomically, readable by its owner only. @throws ConfigError TEMPLATE_OUT. */
function writeOut(path: string, text: string): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    discardDraft(draft);
    throw new ConfigErrors([
      new ConfigError('TEMPLATE_OUT', '', `cannot write ${path}: ${fileErrorReason(error)}`, { cause: error }),
    ]);
  }
}

/** Errors are ignored: the draft usually does not exist, and the error that ended the work is reported. */
function discardDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}
