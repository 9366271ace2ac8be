import { registerHooks } from 'node:module';

/** The modules that authors of plugins import, as files of this gateway: of the source, or of the package. */
export const ownModules: Readonly<Record<string, string>> = {
  sluice: new URL(`../../sluice${import.meta.url.slice(-3)}`, import.meta.url).href,
  'sluice/plugin': import.meta.resolve('#contract'),
  'sluice/testing': new URL(`../../testing/index${import.meta.url.slice(-3)}`, import.meta.url).href,
};

/** From now on, whatever imports them in this process gets those of this gateway: a loose folder needs no installation. */
export function resolveOwnModules(): void {
  registerHooks({
    resolve: (name, context, next) => {
      const url = Object.hasOwn(ownModules, name) ? ownModules[name]! : null;
      return url === null ? next(name, context) : next(url, context);
    },
  });
}
