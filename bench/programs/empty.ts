/** Nothing: what the runtime itself costs. */
export {};
