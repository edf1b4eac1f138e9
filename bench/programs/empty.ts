/** Does nothing. Measures the runtime itself. */
export {};
