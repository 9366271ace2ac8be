import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ConfigError, type Data, parsePointer, type ServiceConfig } from '#contract';
import { parentPointer, type SecretValues, valueAt } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import type { NamedUpstream } from '../../pipeline/attach/upstreams.ts';
import { type Compiled, compile } from '../../pipeline/compile/compile.ts';
import { type Earlier, RebuildNeeded } from '../../pipeline/compile/service-frame.ts';
import type { Registry } from '../../registry/registry.ts';
import { Mirrors } from '../kept/mirrors.ts';
import { RefCountedCache } from '../kept/ref-counted-cache.ts';
import { hashOf, takeFingerprint } from '../prints/fingerprint.ts';
import { NamedFiles, ReadFiles } from '../prints/read-files.ts';
import { Runtime } from '../runtime.ts';
import { readServerTls, type ServerTls } from '../tls.ts';
import type { FileRead } from '../watch/index.ts';
import { Adoption } from './adoption.ts';
import { type BuildContext, ConfigBuild } from './config-build.ts';
import type { Phases } from './phases.ts';
import { type Overrides, type ReadConfig, readConfig } from './read-config.ts';
import { ScopedBuild } from './scoped-build.ts';
import { warmUp } from './warm-up.ts';

/** Error codes for plugins that a document names but that cannot be found. */
const CODES: ReadonlySet<string> = new Set(['PLUGIN_FOLDER', 'PLUGIN_PACKAGE']);

export interface Built {
  readonly runtime: Runtime;
  readonly warnings: readonly ConfigError[];
}

/**
 * Builds a runtime while another one serves. Changes nothing outside of its own scope, and a failure releases
 * everything.
 *
 * @param files the files of the attempt; every file is recorded there, even if the build fails.
 * @param before the serving runtime, whose unchanged parts are reused. Null to build everything.
 * @throws ConfigErrors with every error found.
 */
export async function build(
  read: ReadConfig,
  files: ReadFiles,
  context: BuildContext,
  id: number,
  phases: Phases,
  before: Runtime | null = null,
): Promise<Built> {
  // If the document already has errors, the build only searches for more of them.
  if (read.errors.length === 0) phases.enter('build');
  const adoption = before && read.errors.length === 0 ? Adoption.of(before, read, files) : null;
  // Comparing thousands of endpoints gets a turn of the event loop of its own.
  if (adoption) await nextTurn();
  const known = { ...context, registry: read.registry };
  const built = adoption && (await buildOn(adoption, new ConfigBuild(read, files, known, id, before!.scope), phases));
  // If there are errors, everything is built, so that all of them are reported at their locations.
  const whole = built ?? (await buildWhole(new ConfigBuild(read, files, known, id), phases));
  whole.runtime.understood = read.understood;
  whole.runtime.shown = read.shown ?? read.config;
  return whole;
}

/** @returns null if everything must be built, because of the kind of change or because of errors. */
async function buildOn(adoption: Adoption, build: ConfigBuild, phases: Phases): Promise<Built | null> {
  try {
    const sound = await compileSound(build, adoption.into(build));
    if (build.errors.length === 0) return await finish(build, sound, phases);
  } catch (error) {
    await build.dispose();
    if (error instanceof RebuildNeeded) return null;
    throw error;
  }
  await build.dispose();
  return null;
}

async function buildWhole(build: ConfigBuild, phases: Phases): Promise<Built> {
  try {
    const sound = await compileSound(build);
    if (build.errors.length > 0) throw new ConfigErrors(build.errors);
    return await finish(build, sound, phases);
  } catch (error) {
    await build.dispose();
    throw error;
  }
}

async function finish(build: ConfigBuild, sound: Sound, phases: Phases): Promise<Built> {
  phases.enter('warmup');
  await warmUp(build.warmups, phases.signal);
  const { normalized, context, files, revision: id } = build;
  const { config } = normalized;
  const { registry } = context;
  const runtime = new Runtime({ id, config, registry, ...sound, files: files.reads, ...build.acquired });
  return { runtime, warnings: build.warnings };
}

interface Sound {
  readonly compiled: Compiled;
  readonly tls: ServerTls | null;
}

