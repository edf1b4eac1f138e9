import { Cli } from '../components/copy.tsx';
import { Trouble } from '../components/empty.tsx';
import { useData } from '../data.ts';
import { plural, visible } from '../format.ts';
import type { Doctor } from '../types.ts';

const WORDS = { ok: 'ok', warn: 'look at it', fail: 'broken' };
const LOOKS = { ok: 'state-completed', warn: 'warn', fail: 'bad' };
const FIRST = { fail: 0, warn: 1, ok: 2 };

/** What `queuectl doctor` finds. The whole database is read for it, so it is looked at when somebody asks. */
export function DoctorPage() {
  const found = useData<Doctor>('/doctor', { on: () => false });
  if (found.value === null)
    return found.problem === null ? (
      <p class="faint quiet">Looking at everything …</p>
    ) : (
      <Trouble problem={found.problem} />
    );
  const checks = found.value.checks.toSorted((a, b) => FIRST[a.status] - FIRST[b.status]);
  const odd = checks.filter(({ status }) => status !== 'ok').length;
  return (
    <section aria-label="Doctor">
      <h1 class="hidden">Doctor</h1>
      <p class="line">
        <span class="grow">
          {odd === 0 ? 'Everything is well' : `${plural(odd, 'thing')} to look at`}: {checks.length} looked
          at, version {found.value.version}
        </span>
        <Cli text="queuectl doctor" />
        <button type="button" onClick={found.again}>
          Look again
        </button>
      </p>
      <div class="table">
        <table class="stack doctor">
          <thead>
            <tr>
              <th>Check</th>
              <th>Status</th>
              <th>Found</th>
              <th>What helps</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(({ check, status, says, fix }, i) => (
              <tr key={i} data-row={check}>
                <td>{check}</td>
                <td>
                  <span class={`tag ${LOOKS[status]}`}>{WORDS[status]}</span>
                </td>
                <td class="wide">{visible(says)}</td>
                <td class="wide">
                  {fix === null ? null : fix.startsWith('queuectl ') ? <Cli text={fix} /> : visible(fix)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
