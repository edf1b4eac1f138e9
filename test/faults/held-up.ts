const TICK_MS = 20;

/** Measures how long this process gets no processor, for example because the machine is busy or all processes are suspended. */
export function watchPauses(): { stop(): number } {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - TICK_MS);
    last = now;
  }, TICK_MS);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(longest, performance.now() - last - TICK_MS);
    },
  };
}