/** Compiles all valid parts, even of a configuration with errors, to find all errors. */
async function compileSound(whole: ConfigBuild, earlier: Earlier | null = null): Promise<Sound> {
  const build = new ScopedBuild(whole, whole.scope);
  const { errors } = whole.normalized;
  const isTlsSound = !errors.some(({ pointer }) => /^\/tls(?:\/|$)/.test(pointer));
  const { read, noticed: warnings } = build;
  const tls = isTlsSound ? readServerTls(build.config.tls, { read, errors: build.errors, warnings }) : null;
  return { compiled: await compile(build, whole.context.registry, earlier), tls };
}

/** Result of an examination. */
export interface Examined {
  readonly config: ServiceConfig;
  readonly compiled: Compiled;
  /** The plugins that the configuration may name. */
  readonly registry: Registry;
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly ConfigError[];
  /** The step that found the errors; without errors, the last step. */
  readonly phase: 'validate' | 'build';
  /** Maps a pointer in `config` to the pointer in the document. */
  readonly origin: (pointer: string) => string;
  /** Every file that was read during the build. */
  readonly files: readonly FileRead[];
  /** Files that the configuration names and that were not read, as written. */
  readonly unread: readonly string[];
  /** Servers that the configuration names, with their locations in the document. */
  readonly upstreams: readonly NamedUpstream[];
}

/**
 * Depth of an examination: only the document, with the plugins from files that are already active; or also the plugins
 * that the document names; or also all other files.
 */
export type Reach = 'closed' | 'plugins' | 'files';

/**
 * Finds all errors of a configuration and keeps nothing. Every component is built; the network is not used.
 * @param reading reads the files that the configuration names as well, such as certificates and keys; otherwise they are
 *   listed as unread. Plugins are always read if they exist.
 * @param secrets values of references to secrets. Errors of values without them are not reported.
 */
export async function examine(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  reading: boolean,
  secrets?: SecretValues,
): Promise<Examined> {
  const readable = new ReadFiles();
  const read = await readConfig(data, overrides, registry, readable, null, secrets);
  const { config, origin } = read;
  const named = new NamedFiles();
  const files = reading ? readable : named;
  const upstreams: NamedUpstream[] = [];
  const configBuild = new ConfigBuild(read, files, standalone(read.registry), 0);
  configBuild.upstreams = upstreams;
  const { registry: known } = read;
  const absent = reading ? new Set<string>() : absentPlugins(read.errors);
  const phase = read.errors.length > absent.size ? 'validate' : 'build';
  try {
    const { compiled } = await compileSound(configBuild);
    const { warnings } = configBuild;
    const errors = configBuild.errors.filter((error) => !isAbsent(error, absent));
    return {
      config: read.shown ?? config,
      compiled,
      registry: known,
      errors,
      warnings,
      phase,
      origin,
      files: files.reads,
      unread: [...named.names, ...[...absent].map((pointer) => String(valueAt(data as Data, parsePointer(pointer))))],
      upstreams: upstreams.map((each) => ({ ...each, pointer: writtenAt(data, origin(each.pointer)) })),
    };
  } finally {
    await configBuild.dispose();
  }
}

/**
 * Location in the document. A host that a backend inherits is located at the root, as is everything derived from an
 * object there.
 */
function writtenAt(document: unknown, pointer: string): string {
  const isThere = (at: string) => valueAt(document as Data, parsePointer(at)) !== undefined;
  const [inherited] = /\/host\/\d+$/.exec(pointer) ?? [];
  if (inherited && !isThere(pointer) && isThere(inherited)) return inherited;
  let at = pointer;
  while (at !== '' && !isThere(at)) at = parentPointer(at);
  return at;
}

/** The hash that a configuration would have if it served. */
export async function hashOfExamined({ config, files }: Examined): Promise<string> {
  return hashOf(await takeFingerprint(config), files);
}

/** Build context for a configuration that is only inspected. */
export function standalone(registry: Registry): BuildContext {
  return { registry, cache: new RefCountedCache(), mirrors: new Mirrors(), role: 'alone', containment: null };
}

/** Locations where a document names plugins that cannot be found. Plugins named on the command line must exist. */
function absentPlugins(errors: readonly ConfigError[]): ReadonlySet<string> {
  return new Set(errors.filter(({ code, pointer }) => CODES.has(code) && pointer !== '').map(({ pointer }) => pointer));
}

/** True for the error that reports one of the absent plugins. */
function isAbsent({ code, pointer }: ConfigError, absent: ReadonlySet<string>): boolean {
  return CODES.has(code) && absent.has(pointer);
}
