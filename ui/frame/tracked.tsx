import { number, plural } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { ACTIONS, type ActionName, OPERATIONS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { drop, operations, stop, type Tracked as TrackedOperation } from './operations.ts';

/** Shows the progress and the results of bulk actions. */
export function Tracked() {
  if (operations.value.length === 0) return null;
  return (
    <div class="tracked" role="status" aria-label={OPERATIONS.title}>
      {operations.value.map((one) => (
        <Row key={one.id} {...one} />
      ))}
    </div>
  );
}

function Row(operation: TrackedOperation) {
  const { id, action, state, total, done, changed, unchanged, skipped, error } = operation;
  const also = operation.also_cancelled;
  const { label, past } = ACTIONS[action as ActionName];
  return (
    <div class="operation">
      <div class="operation-head">
        <strong>{label}</strong>
        <span>
          {state === 'running' ? OPERATIONS.of(number(done), number(total)) : OPERATIONS.states[state]}
        </span>
        {state === 'running' ? (
          <button type="button" class="small" onClick={() => void stop(id)}>
            {OPERATIONS.stop}
          </button>
        ) : (
          <button type="button" class="plain" onClick={() => drop(id)}>
            <Icon name="close" />
            <span class="hidden">{SHARED.dismiss}</span>
          </button>
        )}
      </div>
      <progress
        max={Math.max(1, total)}
        value={total === 0 ? 1 : done}
        aria-label={OPERATIONS.progress(label)}
      />
      {state === 'running' ? null : (
        <p>
          {OPERATIONS.changed(plural(changed, 'job'), past)}
          {also > 0 ? OPERATIONS.alsoCancelled(plural(also, OPERATIONS.dependent)) : ''}
          {unchanged > 0 ? OPERATIONS.unchanged(number(unchanged)) : ''}
          {skipped > 0 ? OPERATIONS.skipped(number(skipped)) : ''}
          {state === 'lost' ? OPERATIONS.lost : ''}
          {error === null ? null : `: ${error}`}
        </p>
      )}
    </div>
  );
}
