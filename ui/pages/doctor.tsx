import { Cli } from '../components/copy.tsx';
import { Empty, Trouble } from '../components/empty.tsx';
import { useData } from '../data.ts';
import { visible } from '../format.ts';

interface Check {
  name?: string;
  check?: string;
  ok?: boolean;
  status?: string;
  message?: string;
  detail?: string;
  fix?: string | null;
  hint?: string | null;
}

const SLOW_MS = 30_000;

/** What `queuectl doctor` finds, on servers that can tell. */
export function DoctorPage() {
  const found = useData<Check[] | { checks: Check[] }>('/doctor', { gapMs: SLOW_MS });
  if (found.problem?.status === 404)
    return (
      <Empty text="This server does not examine its store. The command line does:" cli="queuectl doctor" />
    );
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const checks = Array.isArray(found.value) ? found.value : found.value.checks;
  return (
    <section aria-label="Doctor">
      <h1 class="hidden">Doctor</h1>
      {checks.map((check) => (
        <article key={check.name ?? check.check} class="group">
          <header>
            <h2>{visible(check.name ?? check.check ?? '')}</h2>
            <span class={`tag ${check.ok === false ? 'warn' : ''}`}>
              {check.status ?? (check.ok ? 'good' : 'look at it')}
            </span>
          </header>
          <p>{visible(check.message ?? check.detail ?? '')}</p>
          {check.fix || check.hint ? <Cli text={check.fix ?? check.hint!} /> : null}
        </article>
      ))}
    </section>
  );
}
