/** Replaces the process of a shadow run, for tests: builds nothing, and never finishes a sample. */
const findings = { compared: 0, different: 0, unstable: 0, refused: 0, refusals: [], changes: [], hidden: 0, cpuMs: 0 };

process.on('message', (messages: readonly { readonly name: string; readonly ask: number }[]) => {
  for (const { name, ask } of messages) {
    if (name === 'sample') continue;
    process.send?.([{ reply: ask, value: name === 'findings' ? findings : null }]);
  }
});
process.on('disconnect', () => process.exit());
