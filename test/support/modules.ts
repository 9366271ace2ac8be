import type { Plugin } from '#contract';
import type { Operations } from '#kernel';
import { ConfigErrors, type GatewayOptions } from '../../kernel/sluice.ts';
import { adapt } from '../../plugins/plugin/adapt.ts';
import { startGateway } from './gateway.ts';

/** Elements of a module for KrakenD's extension points, as authors write them. */
export interface ModuleElement {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A plugin made from the export `plugin` of a file, as if it was loaded from there. */
export function moduleOf(elements: ModuleElement | readonly ModuleElement[], file = '/plugins/test.js'): Plugin {
  const list = [elements].flat() as readonly ModuleElement[];
  const plugin = adapt({ plugin: list.map((element) => ({ apiVersion: 1, ...element })) }, file)!;
  return { ...plugin, source: { file, hash: 'one', files: [file] } };
}

/** A gateway with modules for KrakenD's extension points. */
export function startModules(
  config: object,
  elements: ModuleElement | readonly ModuleElement[],
  options: GatewayOptions = {},
): Promise<Operations> {
  const list = [elements].flat() as readonly ModuleElement[];
  return startGateway(config, { plugins: list.length > 0 ? [moduleOf(list)] : [], ...options });
}

/** Errors of a configuration, as code and pointer. */
export async function refusalsOf(
  starting: Promise<Operations>,
): Promise<{ code: string; pointer: string; message: string; hint: string | undefined }[]> {
  try {
    const gateway = await starting;
    await gateway.close();
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return error.errors.map(({ code, pointer, message, hint }) => ({ code, pointer, message, hint }));
  }
  return [];
}
