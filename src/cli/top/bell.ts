/** Lets a drawing loop sleep until there is something to draw. */
export interface Bell {
  /** Marks that data has changed, so that it is read again soon. */
  changed(): void;
  /** True if data has changed since the caller last set this to false. */
  stale: boolean;
  /** Ends the sleep at once, because a user is waiting. */
  urgent(): void;
  /** Sleeps until the time that `due` returns, or until `urgent` is called. `due` is called again after each change. */
  until(due: () => number): Promise<void>;
}

export function newBell(): Bell {
  let isUrgent = false;
  let wake = (): void => {};
  const bell: Bell = {
    stale: false,
    changed() {
      if (bell.stale) return;
      bell.stale = true;
      wake();
    },
    urgent() {
      isUrgent = true;
      wake();
    },
    async until(due) {
      for (let left = due() - performance.now(); !isUrgent && left > 0; left = due() - performance.now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isUrgent = false;
    },
  };
  return bell;
}
