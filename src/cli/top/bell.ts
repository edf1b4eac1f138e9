/** What a loop sleeps on. */
export interface Bell {
  /** Something has changed by itself: to be looked at soon. */
  changed(): void;
  rung: boolean;
  /** Somebody is waiting: no sleep now. */
  urgent(): void;
  /** Sleeps until that time, which may come nearer meanwhile, or until something is urgent. */
  until(due: () => number): Promise<void>;
}

export function newBell(): Bell {
  let hurry = false;
  let rouse = (): void => {};
  const bell: Bell = {
    rung: false,
    changed() {
      // The first of many is enough.
      if (bell.rung) return;
      bell.rung = true;
      rouse();
    },
    urgent() {
      hurry = true;
      rouse();
    },
    async until(due) {
      for (let left = due() - performance.now(); !hurry && left > 0; left = due() - performance.now()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          rouse = () => {
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
