/** Returns the labels of a worker as they are stored. */
export const labelsColumn = (labels: string[]): string | null =>
  labels.length === 0 ? null : JSON.stringify(labels);

/** Returns the labels of a worker for the event of its start. */
export const labelsDetail = (labels: string[]): { labels?: string[] } =>
  labels.length === 0 ? {} : { labels };
