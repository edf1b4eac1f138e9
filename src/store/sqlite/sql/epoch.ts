export const epoch = "SELECT value FROM meta WHERE key = 'epoch'";
export const origin = "SELECT value FROM meta WHERE key = 'origin'";
