/** Lets the drawing loop sleep until there is something to draw. */
export interface Bell {
  /** Marks that data has changed, so that it is read again soon. */
  changed(): void;
  rung: boolean;
  /** Ends the sleep at once, because a user is waiting. */
  urgent(): void;
  /** Sleeps until the time that `due` returns, which a change can bring forward, or until `urgent` is called. */
  until(due: () => number): Promise<void>;
}

export function newBell(): Bell {
  let hurry = false;
  let wake = (): void => {};
  const bell: Bell = {
    rung: false,
    changed() {
      // One wake-up is enough for many changes.
      if (bell.rung) return;
      bell.rung = true;
      wake();
    },
    urgent() {
      hurry = true;
      wake();
    },
    async until(due) {
      for (let left = due() - performance.now(); !hurry && left > 0; left = due() - performance.now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      hurry = false;
    },
  };
  return bell;
}
