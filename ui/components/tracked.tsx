import { number } from '../format.ts';
import { drop, operations, type Tracked as Shown, stop } from '../operations.ts';
import { Icon } from './icon.tsx';

/** What was started on many jobs: how far it is, a way to stop it, and what came of it. */
export function Tracked() {
  if (operations.value.length === 0) return null;
  return (
    <div class="tracked" role="status" aria-label="Operations">
      {operations.value.map((one) => (
        <Row key={one.id} {...one} />
      ))}
    </div>
  );
}

function Row({ id, action, state, total, done, changed, unchanged, skipped, error }: Shown) {
  return (
    <div class="operation">
      <div class="operation-head">
        <strong>{action}</strong>
        <span>{state === 'running' ? `${number(done)} of ${number(total)}` : state}</span>
        {state === 'running' ? (
          <button type="button" class="small" onClick={() => void stop(id)}>
            Stop
          </button>
        ) : (
          <button type="button" class="plain" onClick={() => drop(id)}>
            <Icon name="close" />
            <span class="hidden">Dismiss</span>
          </button>
        )}
      </div>
      <progress max={Math.max(1, total)} value={total === 0 ? 1 : done} aria-label={`${action}: progress`} />
      {state === 'running' ? null : (
        <p>
          {number(changed)} changed, {number(unchanged)} left as they were
          {skipped > 0
            ? ` (${number(skipped)} skipped: retry at-most-once jobs one by one to start them again)`
            : ''}
          {state === 'lost' ? ' when last seen: the server was started anew, and did not go on with it' : ''}
          {error === null ? null : `: ${error}`}
        </p>
      )}
    </div>
  );
}
