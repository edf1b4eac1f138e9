import { useData } from '../frame/data.ts';
import { Cli } from '../parts/copy.tsx';
import { Trouble } from '../parts/empty.tsx';
import { plural, sentence, visible } from '../parts/format.ts';
import { Table } from '../parts/table-box.tsx';
import type { Doctor } from '../types.ts';
import { DOCTOR } from '../words/doctor.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { SHARED } from '../words/shared.ts';

const LOOKS = { ok: 'state-completed', warn: 'warn', fail: 'bad' };
const FIRST = { fail: 0, warn: 1, ok: 2 };

/** Shows the checks of `queuectl doctor`. They read the whole database, so they run only on request. */
export function DoctorPage() {
  const found = useData<Doctor>('/doctor', { on: () => false });
  if (found.value === null)
    return found.problem === null ? (
      <p class="faint quiet">{DOCTOR.loading}</p>
    ) : (
      <Trouble problem={found.problem} />
    );
  const checks = found.value.checks.toSorted((a, b) => FIRST[a.status] - FIRST[b.status]);
  return (
    <section aria-label={PAGE_TITLES.doctor}>
      <h1 class="hidden">{PAGE_TITLES.doctor}</h1>
      <p class="line">
        <span class="grow">
          {summary(checks)}
          {DOCTOR.version(found.value.version)}
        </span>
        <Cli text="queuectl doctor" />
        <button type="button" onClick={found.again}>
          {DOCTOR.again}
        </button>
      </p>
      <Table look="doctor" heads={[DOCTOR.check, SHARED.status, DOCTOR.result, DOCTOR.fix]}>
        {checks.map(({ check, status, says, fix }, i) => (
          <tr key={i} data-row={check}>
            <td>{spelled(check)}</td>
            <td>
              <span class={`tag ${LOOKS[status]}`}>{DOCTOR.statuses[status]}</span>
            </td>
            <td class="wide">{spelled(visible(says))}</td>
            <td class="wide">
              {fix === null ? null : fix.startsWith('queuectl ') ? (
                <Cli text={fix} />
              ) : (
                sentence(visible(fix))
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const spelled = (text: string): string => DOCTOR.spellings[text] ?? sentence(text);

/** Counts failures and warnings: `1 failure and 2 warnings in 18 checks`. */
function summary(checks: Doctor['checks']): string {
  const count = (status: string): number => checks.filter((one) => one.status === status).length;
  const [failures, warnings] = [count('fail'), count('warn')];
  const problems = [
    ...(failures === 0 ? [] : [plural(failures, DOCTOR.failure)]),
    ...(warnings === 0 ? [] : [plural(warnings, DOCTOR.warning)]),
  ];
  const all = plural(checks.length, DOCTOR.check.toLowerCase());
  return problems.length === 0 ? DOCTOR.passed(all) : DOCTOR.found(problems.join(DOCTOR.and), all);
}
