import type { ComponentChildren } from 'preact';

/** Content that may be wider than the screen: it scrolls sideways, also by keyboard. @param label names the content. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
