/** Hints for flags that a command does not have, by the name of the command. */
export const FLAG_HINTS: Record<string, Record<string, string>> = {
  list: {
    waiting:
      'to list the waiting jobs: queuectl list --state pending; to list them by reason: --waiting-for REASON',
    sort: "lists are sorted by age; to sort by a column: queuectl list --format '{priority}\\t{id}' | sort -n",
    since:
      'to list old jobs: queuectl list --older-than 1h; to list what happened: queuectl events --since 1h',
  },
};
