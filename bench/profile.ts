/** Measures where the time of a job and of an enqueue goes. */
import type { Lab } from './lab.ts';
import { profileEnqueue } from './profile-enqueue.ts';
import { profileJob } from './profile-job.ts';
import type { Row } from './report.ts';

export async function profile(lab: Lab): Promise<Row[]> {
  return [...(await profileJob(lab)), ...(await profileEnqueue(lab))];
}
