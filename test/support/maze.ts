/** A function with nested branches, as a maze: enters one room after another, each through one of 64 doors. @returns the number of rooms entered. */
export function walk(doors: readonly number[]): number {
  let room = 0;
  if (doors[0] === 17) {
    room = 1;
    if (doors[1] === 42) {
      room = 2;
      if (doors[2] === 5) {
        room = 3;
        if (doors[3] === 63) room = 4;
      }
    }
  }
  return room;
}
