import type { SuspensionChange } from '../containment/containment.ts';
import type { Engine } from './engine.ts';

const ID = 'plugin suspensions';

/** Shares suspensions of plugins among all processes from now on. Resolves when this process has received the suspensions of the process that owns them. */
export function joinSuspensions({ containment, mirrors }: Pick<Engine, 'containment' | 'mirrors'>): Promise<void> {
  mirrors.open(ID, {
    open: () => containment,
    apply: (value, change) => value.apply(change as unknown as SuspensionChange),
    snapshot: (value) => value.suspensions as never,
  });
  containment.share = (change) => mirrors.change(ID, change as never);
  return mirrors.complete(ID);
}
