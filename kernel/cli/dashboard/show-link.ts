import { spawn } from 'node:child_process';
import type { CommandContext } from '../command.ts';

/** Programs that open an address in the browser of the user, by platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Time in milliseconds after which a program that still runs is assumed to be the browser itself. */
const BROWSER_MS = 2000;

/** Opens an address in the browser of the user. @returns false if no browser could be started. */
async function openBrowser(url: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  const timer = setTimeout(() => resolve(true), BROWSER_MS);
  child.once('error', () => resolve(false));
  child.once('exit', (code) => resolve(code === 0));
  const isOpened = await promise;
  clearTimeout(timer);
  child.unref();
  return isOpened;
}

/** Opens a link, or prints it if that is requested or no browser can be started. */
export async function showLink({ stdout }: CommandContext, link: string, isPrinted: boolean): Promise<void> {
  if (!isPrinted && (await openBrowser(link))) {
    stdout.write(`opened the dashboard at ${new URL(link).origin}\n`);
    return;
  }
  stdout.write(`${link}\n`);
}
