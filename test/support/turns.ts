/** How many turns the event loop takes while something is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  try {
    await work();
  } finally {
    isOver = true;
  }
  return turns;
}
